"""The process table as the stories need it: whose child, in which state, in whose session."""

import os
import signal
from pathlib import Path
from typing import NamedTuple

from tests.waiting import until


class Process(NamedTuple):
    """One process, told by its pid and its start from any later one of that pid."""

    pid: int
    start: int

    @property
    def state(self) -> str:
        """The letter of proc_pid_stat(5), empty once it is gone. A zombie is gone."""
        seen = _stat(self.pid)
        return "" if seen is None or seen.start != self.start or seen.state in "ZX" else seen.state

    @property
    def alive(self) -> bool:
        return self.state != ""

    @property
    def leads(self) -> bool:
        """Whether it leads a session of its own."""
        seen = _stat(self.pid)
        return seen is not None and seen.session == self.pid

    @property
    def watches(self) -> bool:
        """Whether it has inotify open."""
        folder = Path(f"/proc/{self.pid}/fd")
        return "anon_inode:inotify" in [_target(link) for link in folder.iterdir()]

    def has_pending(self, number: signal.Signals) -> bool:
        """Whether a signal waits for the process to be ready for it."""
        status = Path(f"/proc/{self.pid}/status").read_text("utf-8")
        pending = [line.split()[1] for line in status.splitlines() if line.startswith("ShdPnd")]
        return bool(int(pending[0], 16) >> (number - 1) & 1)

    def send(self, number: signal.Signals) -> None:
        """Signal it, if it is there."""
        if self.alive:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass

    def kill(self) -> None:
        """End it at once and wait until it is gone."""
        self.send(signal.SIGKILL)
        until(lambda: not self.alive, f"process {self.pid} dies")

    def stop(self) -> None:
        """Stop it and wait until it is stopped, or gone."""
        self.send(signal.SIGSTOP)
        until(lambda: self.state in ("T", ""), f"process {self.pid} stops")

    def go_on(self) -> None:
        """Continue it."""
        self.send(signal.SIGCONT)


class _Stat(NamedTuple):
    state: str
    parent: int
    session: int
    start: int


def process(pid: int) -> Process | None:
    """The process that has this pid now, None if there is none or only a zombie."""
    seen = _stat(pid)
    return None if seen is None or seen.state in "ZX" else Process(pid, seen.start)


def leaders_below(parent: int) -> list[Process]:
    """Live children of `parent` that lead a session of their own."""
    return [Process(pid, s.start) for pid, s in _children(parent) if s.session == pid]


def companions_below(parent: int) -> list[Process]:
    """Live children of `parent` in its own session."""
    return [Process(pid, s.start) for pid, s in _children(parent) if s.session == parent]


def marked(text: str) -> list[Process]:
    """Every live process that was started with `text` somewhere in its environment."""
    found = []
    for pid in _pids():
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if text.encode() in environment and (one := process(pid)) is not None:
            found.append(one)
    return found


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _children(parent: int) -> list[tuple[int, _Stat]]:
    table = ((pid, _stat(pid)) for pid in _pids())
    return [
        (pid, seen)
        for pid, seen in table
        if seen is not None and seen.parent == parent and seen.state not in "ZX"
    ]


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _stat(pid: int) -> _Stat | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return None
    return _Stat(fields[0], int(fields[1]), int(fields[3]), int(fields[19])) if fields else None
