"""What one run knows and holds while it is conducted."""

import math
import os
from collections.abc import Callable, Mapping

from tenure.gate.captured import Captured
from tenure.gate.fingerprint import Fingerprint, stat_of
from tenure.gate.jobs.environment import marker_ids
from tenure.gate.jobs.slots import Holder
from tenure.gate.measurement import Measurement
from tenure.gate.narration import Event, Noted, RunLog
from tenure.gate.permits import Permits
from tenure.gate.place import Place
from tenure.gate.plan import Plan
from tenure.gate.proof import Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import RunRecord
from tenure.gate.report import Failure, Report, RunOutcome, failed
from tenure.gate.requirement import RequirementSet
from tenure.gate.signals import Cancellation, Signals
from tenure.gate.situation import Question, Situation
from tenure.gate.store import GateStore
from tenure.gate.workshop import Keeping, Workshop
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.clock import Clock
from tenure.kernel.coordinator import Coordinator
from tenure.kernel.errors import Doubt, HoldLost
from tenure.kernel.points import point


class Order:
    """What a command hands to the run it starts, across the fork."""

    def __init__(
        self,
        *,
        run: str,
        question: Question,
        situation: Situation,
        place: Place,
        clock: Clock,
        environ: Mapping[str, str],
        open_store: Callable[[], GateStore],
        read_again: Callable[[GateStore], Situation],
    ) -> None:
        self.run = run
        self.question = question
        self.situation = situation
        self.place = place
        self.clock = clock
        self.environ = environ
        self.open_store = open_store  #: a store of one's own: none is open across a fork
        self.read_again = read_again  #: the same question, asked of the present


def jitter() -> float:
    """A number in [0, 1), to keep many who wait for the same thing out of step."""
    return os.urandom(1)[0] / 256


def head_mark(git_dir: str) -> tuple[int, ...] | None:
    """What HEAD looks like from outside: checking another commit out replaces the file."""
    return stat_of(os.path.join(git_dir, "HEAD"))


class Over(Exception):
    """The run is over, and `report` is how."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(report.reason)


class Run:
    """One run. `hold` marks the moment from which it has an attempt to lose."""

    def __init__(
        self,
        order: Order,
        store: GateStore,
        record: RunRecord,
        log: RunLog,
        signals: Signals,
        checkout: int,
    ) -> None:
        self.order = order
        self.store = store
        self.record = record
        self.signals = signals
        self.checkout = checkout  #: the descriptor that carries the checkout's lock
        self.situation = order.situation
        self.cancellation = Cancellation(record.id, signals)
        self.captured = Captured(order.place.outputs, self.situation.top)
        self.permits = Permits(
            Holder(run=record.id, job="", worktree=record.worktree),
            order.place,
            order.environ,
            self.say,
            monotonic=order.clock.monotonic,
            jitter=jitter,
            inside=marker_ids(order.environ),
        )
        self.plan = Plan(reused={}, execute={}, estimate={})
        self.fingerprint: Fingerprint | None = None
        self.head_mark = head_mark(self.situation.snapshot.repo.git_dir)
        self.receipts: dict[str, Receipt] = {}  #: by requirement, reused ones and new ones
        self.in_doubt: list[Receipt] = []  #: stored or not; settled with the attempt
        self.proof: Proof | None = None  #: once it is settled
        self.failures: list[Failure] = []
        self.measurements: list[Measurement] = []
        self.cut_short: list[str] = []  #: jobs that were ended because the run had to end
        self._log = log
        self._started = order.clock.monotonic()
        self._attempt: AttemptRecord | None = None
        self._lock: int | None = None
        self._keeper: Coordinator[AttemptRecord] | None = None

    @property
    def attempt(self) -> AttemptRecord:
        """The attempt as it was bound."""
        assert self._attempt is not None, "nothing is bound yet"
        return self._attempt

    @property
    def keeper(self) -> Coordinator[AttemptRecord]:
        """Who renews the hold."""
        assert self._keeper is not None, "nothing is held yet"
        return self._keeper

    def hold(self, attempt: AttemptRecord, lock: int) -> None:
        """Take note of the bound attempt and its run lock, and start keeping it."""
        self._attempt = attempt
        self._lock = lock
        self._keeper = Coordinator(
            renew=lambda: self.store.renew(attempt.fence),
            timings=attempt.lease.timings,
            started=self.order.clock.monotonic(),
            jitter=jitter,
        )

    def let_go(self) -> None:
        """Drop the run lock of the finished attempt."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            self.order.place.remove_lock(self.attempt.id)

    def say(self, event: Event) -> None:
        """Write an event to the run's log."""
        self._log.write(event, self.order.clock.now().wall_ns)

    def stopping(self) -> bool:
        """Whether the run has to end: it lost its hold, or somebody asked for its end."""
        self.heard()
        lost = self._keeper is not None and self._keeper.lost is not None
        return lost or self.cancellation.wanted is not None

    def raise_if_stopping(self) -> None:
        """Raise what ends the run, if it has to end. A lost hold comes before anything else."""
        self.heard()
        if self._keeper is not None and self._keeper.lost is not None:
            raise self._keeper.lost
        if self.cancellation.wanted is not None:
            raise Over(self.cancellation.report())

    def heard(self) -> None:
        """See whether a signal came, and what it means."""
        self.cancellation.heard(self.store)

    def workshop(self, required: RequirementSet | None = None) -> Workshop:
        """The loop that runs jobs, of the situation or `required`, and keeps the hold meanwhile."""
        keeping = Keeping(
            deadline=lambda: self._keeper.deadline if self._keeper else math.inf,
            tick=self._tick,
            stopping=self.stopping,
            signals=self.signals.descriptor,
            heard=self.heard,
        )
        workers = len(os.sched_getaffinity(0))
        return Workshop(
            required or self.situation.required,
            keeping,
            self.order.clock,
            self.permits,
            parallel=workers,
        )

    def _tick(self, now: float) -> None:
        if self._keeper is not None and now >= self._keeper.deadline:
            self._keeper.tick(now)
            self.cancellation.look(self.store)

    def check_hold(self) -> None:
        """See whether the record still names this run. Doubt proves nothing and is passed over."""
        try:
            self.store.held(self.attempt.fence)
        except HoldLost as loss:
            self.keeper.lost = loss
        except Doubt:
            pass

    def publish(self, receipt: Receipt) -> None:
        """Publish a receipt at once, fenced. In doubt, it is settled with the attempt."""
        point("run.publish")
        self.receipts[receipt.requirement] = receipt
        try:
            self.store.publish(self.attempt.fence, receipt)
        except HoldLost as loss:
            self.keeper.lost = loss
        except Doubt as doubt:
            self.in_doubt.append(receipt)
            self.say(Noted(text=f"the receipt of {receipt.requirement} is in doubt: {doubt}"))

    def verdict(self) -> Report:
        """The report of everything found so far: passed unless something failed."""
        outcome: RunOutcome = "passed"
        code = 0
        if self.failures:
            outcome, code = failed(tuple(self.failures))
        return Report(
            outcome=outcome,
            exit_code=code,
            failures=tuple(self.failures),
            executed=tuple(name for name in self.receipts if name in self.plan.execute),
            reused=tuple(self.plan.reused),
            standards=tuple(self.measurements),
            seconds=self.order.clock.monotonic() - self._started,
            longest_gap=self.keeper.longest_gap,
        )
