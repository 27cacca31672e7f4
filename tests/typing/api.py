"""Code as a user of the library would write it. It is type-checked from outside, not run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, assert_type

from tenure.kernel import ledger
from tenure.kernel.attempt import AttemptRecord, BindRequest, Outcome
from tenure.kernel.clock import Clock, Instant, SystemClock
from tenure.kernel.coordinator import Coordinator
from tenure.kernel.errors import Doubt, HoldLost, Refused, TenureError
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Executor, LeaseOwnerIdentity, Token, mint_token, new_id
from tenure.kernel.lane import AcquireRequest, LaneRecord
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.liveness import LocalProbe, OwnerEvidence, Verdict, judge
from tenure.kernel.store import Database, Transaction
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.kernel.takeover import Licence


class StoppedClock:
    """A clock of one's own satisfies the seam without inheriting anything."""

    def __init__(self, instant: Instant) -> None:
        self.instant = instant

    def now(self) -> Instant:
        return self.instant

    def monotonic(self) -> float:
        return 0.0


def clocks() -> list[Clock]:
    """Both are clocks."""
    instant = Instant(boot="b", boot_ns=1, awake_ns=1, wall_ns=1)
    return [SystemClock(), StoppedClock(instant)]


def databases() -> list[Database]:
    """A backend is a database by its shape."""
    return [MemoryDatabase(MemoryTables())]


def liveness(evidence: OwnerEvidence) -> Verdict:
    """What `bind` wants to be told about owners."""
    verdict = judge(evidence, LocalProbe("b"))
    assert_type(verdict.state, Literal["gone", "running", "unknown"])
    return verdict


def bind(database: Database, clock: Clock, evidence: OwnerEvidence) -> Fence:
    """One attempt from request to fence."""
    request = BindRequest(
        attempt=new_id(),
        run="run",
        repository="repository",
        subject="subject",
        kind="done",
        owner=LeaseOwnerIdentity(owner_id="me", incarnation_id=new_id()),
        evidence=evidence,
        token=mint_token(),
        timings=LeaseTimings(ttl=60.0, renew_interval=20.0),
    )
    with database.write() as tx:
        assert_type(tx, Transaction)
        record = ledger.bind(tx, request, liveness, clock.now())
    assert_type(record, AttemptRecord)
    assert_type(record.outcome, Outcome | None)
    assert_type(record.bound, bool)
    return record.fence


def settle(database: Database, clock: Clock, fence: Fence) -> str:
    """Three answers, told apart by type."""
    try:
        with database.write() as tx:
            ledger.settle(tx, fence, "passed", clock.now())
    except HoldLost as loss:
        return str(loss)
    except Refused:
        return "refused"
    except Doubt:
        return "unknown"
    except TenureError:
        return "never"
    return "settled"


def keep(database: Database, clock: Clock, fence: Fence) -> Coordinator[str]:
    """The coordinator is generic in what a settlement answers."""

    def renew() -> AttemptRecord:
        with database.write() as tx:
            return ledger.renew(tx, fence, clock.now())

    keeper: Coordinator[str] = Coordinator(
        renew=renew,
        timings=LeaseTimings(ttl=60.0, renew_interval=20.0),
        started=clock.monotonic(),
        jitter=lambda: 0.5,
    )
    keeper.tick(clock.monotonic())
    assert_type(keeper.lost, HoldLost | None)
    return keeper


def lane(database: Database, clock: Clock, ground: Licence | None) -> LaneRecord:
    """One lane, acquired and let go."""
    executor = Executor(
        owner=LeaseOwnerIdentity(owner_id="me", incarnation_id="1"), executor_id="e"
    )
    request = AcquireRequest(
        lane="session",
        executor=executor,
        token=Token(n=1, secret=new_id()),
        timings=LeaseTimings(ttl=3.0, renew_interval=1.0),
    )
    with database.write() as tx:
        got = ledger.acquire(tx, request, ground, clock.now())
        assert_type(got.manner, Literal["fresh", "same", "reentry", "takeover"])
        return ledger.release(tx, got.fence)


@contextmanager
def borrowed(database: Database) -> Iterator[Database]:
    """A database is closed by whoever opened it."""
    try:
        yield database
    finally:
        database.close()
