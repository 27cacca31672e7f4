"""Three processes: the command that follows, a supervisor, and the runner that owns the run.

The supervisor lives in a session of its own, holds no store and does next to nothing: it
waits for the runner and then kills whatever the run left behind, so that a dead run costs
nobody anything. The runner and the supervisor share one open description of the git
directory, on which the runner takes the checkout lock; jobs inherit it, so the checkout is
free when the last of them is gone.
"""

import os
import select
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from tenure.gate.narration import Ended, RunLog
from tenure.gate.place import CRASH
from tenure.gate.processes import mark
from tenure.gate.record import ProcessMark
from tenure.gate.report import Report
from tenure.kernel.clock import Clock
from tenure.kernel.points import point

#: What the runner gets: the descriptor of the git directory, the wake pipe, its supervisor.
Body = Callable[[int, int, ProcessMark], int]

_DETACHED = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP)

#: Kept back from before a fork until the new process listens: a request to end is never lost.
_REQUESTS = (signal.SIGINT, signal.SIGTERM)


class Launch:
    """A started run, seen from the command: its supervisor's pid and the two pipes."""

    def __init__(self, pid: int, wake: int, lifeline: int) -> None:
        self.pid = pid
        self.wake = wake  #: readable when there is something to read; at its end when both are gone
        self._lifeline = lifeline

    def close(self) -> None:
        """Let go. A run tied to its caller is cancelled by this, any other goes on."""
        os.close(self.wake)
        os.close(self._lifeline)


def launch(
    run: str, directory: str, git_dir: str, clock: Clock, body: Body, *, tied: bool
) -> Launch:
    """Fork the supervisor, which forks the runner, which calls `body`.

    The caller must have closed its store: none may be open across a fork. With `tied` the
    run is cancelled when the caller is gone.

    Raises:
        OSError: the machine is out of processes or descriptors; nothing was started.
    """
    wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    life_read, life_write = os.pipe2(os.O_CLOEXEC)
    _flush()
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, _REQUESTS)
    try:
        pid = os.fork()
        if pid == 0:
            _guarded(
                lambda: _supervise(
                    run, directory, git_dir, clock, body, wake_write, life_read, tied
                )
            )
    except OSError:
        for descriptor in (wake_read, wake_write, life_read, life_write):
            os.close(descriptor)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
    os.close(wake_write)
    os.close(life_read)
    return Launch(pid, wake_read, life_write)


def _flush() -> None:
    """Write out what is buffered, which a copy of this process would write out again."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # the caller closed it, or does not read it


def _guarded(work: Callable[[], int]) -> NoReturn:
    """Run `work` as the whole rest of this process: nothing of the caller's runs after it."""
    code = 70
    try:
        code = work()
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        os._exit(code)


def _supervise(
    run: str,
    directory: str,
    git_dir: str,
    clock: Clock,
    body: Body,
    wake: int,
    lifeline: int,
    tied: bool,
) -> int:
    _leave_caller(directory, keep=(wake, lifeline))
    point("run.supervise")
    checkout = os.open(git_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    # Taken here: the parent of a runner whose supervisor died is somebody else.
    supervisor = mark(os.getpid(), clock.now().boot)
    runner = os.fork()
    if runner == 0:
        os.close(lifeline)
        _guarded(lambda: body(checkout, wake, supervisor))
    _watch(runner, lifeline if tied else None)
    _, status = os.waitpid(runner, 0)
    code = os.waitstatus_to_exitcode(status)
    if code < 0 or code == 70:
        _tell_death(directory, clock, wake, code)
    from tenure.gate.jobs.reap import kill_run

    # A runner that was killed while it started a job leaves one that is marked a moment later.
    kill_run(run, clean_looks=2 if code < 0 else 1)
    return 0


def _leave_caller(directory: str, keep: tuple[int, ...]) -> None:
    """Own session, no terminal, no descriptor of the caller's; errors go beside the log."""
    os.setsid()
    signal.set_wakeup_fd(-1)  # the caller's pipe is closed below, and its number given out again
    for number in _DETACHED:
        signal.signal(number, signal.SIG_IGN)
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor > 2 and descriptor not in keep:
            try:
                os.close(descriptor)
            except OSError:
                pass  # the listing's own descriptor
    null = os.open(os.devnull, os.O_RDWR)
    crash = _crash_file(directory, null)
    for target, source in ((0, null), (1, null), (2, crash)):
        os.dup2(source, target)
    for descriptor in {null, crash}:
        if descriptor > 2:
            os.close(descriptor)


def _crash_file(directory: str, otherwise: int) -> int:
    """Where our own faults are told; nowhere if there is no room for a file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    try:
        return os.open(os.path.join(directory, CRASH), flags, 0o600)
    except OSError:
        return otherwise


def _watch(runner: int, lifeline: int | None) -> None:
    """Wait for the runner's end; ask it to cancel if the caller it is tied to goes away."""
    pidfd = os.pidfd_open(runner)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    if lifeline is not None:
        poll.register(lifeline, select.POLLIN)
    signal.signal(signal.SIGTERM, lambda *_: signal.pidfd_send_signal(pidfd, signal.SIGTERM))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _REQUESTS)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if pidfd in ready:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.close(pidfd)
            return
        if lifeline in ready and lifeline is not None:
            poll.unregister(lifeline)
            signal.pidfd_send_signal(pidfd, signal.SIGTERM)


def _tell_death(directory: str, clock: Clock, wake: int, code: int) -> None:
    """Say in the log that the runner is gone; the record is left to whoever repairs it."""
    crash = os.path.join(directory, CRASH)
    if code < 0:
        name = signal.Signals(-code).name
        report = Report(
            outcome="unproven",
            exit_code=3,
            reason=f"the run was killed by {name}; run it again, what jobs returned is kept",
        )
    else:
        report = Report(
            outcome="broken",
            exit_code=70,
            reason=f"a fault in tenure itself; its traceback is in {crash}",
        )
    log = RunLog(directory, wake)
    log.write(Ended(report=report), clock.now().wall_ns)
