"""Whether the owner of a hold is gone, running, or unknown.

Only two things prove death on the machine where the owner lived: another boot, or a free
run lock with nothing in the process table that contradicts it. A name, a hostname or a pid
alone proves nothing, and whatever cannot be read is *unknown*.
"""

import fcntl
import os
from typing import Literal, Protocol

import msgspec

State = Literal["gone", "running", "unknown"]
Lock = Literal["held", "free", "unreadable"]


class OwnerEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What an owner leaves in its record so that others can tell whether it lives."""

    boot: str
    pid: int
    pid_namespace: int  #: inode of the namespace in which `pid` means anything
    start_ticks: int  #: field 22 of proc_pid_stat(5): tells a reused pid from the owner
    lock_path: str  #: absolute; a `file:` URI where its bytes are no text
    lock_device: int
    lock_inode: int


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A state and the sentence that explains it."""

    state: State
    reason: str


class Probe(Protocol):
    """The questions that `judge` asks of the machine."""

    def boot(self) -> str:
        """The id of the present boot."""
        ...

    def pid_namespace(self) -> int | None:
        """The inode of our own pid namespace, None if it cannot be read."""
        ...

    def start_ticks(self, pid: int) -> int | None:
        """Start ticks of a live process; None if there is none (a zombie is none).

        Raises:
            OSError: the process table cannot be read, which proves nothing.
        """
        ...

    def lock(self, path: str, device: int, inode: int) -> Lock:
        """The state of the run lock; *unreadable* unless it is the very file recorded."""
        ...


def judge(evidence: OwnerEvidence, probe: Probe) -> Verdict:
    """Whether the process that left `evidence` is gone."""
    if probe.boot() != evidence.boot:
        return Verdict(state="gone", reason="the machine has booted since")
    lock = probe.lock(evidence.lock_path, evidence.lock_device, evidence.lock_inode)
    if lock == "unreadable":
        return Verdict(state="unknown", reason=f"its run lock {evidence.lock_path} cannot be read")
    if probe.pid_namespace() != evidence.pid_namespace:
        return Verdict(state="unknown", reason="it ran in another pid namespace")
    try:
        ticks = probe.start_ticks(evidence.pid)
    except OSError as error:
        return Verdict(state="unknown", reason=f"process {evidence.pid} cannot be read ({error})")
    alive = ticks == evidence.start_ticks
    if lock == "held":
        state: State = "running" if alive else "unknown"
        return Verdict(
            state=state,
            reason=f"its run lock is held, process {evidence.pid} "
            + ("is there" if alive else "is not the one recorded"),
        )
    if alive:
        return Verdict(
            state="unknown", reason=f"its run lock is free but process {evidence.pid} is there"
        )
    return Verdict(state="gone", reason=f"process {evidence.pid} ended and its run lock is free")


class LocalProbe:
    """Answers from this machine's `/proc` and from the lock file itself."""

    def __init__(self, boot: str) -> None:
        self._boot = boot

    def boot(self) -> str:
        """The id of the present boot."""
        return self._boot

    def pid_namespace(self) -> int | None:
        """The inode of our own pid namespace, None if it cannot be read."""
        try:
            return os.stat("/proc/self/ns/pid").st_ino
        except OSError:
            return None

    def start_ticks(self, pid: int) -> int | None:
        """Start ticks of a live process, None when it is gone or a zombie."""
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                stat = file.read()
        except (FileNotFoundError, ProcessLookupError):
            return None
        fields = stat[stat.rindex(b")") + 2 :].split()
        return None if fields[0] in (b"Z", b"X") else int(fields[19])

    def lock(self, path: str, device: int, inode: int) -> Lock:
        """Try a shared lock and drop it: it conflicts with an owner, not with another probe."""
        try:
            descriptor = os.open(_unquoted(path), os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return "unreadable"
        try:
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) != (device, inode):
                return "unreadable"
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return "held"
        except OSError:
            return "unreadable"
        else:
            return "free"
        finally:
            os.close(descriptor)


def take_run_lock(path: str, boot: str) -> tuple[int, OwnerEvidence]:
    """Create and hold the run lock of this process, and say what others may check.

    The descriptor is the lock: keep it open, never pass it to a child. Call it in the
    process that will own the record, after any fork, since a forked child shares the lock.

    Raises:
        OSError: the file cannot be created or locked.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(descriptor)
        probe = LocalProbe(boot)
        ticks = probe.start_ticks(os.getpid())
        namespace = probe.pid_namespace()
        if ticks is None or namespace is None:
            raise OSError("/proc does not describe this process")
    except BaseException:
        os.close(descriptor)
        raise
    evidence = OwnerEvidence(
        boot=boot,
        pid=os.getpid(),
        pid_namespace=namespace,
        start_ticks=ticks,
        lock_path=_quoted(path),
        lock_device=status.st_dev,
        lock_inode=status.st_ino,
    )
    return descriptor, evidence


def _quoted(path: str) -> str:
    """`path` as it can be recorded."""
    try:
        path.encode()
    except UnicodeEncodeError:
        from urllib.parse import quote_from_bytes

        return "file:" + quote_from_bytes(os.fsencode(path))
    return path


def _unquoted(recorded: str) -> str:
    """The path that was recorded."""
    if not recorded.startswith("file:"):
        return recorded
    from urllib.parse import unquote_to_bytes

    return os.fsdecode(unquote_to_bytes(recorded.removeprefix("file:")))
