"""One process as `/proc` shows it, and a signal that cannot reach another one.

A pid is only a number that is given out again. What identifies a process is the pid
together with its start time, and a descriptor of the process (pidfd) opened while both
were seen to agree.
"""

import os
import signal
from collections.abc import Iterator

import msgspec

from tenure.gate.errors import PlatformError

COMMAND_LENGTH = 200

_STAT_BYTES = 4096
_NEWCOMER_ROUNDS_MAX = 100  #: more than a table that ever comes to rest needs
_ENVIRON_BYTES = 64 * 1024


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of proc_pid_stat(5) that say who a process is."""

    pid: int
    name: str
    state: str
    group: int
    session: int
    threads: int
    start_ticks: int

    @property
    def identity(self) -> tuple[int, int]:
        """What no other process shares within one boot."""
        return (self.pid, self.start_ticks)

    @property
    def alive(self) -> bool:
        """Whether anything of it can still run: a zombie with no other thread is gone."""
        return self.state not in "ZXx" or (self.state == "Z" and self.threads > 1)


def find(pid: int) -> Process | None:
    """The process `pid`, None if there is none."""
    content = _content(f"/proc/{pid}/stat", _STAT_BYTES)
    if not content:
        return None
    # The name may hold anything, parentheses and line ends included: the last ")" ends it.
    opening, closing = content.index(b"("), content.rindex(b")")
    fields = content[closing + 2 :].split(None, 20)  # the rest says nothing of who it is
    return Process(
        pid=pid,
        name=content[opening + 1 : closing].decode("utf-8", "replace"),
        state=fields[0].decode(),
        group=int(fields[2]),
        session=int(fields[3]),
        threads=int(fields[17]),
        start_ticks=int(fields[19]),
    )


def living() -> Iterator[Process]:
    """Every process that is alive when it is looked at, oldest first as a rule.

    Whoever is alive when this ends has been given: the table is listed once, and those
    that were started since are looked at until no more are. So a process that hands over
    to a child and exits while the table is read hides nobody.

    Raises:
        PlatformError: there is no process table to read, so nothing can be said.
    """
    last = _last_pid()
    for pid in _listed():
        process = find(pid)
        if process is not None and process.alive:
            yield process
    for _ in range(_NEWCOMER_ROUNDS_MAX):
        newest = _last_pid()
        if newest == last:
            return
        # Numbers that wrapped around are all looked at again, which is rare and harmless.
        pids = range(last + 1, newest + 1) if newest > last else _listed()
        last = newest
        for pid in pids:
            process = find(pid)
            if process is not None and process.alive and _is_process(pid):
                yield process


def _listed() -> list[int]:
    """The pids of the process table.

    Raises:
        PlatformError: there is none.
    """
    try:
        names = os.listdir("/proc")
    except OSError as error:
        raise PlatformError(
            what=f"/proc cannot be read ({error.strerror})", next="mount it"
        ) from error
    if "self" not in names:
        raise PlatformError(what="/proc holds no process table", next="mount it")
    return [int(name) for name in names if name.isdecimal()]


def _last_pid() -> int:
    """The number last given to a process or thread, 0 if it is not told."""
    fields = _content("/proc/loadavg", _STAT_BYTES).split()
    return int(fields[4]) if len(fields) == 5 else 0


def _is_process(pid: int) -> bool:
    """Whether `pid` is that of a process, not of one of its other threads."""
    status = _content(f"/proc/{pid}/status", _STAT_BYTES)
    return b"\nTgid:\t%d\n" % pid in status


def environment_entries(process: Process, name: bytes) -> tuple[bytes, ...] | None:
    """The values of the variable `name` with which `process` was started.

    Empty if it has none, is gone, belongs to somebody else, or wrote over its environment.
    None while it is in the middle of an exec and has no environment yet: ask again.
    """
    environ, cmdline = f"/proc/{process.pid}/environ", f"/proc/{process.pid}/cmdline"
    content = _content(environ, _ENVIRON_BYTES)
    # Session 0 is that of the kernel's own threads, which never have either.
    if not content and process.session != 0:
        if not _content(cmdline, _STAT_BYTES) and _still(process):
            return None
        content = _content(environ, _ENVIRON_BYTES)
    prefix = name + b"="
    if prefix not in content:
        return ()
    return tuple(entry[len(prefix) :] for entry in content.split(b"\0") if entry.startswith(prefix))


def command_of(process: Process) -> str:
    """Its command line for people, at most `COMMAND_LENGTH` characters."""
    content = _content(f"/proc/{process.pid}/cmdline", _STAT_BYTES).rstrip(b"\0")
    if not content:
        return f"[{process.name}]"
    text = " ".join(content.replace(b"\0", b" ").decode("utf-8", "replace").split())
    text = "".join(character if character.isprintable() else "�" for character in text)
    return text if len(text) <= COMMAND_LENGTH else text[: COMMAND_LENGTH - 1] + "…"


def open_pidfd(process: Process) -> int | None:
    """A descriptor of exactly this process, readable once it ended; None if it is gone.

    None also when no more descriptors are to be had.
    """
    try:
        descriptor = os.pidfd_open(process.pid)
    except OSError:
        return None
    if not _still(process):
        os.close(descriptor)
        return None
    return descriptor


def send(process: Process, *signals: signal.Signals) -> None:
    """Send `signals` to exactly this process; one that is gone or not ours is left alone."""
    descriptor = open_pidfd(process)
    try:
        for one in signals:
            if descriptor is not None:
                signal.pidfd_send_signal(descriptor, one)
            elif _still(process):
                # Out of descriptors: the pid is all there is, a moment after it was right.
                os.kill(process.pid, one)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _still(process: Process) -> bool:
    """Whether the pid still belongs to this very process, and it is alive."""
    now = find(process.pid)
    return now is not None and now.identity == process.identity and now.alive


def _content(path: str, size: int) -> bytes:
    """A file of `/proc` from beginning to end in reads of `size`, empty if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        content = part = os.read(descriptor, size)
        while len(part) == size:
            part = os.read(descriptor, size)
            content += part
        return content
    except OSError:  # it vanished between open and read
        return b""
    finally:
        os.close(descriptor)
