"""What a law book needs of a backend, and how its callers call."""

from collections.abc import Callable, Sequence

from tenure.kernel import ledger
from tenure.kernel.attempt import AttemptRecord, BindRequest, Outcome
from tenure.kernel.claim import ClaimRecord
from tenure.kernel.clock import Clock
from tenure.kernel.fence import Fence
from tenure.kernel.lane import Acquired, AcquireRequest, LaneRecord
from tenure.kernel.liveness import OwnerEvidence, State, Verdict
from tenure.kernel.store import Database
from tenure.kernel.takeover import Licence
from tenure.testing.clock import VirtualClock
from tenure.testing.wire import Wire

#: Opens another handle on the same store; its calls wait so many seconds for other writers.
Opener = Callable[[float], Database]

#: How long a patient and an impatient handle wait for another writer, in seconds.
PATIENT, IMPATIENT = 60.0, 0.02


class Owners:
    """Liveness as a table: an owner is running until the test says otherwise."""

    def __init__(self) -> None:
        self._states: dict[int, State] = {}

    def becomes(self, state: State, evidence: OwnerEvidence) -> None:
        """From now on this is what can be said of the owner."""
        self._states[evidence.pid] = state

    def __call__(self, evidence: OwnerEvidence) -> Verdict:
        state = self._states.get(evidence.pid, "running")
        return Verdict(state=state, reason=f"process {evidence.pid} is {state}")


class Caller:
    """One handle of one owner. Each method is one call: one transaction, values in and out."""

    def __init__(self, database: Database, clock: Clock, owners: Owners) -> None:
        self.wire = Wire(database)
        self._clock = clock
        self._owners = owners

    def bind(self, request: BindRequest) -> AttemptRecord:
        """Bind or join."""
        with self.wire.write() as tx:
            return ledger.bind(tx, request, self._owners, self._clock.now())

    def renew(self, fence: Fence) -> AttemptRecord:
        """Renew an attempt."""
        with self.wire.write() as tx:
            return ledger.renew(tx, fence, self._clock.now())

    def settle(self, fence: Fence, outcome: Outcome = "passed") -> AttemptRecord:
        """Finish an attempt."""
        with self.wire.write() as tx:
            return ledger.settle(tx, fence, outcome, self._clock.now())

    def retire(self, seen: AttemptRecord, by: str, licence: Licence) -> AttemptRecord:
        """Finish somebody else's attempt."""
        with self.wire.write() as tx:
            return ledger.retire(tx, seen, by, licence, self._clock.now())

    def publish(self, fence: Fence, row: ClaimRecord) -> ClaimRecord:
        """Store a row under an attempt's fence, once: any row stands for any publication."""
        with self.wire.write() as tx:
            ledger.hold(tx, fence)
            if tx.claims.read(row.work) is None:
                tx.claims.insert(row)
            return row

    def publish_under_lane(self, fence: Fence, row: ClaimRecord) -> ClaimRecord:
        """Store a row under a lane's fence, once."""
        with self.wire.write() as tx:
            ledger.hold_lane(tx, fence)
            if tx.claims.read(row.work) is None:
                tx.claims.insert(row)
            return row

    def acquire(self, request: AcquireRequest, licence: Licence | None = None) -> Acquired:
        """Acquire a lane."""
        with self.wire.write() as tx:
            return ledger.acquire(tx, request, licence, self._clock.now())

    def renew_lane(self, fence: Fence) -> LaneRecord:
        """Renew a lane."""
        with self.wire.write() as tx:
            return ledger.renew_lane(tx, fence, self._clock.now())

    def release(self, fence: Fence) -> LaneRecord:
        """Let a lane go."""
        with self.wire.write() as tx:
            return ledger.release(tx, fence)

    def delete(self, fence: Fence) -> LaneRecord:
        """Delete a lane."""
        with self.wire.write() as tx:
            return ledger.delete(tx, fence)

    def claim(self, fence: Fence, work: Sequence[str], claim: str) -> tuple[ClaimRecord, ...]:
        """Claim work."""
        with self.wire.write() as tx:
            return ledger.claim(tx, fence, work, claim)

    def finish(self, claim: str, work: Sequence[str]) -> tuple[ClaimRecord, ...]:
        """Commit claimed work."""
        with self.wire.write() as tx:
            return ledger.finish_claim(tx, claim, work)

    def close_claim(self, claim: str, work: Sequence[str]) -> None:
        """Commit claimed work that is recorded as done elsewhere."""
        with self.wire.write() as tx:
            ledger.close_claim(tx, claim, work)

    def abandon(self, claim: str) -> None:
        """Hand claimed work back."""
        with self.wire.write() as tx:
            ledger.abandon_claim(tx, claim)

    def attempt(self, attempt: str) -> AttemptRecord | None:
        """An attempt as stored."""
        with self.wire.read() as tx:
            return tx.attempts.read(attempt)

    def unfinished(self, repository: str) -> list[AttemptRecord]:
        """The bound attempts of a repository."""
        with self.wire.read() as tx:
            return tx.attempts.unfinished(repository)

    def lane(self, lane: str) -> LaneRecord | None:
        """A lane as stored."""
        with self.wire.read() as tx:
            return tx.lanes.read(lane)

    def work(self, work: str) -> ClaimRecord | None:
        """The row of a piece of work as stored."""
        with self.wire.read() as tx:
            return tx.claims.read(work)


class Backend:
    """One empty store of some kind, the clock its callers share, and what is known of owners."""

    def __init__(self, opener: Opener) -> None:
        self.clock = VirtualClock()
        self.owners = Owners()
        self._opener = opener
        self._handles: list[Database] = []

    def open(self, busy_seconds: float = PATIENT) -> Database:
        """Another handle; closed with the backend."""
        handle = self._opener(busy_seconds)
        self._handles.append(handle)
        return handle

    def caller(self, busy_seconds: float = PATIENT) -> Caller:
        """A caller with a handle of its own."""
        return Caller(self.open(busy_seconds), self.clock, self.owners)

    def close(self) -> None:
        """Close every handle."""
        for handle in self._handles:
            handle.close()
