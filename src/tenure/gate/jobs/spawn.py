"""Starting one job: its own session, nothing on stdin, everything it writes in one file.

`posix_spawn` does it without a copy of our memory and without code of ours in the child.
It cannot change directory, so we do, and come back; this process has no other thread.
"""

import errno
import os
import signal
from collections.abc import Mapping, Sequence

from tenure.gate.errors import CannotTell, PlatformError
from tenure.gate.jobs.environment import JOB_MARKER
from tenure.gate.jobs.executable import NotRunnable, enter, explain, resolve
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import Graces, JobResult
from tenure.kernel.points import point

#: What a machine is short of, which says nothing about the job.
_SHORTAGES = frozenset({errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE})

#: A job starts with every signal at its default, even if its caller was told to ignore some.
_TO_DEFAULT = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}


def shell_command(text: str) -> tuple[str, ...]:
    """The command that has `/bin/sh` run `text`."""
    return ("/bin/sh", "-c", text)


def start(
    command: Sequence[str],
    *,
    cwd: str,
    environment: Mapping[str, str],
    output: str,
    now: float,
    timeout: float | None = None,
    pass_fds: Sequence[int] = (),
    graces: Graces | None = None,
) -> RunningJob | JobResult:
    """Start `command` and return it running, or the result that says why it cannot run.

    `environment` is the whole of it, as `job_environment` makes it, with the marker by
    which what outlives the job is found. The file `output` is made anew. `pass_fds` are
    open in the job under the same numbers; every other descriptor of ours is closed in
    it. `timeout` counts from `now`, in seconds during which the caller was awake.

    Raises:
        CannotTell: the output file cannot be made or the machine is out of processes,
            memory or descriptors, none of which says anything about the job.
    """
    assert not isinstance(command, str), "a shell is asked for with shell_command"
    assert environment.get(JOB_MARKER), "a job without a marker could leave survivors unseen"
    assert all(descriptor > 2 for descriptor in pass_fds), "0, 1 and 2 are the job's own"
    _see_children_end()
    out = _open_output(output)
    pid = 0
    try:
        pid = _spawn(tuple(command), cwd, environment, out, pass_fds)
        point("jobs.spawned")
        return RunningJob(
            pid,
            job_id=environment[JOB_MARKER].rpartition(":")[2],
            output=output,
            now=now,
            timeout=timeout,
            graces=graces or Graces(),
        )
    except NotRunnable as reason:
        return JobResult(
            outcome="not_found",
            sentence=str(reason),
            started=now,
            ended=now,
            over=now,
            output=output,
        )
    except OSError as error:
        if pid:  # it runs and we could not watch it
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        raise CannotTell(
            what=f"{' '.join(command)!r} could not be started: {error.strerror}",
            next="free processes, memory or descriptors, then ask again",
        ) from error
    finally:
        os.close(out)


def _spawn(
    command: tuple[str, ...],
    cwd: str,
    environment: Mapping[str, str],
    out: int,
    pass_fds: Sequence[int],
) -> int:
    """The pid of the new process.

    Raises:
        NotRunnable: the command cannot be run where it is asked to.
        OSError: the machine is short of something.
    """
    here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    path = ""
    try:
        enter(cwd)
        path = resolve(command[0] if command else "", environment)
        return os.posix_spawn(
            path,
            command,
            environment,
            file_actions=_file_actions(out, pass_fds),
            setsid=True,
            setsigmask=(),
            setsigdef=_TO_DEFAULT,
        )
    except OSError as error:
        if error.errno in _SHORTAGES:
            raise
        raise NotRunnable(explain(path, error)) from error
    except ValueError as error:  # a NUL byte, or a character that no encoding has
        raise NotRunnable(f"{list(command)!r} cannot be passed to a program: {error}") from error
    finally:
        os.fchdir(here)
        os.close(here)


def _file_actions(out: int, pass_fds: Sequence[int]) -> list[tuple[object, ...]]:
    actions: list[tuple[object, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, out, 1),
        (os.POSIX_SPAWN_DUP2, out, 2),
    ]
    # Onto itself, which clears close-on-exec in the child and leaves ours as it is.
    actions += [(os.POSIX_SPAWN_DUP2, descriptor, descriptor) for descriptor in pass_fds]
    actions += [
        (os.POSIX_SPAWN_CLOSE, descriptor)
        for descriptor in _inheritable()
        if descriptor > 2 and descriptor not in pass_fds
    ]
    return actions


def _inheritable() -> list[int]:
    """Our descriptors that would survive an exec: what our own caller left open in us."""
    try:
        names = os.listdir("/proc/self/fd")
    except FileNotFoundError as error:
        raise PlatformError(what="/proc is not there, or not ours", next="mount it") from error
    found = []
    for name in names:
        try:
            if os.get_inheritable(int(name)):
                found.append(int(name))
        except OSError:  # the one that listed them
            continue
    return found


def _open_output(path: str) -> int:
    """A new empty file for both streams, its descriptor above the three standard ones.

    It is appended to, so that a job which truncates it through `/dev/stderr` loses what
    was written before and nothing after.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise CannotTell(
            what=f"the output file {path} cannot be made: {error.strerror}",
            next="make its directory writable, with room on the disk",
        ) from error
    if descriptor > 2:
        return descriptor
    import fcntl

    above = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return above


def _see_children_end() -> None:
    """Take back an inherited wish to ignore the ends of children, which would lose them."""
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
