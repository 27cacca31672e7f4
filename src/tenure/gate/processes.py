"""Processes as they are recorded and found again: a pid means nothing without the rest."""

import os
import signal

from tenure.gate.jobs.process import command_of, find, living
from tenure.gate.record import ProcessMark
from tenure.kernel.liveness import LocalProbe


def mark(pid: int, boot: str) -> ProcessMark:
    """The mark of a process that is there now.

    Raises:
        ProcessLookupError: there is no such process.
    """
    found = find(pid)
    if found is None:
        raise ProcessLookupError(f"no process {pid}")
    namespace = LocalProbe(boot).pid_namespace() or 0
    return ProcessMark(pid=pid, start_ticks=found.start_ticks, boot=boot, pid_namespace=namespace)


def holding(descriptor: int) -> list[str]:
    """Other processes, by pid and command, that have open what `descriptor` is open on.

    Ourselves and our supervisor are left out; processes of other users are not seen.
    """
    mine = os.fstat(descriptor)
    ourselves = (os.getpid(), os.getppid())
    return [
        f"{process.pid} {command_of(process)}"
        for process in living()
        if process.pid not in ourselves and _has_open(process.pid, mine)
    ]


def _has_open(pid: int, wanted: os.stat_result) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        for name in os.listdir(folder):
            seen = os.stat(f"{folder}/{name}")
            if (seen.st_dev, seen.st_ino) == (wanted.st_dev, wanted.st_ino):
                return True
    except OSError:
        pass  # it is gone, or somebody else's
    return False


def reachable(known: ProcessMark, boot: str) -> bool:
    """Whether the mark's pid means here what it meant where it was taken."""
    return known.boot == boot and known.pid_namespace == LocalProbe(boot).pid_namespace()


def open_marked(known: ProcessMark, boot: str) -> int | None:
    """A pidfd of the very process that was marked; None if it is gone or out of reach.

    One that ended and that nobody has buried yet is gone.
    """
    if not reachable(known, boot):
        return None
    try:
        pidfd = os.pidfd_open(known.pid)
    except OSError:
        return None
    found = find(known.pid)
    if found is None or not found.alive or found.start_ticks != known.start_ticks:
        os.close(pidfd)
        return None
    return pidfd


def send(known: ProcessMark, boot: str, number: signal.Signals) -> bool:
    """Signal the very process that was marked; whether it was there."""
    pidfd = open_marked(known, boot)
    if pidfd is None:
        return False
    try:
        signal.pidfd_send_signal(pidfd, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(pidfd)
    return True
