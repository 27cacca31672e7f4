"""Attempts: records held once and finished once. Values and pure rules; no store, no clock.

    bound ──► finished(passed | failed | cancelled | joined)

A rule takes the record as it was read and returns the record to write. It raises instead
of returning when the record says no, and then there is nothing to write.
"""

from typing import Literal

import msgspec

from tenure.kernel import lease as leases
from tenure.kernel.clock import Instant
from tenure.kernel.errors import (
    FenceMismatch,
    HoldEnded,
    HoldLost,
    NotLicensed,
    RecordMissing,
    RevisionConflict,
)
from tenure.kernel.fence import Fence
from tenure.kernel.identity import LeaseOwnerIdentity, Token
from tenure.kernel.lease import Lease, LeaseTimings
from tenure.kernel.liveness import OwnerEvidence
from tenure.kernel.takeover import Licence, Takeover

Outcome = Literal["passed", "failed", "cancelled", "joined"]

#: An attempt has one holder for life, so its fence never needs a second generation.
GENERATION = 1


class BindRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller mints before it asks for an attempt; repeating it is safe."""

    attempt: str
    run: str
    repository: str
    subject: str
    kind: str
    owner: LeaseOwnerIdentity
    evidence: OwnerEvidence
    token: Token
    timings: LeaseTimings


class AttemptRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt as it is stored. Finished, it keeps its token, its outcome, and exactly
    one of `settled_at` (by its own holder) and `retired` (by somebody else)."""

    id: str
    revision: int
    sequence: int  #: dense and increasing within a repository
    run: str
    repository: str
    subject: str
    kind: str
    owner: LeaseOwnerIdentity
    evidence: OwnerEvidence
    token: Token
    lease: Lease
    outcome: Outcome | None = None  #: None while bound
    joined: str | None = None  #: the attempt that was followed instead
    settled_at: Instant | None = None
    retired: Takeover | None = None

    def __post_init__(self) -> None:
        endings = (self.settled_at is not None) + (self.retired is not None)
        assert endings == (0 if self.outcome is None else 1), "finished exactly once"
        assert (self.outcome == "joined") == (self.joined is not None), "joined names the other"

    @property
    def bound(self) -> bool:
        """Whether it is unfinished."""
        return self.outcome is None

    @property
    def fence(self) -> Fence:
        """What its holder presents."""
        return Fence(record=self.id, generation=GENERATION, token=self.token)


def begin(request: BindRequest, sequence: int, now: Instant) -> AttemptRecord:
    """The bound record of a request that has no rival."""
    return AttemptRecord(
        id=request.attempt,
        revision=1,
        sequence=sequence,
        run=request.run,
        repository=request.repository,
        subject=request.subject,
        kind=request.kind,
        owner=request.owner,
        evidence=request.evidence,
        token=request.token,
        lease=leases.begin(now, request.timings),
    )


def join(request: BindRequest, sequence: int, rival: str, now: Instant) -> AttemptRecord:
    """The record of a request that follows its rival: finished at birth, holding nothing."""
    return msgspec.structs.replace(
        begin(request, sequence, now), outcome="joined", joined=rival, settled_at=now
    )


def held(record: AttemptRecord | None, fence: Fence) -> AttemptRecord:
    """The record, if the fence holds it. No clock is asked: a lapse changes nothing.

    Raises:
        RecordMissing: nothing is known.
        FenceMismatch: another acquisition's fence.
        HoldLost: finished by another.
        HoldEnded: finished by this very hold.
    """
    if record is None:
        raise RecordMissing(record=f"attempt {fence.record}")
    if (record.id, GENERATION, record.token) != (fence.record, fence.generation, fence.token):
        raise FenceMismatch(record=f"attempt {record.id}")
    if record.retired is not None:
        raise HoldLost(
            record=f"attempt {record.id}", by=record.retired.by, evidence=record.retired.evidence
        )
    if record.outcome is not None:
        raise HoldEnded(record=f"attempt {record.id}", outcome=record.outcome)
    return record


def renew(record: AttemptRecord | None, fence: Fence, now: Instant) -> AttemptRecord:
    """The record with its lease renewed. Raises what `held` raises."""
    mine = held(record, fence)
    return msgspec.structs.replace(
        mine, revision=mine.revision + 1, lease=leases.renew(mine.lease, now)
    )


def settle(
    record: AttemptRecord | None, fence: Fence, outcome: Outcome, now: Instant
) -> AttemptRecord:
    """The record finished by its holder. Asked again, the record as it was settled.

    Raises what `held` raises, except `HoldEnded` for the same outcome.
    """
    assert outcome != "joined", "an attempt joins only while it is bound"
    try:
        mine = held(record, fence)
    except HoldEnded:
        assert record is not None
        if record.outcome != outcome:
            raise
        return record
    return msgspec.structs.replace(
        mine, revision=mine.revision + 1, outcome=outcome, settled_at=now
    )


def retire(
    record: AttemptRecord | None, seen: AttemptRecord, by: str, licence: Licence, now: Instant
) -> AttemptRecord:
    """The record ended by somebody else, on the revision that was read.

    Raises:
        RecordMissing: it is no longer there.
        RevisionConflict: it moved since `seen` was read.
        NotLicensed: the lease has not lapsed, and the licence claims nothing else.
    """
    if record is None:
        raise RecordMissing(record=f"attempt {seen.id}")
    if record.revision != seen.revision or not record.bound:
        raise RevisionConflict(record=f"attempt {seen.id}", expected=seen.revision)
    if licence.ground == "lapsed" and not leases.lapsed(record.lease, now):
        raise NotLicensed(record=f"attempt {record.id}", holder=str(record.owner))
    return msgspec.structs.replace(
        record,
        revision=record.revision + 1,
        outcome="cancelled",
        retired=Takeover(by=by, at=now, licence=licence),
    )
