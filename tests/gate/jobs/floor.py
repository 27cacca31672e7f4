"""A place to run real jobs in, and the loop a caller would run them with."""

import os
import selectors
import time
from collections.abc import Sequence
from pathlib import Path

from tenure.gate.jobs.environment import job_environment
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import Graces, JobResult
from tenure.gate.jobs.spawn import shell_command, start
from tests.waiting import PATIENCE_SECONDS, until

#: Short where a test waits for the end of one. Never shorter than a busy machine is late.
SHORT = Graces(
    interrupt=0.3,
    terminate=0.3,
    stopped=0.6,
    linger=0.2,
    survivors=0.3,
    check_every=0.1,
    awake_step=0.3,
)

#: Long where the job is meant to use its time.
LONG = Graces(interrupt=60.0, terminate=60.0, stopped=60.0, linger=60.0, survivors=60.0)


class Floor:
    """One run's jobs in a temporary directory."""

    def __init__(self, place: Path, run_id: str) -> None:
        self.place = place
        self.run_id = run_id
        self.turns = 0

    def start(
        self,
        command: str | Sequence[str],
        *,
        job: str = "test",
        timeout: float | None = None,
        graces: Graces = SHORT,
        cwd: Path | None = None,
        pass_fds: Sequence[int] = (),
        set_env: dict[str, str] | None = None,
    ) -> RunningJob | JobResult:
        """Start a job; a string is for the shell."""
        return start(
            shell_command(command) if isinstance(command, str) else command,
            cwd=str(cwd or self.place),
            environment=self.environment(job, set_env),
            output=str(self.place / f"{job.replace('/', '-')}.log"),
            now=time.monotonic(),
            timeout=timeout,
            pass_fds=pass_fds,
            graces=graces,
        )

    def running(self, command: str | Sequence[str], **how) -> RunningJob:
        """The same, for a command that is there."""
        job = self.start(command, **how)
        assert isinstance(job, RunningJob), job
        return job

    def environment(self, job: str, set_env: dict[str, str] | None = None) -> dict[str, str]:
        return job_environment(
            os.environ, set_env=set_env, run_ids=[self.run_id], job=job, checkout_id="c0ffee"
        )

    def finish(self, job: RunningJob | JobResult) -> JobResult:
        """Run the caller's loop to the end of one job, with patience."""
        if isinstance(job, JobResult):
            return job
        give_up = time.monotonic() + PATIENCE_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(job, selectors.EVENT_READ)
            while (result := job.tick(time.monotonic())) is None:
                selector.select(job.deadline(time.monotonic()) - time.monotonic())
                self.turns += 1
                if time.monotonic() > give_up:
                    job.close()
                    raise AssertionError(f"job {job.pid} has no result")
            selector.unregister(job)
        job.close()
        return result

    def run(self, command: str | Sequence[str], **how) -> JobResult:
        """Start a job and see it through."""
        return self.finish(self.start(command, **how))

    def output(self, job: str = "test") -> bytes:
        path = self.place / f"{job}.log"
        return path.read_bytes() if path.exists() else b""

    def await_output(self, text: bytes, job: str = "test") -> None:
        until(lambda: text in self.output(job), f"{text!r} in the output of {job}")


def is_alive(pid: int) -> bool:
    """Whether a pid is a process that could still do something."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False
    return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


def assert_named(result: JobResult, *parts: str) -> None:
    """One survivor for each of `parts`, which its command line contains.

    Only contains: a process that was just forked still has its parent's command line.
    """
    commands = [one.command for one in result.survivors]
    assert len(commands) == len(parts), commands
    assert all(any(part in command for command in commands) for part in parts), commands
    assert all(one.gone and not is_alive(one.pid) for one in result.survivors)
