"""The lock of one checkout: jobs of two runs never work in the same tree.

It is a flock on the checkout's own git directory, opened for reading, so nothing is written
anywhere. Runner, supervisor and jobs share it, and it is free when the last of them is gone.
"""

import fcntl
import os
import select
import signal
from collections.abc import Callable

from tenure.gate import recovery
from tenure.gate.jobs.process import find
from tenure.gate.processes import open_marked, reachable, send
from tenure.gate.record import RunRecord
from tenure.gate.report import retirement
from tenure.gate.store import GateStore
from tenure.kernel.clock import Clock
from tenure.kernel.errors import Doubt
from tenure.kernel.points import point

_LOOK_AGAIN_MS = 1000  #: how long to wait for a holder at most before looking at the record again

#: Told why it waits, and for which run.
Tell = Callable[[str, str | None], None]


class CheckoutLock:
    """Takes the lock for a run, whatever state its present holder is in."""

    def __init__(self, descriptor: int, store: GateStore, clock: Clock, run: RunRecord) -> None:
        self._descriptor = descriptor
        self._store = store
        self._boot = clock.now().boot
        self._run = run
        self._told: str | None = None

    def try_take(self) -> bool:
        """Take it if it is free."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait(
        self, tell: Tell, stopping: Callable[[], bool], signals: int, heard: Callable[[], None]
    ) -> RunRecord | None:
        """Wait for the lock; None once it is taken, or the run to follow instead of waiting.

        A holder that judges another candidate cannot be proven any more, so its cancel is
        requested. One whose attempt was retired while it is stopped is killed, or it would
        hold the lock for as long as it stays stopped.
        """
        while not stopping():
            point("checkout.busy")
            recovery.recover(self._store, self._run.id, self._boot)
            holder = self._holder()
            if holder is not None and self._asks_the_same(holder):
                return holder
            self._press(holder, tell)
            if self.try_take():
                return None
            if self._pause(holder, signals):
                heard()
        return None

    def _holder(self) -> RunRecord | None:
        for run in self._store.open_runs():
            if (
                run.checkout == self._run.checkout
                and run.id != self._run.id
                and _there(run, self._boot)
            ):
                return run
        return None

    def _asks_the_same(self, holder: RunRecord) -> bool:
        if holder.subject != self._run.subject or holder.attempt is None:
            return False
        attempt = self._store.attempt(holder.attempt)
        return attempt is not None and attempt.bound

    def _press(self, holder: RunRecord | None, tell: Tell) -> None:
        """Do what can be done about the holder, and say so once."""
        if holder is None:
            self._tell(tell, "this checkout is in use by a run that is not recorded yet", None)
            return
        attempt = self._store.attempt(holder.attempt) if holder.attempt else None
        if attempt is not None and attempt.retired is not None and _stopped(holder, self._boot):
            self._tell(tell, f"run {holder.id} was retired and is stopped; killing it", holder.id)
            by, evidence = attempt.retired.by, attempt.retired.evidence
            report = retirement(by, evidence, "it was stopped, and killed for its checkout")
            recovery.bury(self._store, holder.id, self._boot, report)
        elif holder.candidate != self._run.candidate:
            why = f"its checkout moved on to {self._run.commit[:12]}"
            try:
                self._store.cancel(holder.id, self._run.id, why)
            except Doubt:
                pass  # asked again at the next look
            send(holder.runner, self._boot, signal.SIGTERM)
            self._tell(
                tell,
                f"run {holder.id} judges an older state of this checkout; it is being cancelled",
                holder.id,
            )
        else:
            self._tell(tell, f"run {holder.id} works in this checkout; waiting for it", holder.id)

    def _tell(self, tell: Tell, reason: str, other: str | None) -> None:
        if reason != self._told:
            self._told = reason
            tell(reason, other)

    def _pause(self, holder: RunRecord | None, signals: int) -> bool:
        """Wait until the holder is gone or it is time to look again; whether a signal came."""
        poll = select.poll()
        poll.register(signals, select.POLLIN)
        known = [] if holder is None else [holder.supervisor, holder.runner]
        pidfds = [fd for mark in known if (fd := open_marked(mark, self._boot)) is not None]
        for pidfd in pidfds[:1]:  # the supervisor outlives the runner
            poll.register(pidfd, select.POLLIN)
        ready = poll.poll(_LOOK_AGAIN_MS if pidfds else _LOOK_AGAIN_MS // 10)
        for pidfd in pidfds:
            os.close(pidfd)
        return any(descriptor == signals for descriptor, _ in ready)


def _there(run: RunRecord, boot: str) -> bool:
    """Whether a process of the run may still hold the lock."""
    if not reachable(run.runner, boot):
        return run.runner.boot == boot
    for known in (run.supervisor, run.runner):
        pidfd = open_marked(known, boot)
        if pidfd is not None:
            os.close(pidfd)
            return True
    return False


def _stopped(run: RunRecord, boot: str) -> bool:
    """Whether the runner is there and stopped."""
    if not reachable(run.runner, boot):
        return False
    found = find(run.runner.pid)
    return found is not None and found.start_ticks == run.runner.start_ticks and found.state == "T"
