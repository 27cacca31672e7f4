"""What a process is told by signals, made readable for a loop that waits on descriptors."""

import os
import select
import signal
from collections.abc import Iterable

from tenure.gate.record import Cancel
from tenure.gate.report import Report
from tenure.gate.store import GateStore
from tenure.kernel.errors import Doubt


class Signals:
    """Catches signals into a pipe. `descriptor` is readable when one came, or was kept back."""

    def __init__(self, numbers: Iterable[signal.Signals]) -> None:
        self.descriptor, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._before = {n: signal.signal(n, lambda *_: None) for n in numbers}
        self._wakeup = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, self._before)

    @classmethod
    def heard_by(cls, caller: Iterable[signal.Signals]) -> "Signals":
        """Catches those of the signals that whoever started this process did not ignore."""
        return cls([n for n in caller if signal.getsignal(n) != signal.SIG_IGN])

    def drain(self) -> list[signal.Signals]:
        """The signals since the last call."""
        try:
            data = os.read(self.descriptor, 4096)
        except BlockingIOError:
            return []
        return [signal.Signals(number) for number in data if number in self._before]

    def sleep(self, seconds: float) -> None:
        """Wait, but not past the next signal."""
        poll = select.poll()
        poll.register(self.descriptor, select.POLLIN)
        poll.poll(seconds * 1000)

    def close(self) -> None:
        """Handle signals as before."""
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self.descriptor)
        os.close(self._write)


class Cancellation:
    """Whether somebody asked for a run's end: the record says so, a signal only says to look."""

    def __init__(self, run: str, signals: Signals) -> None:
        self._run = run
        self._signals = signals
        self.wanted: Cancel | None = None

    def heard(self, store: GateStore) -> None:
        """Take note of what came. Without a recorded request a signal itself is the request."""
        numbers = self._signals.drain()
        if not numbers:
            return
        self.look(store)
        if self.wanted is None:
            reason = f"it got {numbers[0].name}"
            self.wanted = Cancel(by="a signal", reason=reason, wall_ns=0)

    def look(self, store: GateStore) -> None:
        """See whether a request is recorded."""
        try:
            known = store.run(self._run)
        except Doubt:
            return
        if known is not None and known.cancel is not None:
            self.wanted = known.cancel

    def report(self) -> Report:
        """The end of a run that was asked to end."""
        assert self.wanted is not None, "nobody asked"
        return Report(
            outcome="cancelled",
            exit_code=4,
            reason=f"cancelled by {self.wanted.by}: {self.wanted.reason}",
            other=self.wanted.by,
        )
