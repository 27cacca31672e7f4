"""What a command prints: for the commands whose output is part of an identity."""

import os
import select
from collections.abc import Mapping, Sequence

from tenure.gate.candidate import checkout_id
from tenure.gate.errors import CannotTell, UsageError
from tenure.gate.jobs.environment import marker_ids
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.spawn import start
from tenure.kernel.clock import Clock

#: A command that only has to name a version takes no longer, and says no more.
SECONDS = 60.0
BYTES_MAX = 16 * 1024 * 1024

_LOOK_EVERY_MS = 50


def mark_of(common_dir: str) -> str:
    """What marks the processes that are asked for the context of this repository's jobs."""
    return f"context-{checkout_id(common_dir)}"


def refuse_inside(common_dir: str, environ: Mapping[str, str]) -> None:
    """Pass unless this process is itself part of what a context command prints.

    Raises:
        UsageError: it is, and would ask itself for ever.
    """
    if mark_of(common_dir) in marker_ids(environ):
        raise UsageError(
            what="this is inside a context command of a job of this repository",
            next="let the command print versions, and ask outside of it",
        )


def said_by(
    command: Sequence[str], environment: Mapping[str, str], cwd: str, clock: Clock
) -> bytes:
    """Everything `command` prints, run as a job is: alone, bounded, and with all it starts.

    Raises:
        CannotTell: it cannot be started, fails, takes longer than a minute or says too much.
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
            if os.fstat(memory).st_size > BYTES_MAX:
                job.cancel(clock.monotonic())
            job = job.tick(clock.monotonic()) or job
        output = os.pread(memory, os.fstat(memory).st_size, 0)
    finally:
        os.close(memory)
    if job.outcome != "passed":
        how = job.sentence or job.outcome.replace("_", " ")
        if job.outcome == "cancelled":
            how = f"prints more than {BYTES_MAX // 1024**2} MB"
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
    poll.poll(min(max(0.0, job.deadline(now) - now) * 1000, _LOOK_EVERY_MS))
