"""The lock of one checkout: jobs of two runs never work in the same tree.

It is a flock on the checkout's own git directory, opened for reading, so nothing is written
anywhere. Runner, supervisor and jobs share it, and it is free when the last of them is gone.
"""

import fcntl
import os
import select
import signal
from collections.abc import Callable

import msgspec

from tenure.gate import recovery
from tenure.gate.jobs.process import find
from tenure.gate.kind import DONE, FIX
from tenure.gate.processes import holding, open_marked, reachable, send
from tenure.gate.record import ProcessMark, RunRecord
from tenure.gate.report import Report, retirement
from tenure.gate.store import GateStore
from tenure.gate.wire import encoded
from tenure.kernel.clock import Clock
from tenure.kernel.errors import Doubt
from tenure.kernel.points import point

_LOOK_AGAIN_MS = 1000  #: how long to wait for a holder at most before looking at the record again

#: Told why it waits, and for which run.
Tell = Callable[[str, str | None], None]


class CheckoutLock:
    """Takes the lock for a run, whatever state its present holder is in.

    Whoever takes it writes into the file `said` who it is, since it may be in no record yet.
    `patience` is for how long, in seconds, a run that is stopped and has no attempt is left alone.
    """

    def __init__(
        self,
        descriptor: int,
        said: str,
        store: GateStore,
        clock: Clock,
        run: RunRecord,
        *,
        patience: float,
    ) -> None:
        self._descriptor = descriptor
        self._said = said
        self._store = store
        self._clock = clock
        self._boot = clock.now().boot
        self._run = run
        self._patience = patience
        self._stopped_since: tuple[str, float] | None = None
        self._pressed: str | None = None  #: the run that was found to judge an older state
        self._told: str | None = None

    def try_take(self) -> bool:
        """Take it if it is free."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        try:
            with open(self._said, "wb") as file:
                file.write(encoded(self._run))
        except OSError:
            pass  # whoever waits for us does not learn who we are, and waits
        return True

    def wait(
        self,
        tell: Tell,
        retire_others: Callable[[], None],
        look_again: Callable[[], None],
        stopping: Callable[[], bool],
        signals: int,
        heard: Callable[[], None],
    ) -> RunRecord | None:
        """Wait for the lock; None once it is taken, or the run to follow instead of waiting.

        A holder that judges another tree cannot pass any more, so its cancel is
        requested, unless it is us who are out of date, which `look_again` says by raising. A
        holder that is stopped and has no attempt to lose, because that was retired or
        never bound, is killed, or it would hold the lock for as long as it stays stopped.
        """
        while not stopping():
            point("checkout.busy")
            retire_others()
            holder = self._holder()
            if holder is not None and self._asks_the_same(holder):
                return holder
            self._press(holder, tell, look_again)
            if self.try_take():
                return None
            if self._pause(holder, signals):
                heard()
        return None

    def _holder(self) -> RunRecord | None:
        """The run that has the lock, as it said and as it is recorded; None if it is gone."""
        try:
            with open(self._said, "rb") as file:
                said = msgspec.json.decode(file.read(), type=RunRecord)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        holder = self._store.run(said.id) or said
        return holder if holder.id != self._run.id and _there(holder, self._boot) else None

    def _asks_the_same(self, holder: RunRecord) -> bool:
        if holder.subject != self._run.subject or holder.attempt is None:
            return False
        attempt = self._store.attempt(holder.attempt)
        return attempt is not None and attempt.bound

    def _press(self, holder: RunRecord | None, tell: Tell, look_again: Callable[[], None]) -> None:
        """Do what can be done about the holder, and say so once."""
        if holder is None:
            others = "; ".join(holding(self._descriptor)[:3])
            who = f"processes that no run knows of ({others})" if others else "a run that begins"
            self._tell(tell, f"this checkout is in use by {who}", None)
            return
        end = self._end_of_stopped(holder)
        if end is not None:
            self._tell(tell, f"run {holder.id} is stopped and holds nothing; killing it", holder.id)
            recovery.bury(self._store, holder, self._boot, end)
        elif holder.report is not None:
            self._tell(tell, f"run {holder.id} is about to leave this checkout", holder.id)
        elif _outdated(holder, self._run):
            if holder.id != self._pressed:
                look_again()
                self._pressed = holder.id
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

    def _end_of_stopped(self, holder: RunRecord) -> Report | None:
        """How a holder ends that is stopped and has nothing to lose but the lock."""
        if holder.report is not None:
            left = (holder.runner, holder.supervisor)
            return holder.report if any(_stopped(one, self._boot) for one in left) else None
        if not _stopped(holder.runner, self._boot):
            self._stopped_since = None
            return None
        attempt = self._store.attempt(holder.attempt) if holder.attempt else None
        if attempt is not None and attempt.retired is not None:
            why = "it was stopped, and killed for its checkout"
            return retirement(attempt.retired.by, attempt.retired.evidence, why)
        now = self._clock.monotonic()
        if self._stopped_since is None or self._stopped_since[0] != holder.id:
            self._stopped_since = (holder.id, now)
        has_a_hold = attempt is not None and attempt.bound
        if has_a_hold or now - self._stopped_since[1] < self._patience:
            return None
        return recovery.died("it was stopped before it held anything, and killed for its checkout")

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


def _outdated(holder: RunRecord, run: RunRecord) -> bool:
    """Whether a holder judges what the checkout, where `run` starts, is no more.

    Two that ask different things of the same tree do not stand in each other's way. A Proof of
    `done` is besides for one policy and environment, and of these only the present ones count.
    """
    if holder.kind == run.kind == DONE.name:
        return holder.candidate != run.candidate
    return holder.tree != run.tree and holder.kind != FIX.name  # which changes it as it goes


def _stopped(known: ProcessMark, boot: str) -> bool:
    """Whether the very process that was marked is there and stopped."""
    if not reachable(known, boot):
        return False
    found = find(known.pid)
    return found is not None and found.start_ticks == known.start_ticks and found.state == "T"
