"""Following a run: reading its log as it grows, woken by the log and never by a timer.

A follower holds nothing. Whatever happens to it, stopped, killed or cut off from its
terminal, the run does not notice.
"""

import os
import select
from collections.abc import Callable
from typing import Literal

from tenure.gate.narration import AnyEvent, Ended, LogReader
from tenure.gate.output import Output
from tenure.gate.processes import open_marked, reachable
from tenure.gate.record import RunRecord
from tenure.gate.report import Report

#: Why a follower stopped looking without having seen the end.
Pause = Literal["signal", "timeout", "vanished"]

Monotonic = Callable[[], float]


class PipeWaker:
    """Wakes the command that started the run: a byte per event, end of file when all are gone."""

    def __init__(self, wake: int) -> None:
        self._wake = wake
        self.gone = False

    def register(self, poll: select.poll) -> None:
        """Add what to wait for."""
        if not self.gone:
            poll.register(self._wake, select.POLLIN)

    def drain(self) -> None:
        """Take note of what has happened, without blocking."""
        while not self.gone:
            try:
                data = os.read(self._wake, 4096)
            except BlockingIOError:
                return
            self.gone = not data

    def close(self) -> None:
        """The pipe belongs to whoever launched the run."""


class LogWaker:
    """Wakes any other follower: inotify on the run's directory, a pidfd for each of its processes.

    A run out of reach (another boot, another pid namespace) is never seen to be gone.
    """

    def __init__(self, directory: str, run: RunRecord, boot: str) -> None:
        from tenure.gate.inotify import watch

        self._reachable = reachable(run.runner, boot)
        pidfds = [open_marked(known, boot) for known in (run.supervisor, run.runner)]
        self._alive = [descriptor for descriptor in pidfds if descriptor is not None]
        self._watch = watch(directory)
        self.gone = self._reachable and not self._alive

    def register(self, poll: select.poll) -> None:
        """Add what to wait for."""
        poll.register(self._watch, select.POLLIN)
        for descriptor in self._alive:
            poll.register(descriptor, select.POLLIN)

    def drain(self) -> None:
        """Take note of what has happened, without blocking."""
        from tenure.gate.inotify import drain

        drain(self._watch)
        poll = select.poll()
        for descriptor in self._alive:
            poll.register(descriptor, select.POLLIN)
        for descriptor, _ in poll.poll(0):
            self._alive.remove(descriptor)
            os.close(descriptor)
        self.gone = self._reachable and not self._alive

    def close(self) -> None:
        """Let go of every descriptor."""
        for descriptor in (self._watch, *self._alive):
            os.close(descriptor)


Waker = PipeWaker | LogWaker


class Follower:
    """Reads one run's log. `signals` is readable when the follower itself got a signal.

    An output that shows how time goes by is given its beats; the run's end never waits for one.
    """

    def __init__(self, directory: str, waker: Waker, signals: int, output: Output | None) -> None:
        self._reader = LogReader(directory)
        self._waker = waker
        self._signals = signals
        self._output = output

    def follow(
        self, show: Callable[[AnyEvent], None], until: float | None, monotonic: Monotonic
    ) -> Report | Pause:
        """Show events until the run ends, or until there is a reason to look elsewhere.

        `timeout` means that `until` has come on the `monotonic` clock, `vanished` that every
        process of the run is gone and its log has no end.
        """
        while True:
            self._waker.drain()
            vanished = self._waker.gone
            for event in self._reader.events():
                show(event)
                if isinstance(event, Ended):
                    return event.report
            if vanished:
                return "vanished"
            poll = select.poll()
            poll.register(self._signals, select.POLLIN)
            self._waker.register(poll)
            if self._output is not None and self._output.pending:
                poll.register(self._output.descriptor, select.POLLOUT)
            now = monotonic()
            if until is not None and until <= now:
                return "timeout"
            due = None if self._output is None else self._output.due
            wake = min((time for time in (until, due) if time is not None), default=None)
            ready = poll.poll(None if wake is None else max(0.0, wake - now) * 1000)
            if any(descriptor == self._signals for descriptor, _ in ready):
                return "signal"
            if self._output is not None:
                self._output.pump()
                self._output.beat(monotonic())

    def close(self) -> None:
        """Stop following."""
        self._reader.close()
        self._waker.close()
