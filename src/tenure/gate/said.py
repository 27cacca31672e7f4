"""What a command prints: for the commands whose output is part of an identity."""

import os
import select
from collections.abc import Mapping, Sequence

from tenure.gate.errors import CannotTell
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.spawn import start
from tenure.kernel.clock import Clock

SECONDS = 60.0


def said_by(
    command: Sequence[str], environment: Mapping[str, str], cwd: str, clock: Clock
) -> bytes:
    """Everything `command` prints, run as a job is: alone, bounded, and with all it starts.

    Raises:
        CannotTell: it cannot be started, fails, or takes longer than a minute.
    """
    memory = os.memfd_create("context", os.MFD_CLOEXEC)
    try:
        job = start(
            command,
            cwd=cwd,
            environment=environment,
            output=f"/proc/self/fd/{memory}",
            now=clock.monotonic(),
            timeout=SECONDS,
        )
        while isinstance(job, RunningJob):
            _wait(job, clock)
            job = job.tick(clock.monotonic()) or job
        output = os.pread(memory, os.fstat(memory).st_size, 0)
    finally:
        os.close(memory)
    if job.outcome != "passed":
        how = job.sentence or job.outcome.replace("_", " ")
        raise CannotTell(
            what=f"the context command `{' '.join(command)}` gave no answer: it {how}"
            + (f" with {job.code}" if job.code else ""),
            next="correct it in the policy, or install what it names",
        )
    return output


def _wait(job: RunningJob, clock: Clock) -> None:
    now = clock.monotonic()
    poll = select.poll()
    poll.register(job.fileno(), select.POLLIN)
    poll.poll(max(0.0, job.deadline(now) - now) * 1000)
