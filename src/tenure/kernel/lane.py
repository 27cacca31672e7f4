"""Lanes: records held again and again. Values and pure rules; no store, no clock.

The generation rises by one at each change of holder and is never reset. A rule returns the
record to write (possibly the one it was given, when the answer is a repetition).
"""

from typing import Literal

import msgspec

from tenure.kernel import lease as leases
from tenure.kernel.clock import Instant
from tenure.kernel.errors import (
    FenceMismatch,
    GenerationRegressed,
    HoldEnded,
    HoldLost,
    LaneBusy,
    LaneDeleted,
    RecordMissing,
    StaleAcquire,
)
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Executor, Token
from tenure.kernel.lease import Lease, LeaseTimings
from tenure.kernel.takeover import Licence, Takeover

Manner = Literal["fresh", "same", "reentry", "takeover"]


class AcquireRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an executor mints before it asks for a lane; repeating it is safe."""

    lane: str
    executor: Executor
    token: Token
    timings: LeaseTimings


class Displaced(msgspec.Struct, frozen=True, kw_only=True):
    """The holder that a takeover ended."""

    executor: Executor
    generation: int
    takeover: Takeover


class LaneRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One lane as it is stored. `executor` and `token` stay after a release, so that a late
    duplicate is recognised; `lease` is None while nobody holds it."""

    id: str
    revision: int
    generation: int
    executor: Executor
    token: Token
    lease: Lease | None
    displaced: Displaced | None = None  #: whom the present holder took it from
    deleted: bool = False

    @property
    def held(self) -> bool:
        """Whether somebody holds it, lapsed or not."""
        return self.lease is not None

    @property
    def fence(self) -> Fence:
        """What its holder presents."""
        return Fence(record=self.id, generation=self.generation, token=self.token)


class Acquired(msgspec.Struct, frozen=True, kw_only=True):
    """A lane acquired: the record to write and how it came about."""

    record: LaneRecord
    manner: Manner

    @property
    def fence(self) -> Fence:
        """What the winner presents from now on."""
        return self.record.fence

    @property
    def displaced(self) -> Displaced | None:
        """Whom the winner took it from, repeated as often as it is asked."""
        return self.record.displaced


def acquire(
    record: LaneRecord | None, request: AcquireRequest, licence: Licence | None, now: Instant
) -> Acquired:
    """Decide one acquisition. `licence` is proof beyond the lease (gone, declared), if any.

    Raises:
        LaneDeleted, StaleAcquire, LaneBusy: refused; the row is unchanged.
    """
    if record is None:
        return _hold(request, revision=1, generation=1, manner="fresh", displaced=None, now=now)
    if record.deleted:
        raise LaneDeleted(lane=record.id)
    if record.executor == request.executor:
        if record.held and record.token == request.token:
            return Acquired(record=record, manner="same")
        if request.token.n <= record.token.n:
            raise StaleAcquire(lane=record.id, n=request.token.n, last_n=record.token.n)
        if record.held:
            return _reenter(record, request, now)
    if record.lease is None:
        return _succeed(record, request, "fresh", None, now)
    if licence is None:
        licence = lapse(record.lease, now)
    if licence is None:
        left = leases.remaining(record.lease, now)
        raise LaneBusy(lane=record.id, holder=str(record.executor), expires_in=left)
    takeover = Takeover(by=str(request.executor), at=now, licence=licence)
    displaced = Displaced(executor=record.executor, generation=record.generation, takeover=takeover)
    return _succeed(record, request, "takeover", displaced, now)


def lapse(lease: Lease, now: Instant) -> Licence | None:
    """The licence that a lapsed lease gives, or None while it is live."""
    if not leases.lapsed(lease, now):
        return None
    return Licence(ground="lapsed", evidence=f"not renewed within {lease.timings.ttl:g} s")


def _hold(
    request: AcquireRequest,
    *,
    revision: int,
    generation: int,
    manner: Manner,
    displaced: Displaced | None,
    now: Instant,
) -> Acquired:
    record = LaneRecord(
        id=request.lane,
        revision=revision,
        generation=generation,
        executor=request.executor,
        token=request.token,
        lease=leases.begin(now, request.timings),
        displaced=displaced,
    )
    return Acquired(record=record, manner=manner)


def _succeed(
    record: LaneRecord,
    request: AcquireRequest,
    manner: Manner,
    displaced: Displaced | None,
    now: Instant,
) -> Acquired:
    return _hold(
        request,
        revision=record.revision + 1,
        generation=record.generation + 1,
        manner=manner,
        displaced=displaced,
        now=now,
    )


def _reenter(record: LaneRecord, request: AcquireRequest, now: Instant) -> Acquired:
    """The same executor again: its token rotates, the generation and the hold stay."""
    assert record.lease is not None
    lease = msgspec.structs.replace(leases.renew(record.lease, now), timings=request.timings)
    again = msgspec.structs.replace(
        record, revision=record.revision + 1, token=request.token, lease=lease
    )
    return Acquired(record=again, manner="reentry")


def held(record: LaneRecord | None, fence: Fence) -> LaneRecord:
    """The record, if the fence holds it. No clock is asked: a lapse changes nothing.

    Raises:
        RecordMissing: nothing is known.
        LaneDeleted: ids are used once.
        HoldLost: a later generation holds or held it.
        HoldEnded: this very hold released it.
        GenerationRegressed: the store is older than the fence.
        FenceMismatch: same generation, another token (a re-entry by the same executor).
    """
    if record is None:
        raise RecordMissing(record=f"lane {fence.record}")
    if record.deleted:
        raise LaneDeleted(lane=record.id)
    if record.generation > fence.generation:
        who = str(record.executor)
        evidence = f"generation {record.generation} follows {fence.generation}"
        raise HoldLost(record=f"lane {record.id}", by=who, evidence=evidence)
    if record.generation < fence.generation:
        raise GenerationRegressed(lane=record.id, seen=fence.generation, now=record.generation)
    if record.id != fence.record or record.token != fence.token:
        raise FenceMismatch(record=f"lane {record.id}")
    if not record.held:
        raise HoldEnded(record=f"lane {record.id}", outcome="released")
    return record


def renew(record: LaneRecord | None, fence: Fence, now: Instant) -> LaneRecord:
    """The record with its lease renewed. Raises what `held` raises."""
    mine = held(record, fence)
    assert mine.lease is not None
    return msgspec.structs.replace(
        mine, revision=mine.revision + 1, lease=leases.renew(mine.lease, now)
    )


def release(record: LaneRecord | None, fence: Fence) -> LaneRecord:
    """The record let go. Asked again, the record as it was released."""
    try:
        mine = held(record, fence)
    except HoldEnded:
        assert record is not None
        return record
    return msgspec.structs.replace(mine, revision=mine.revision + 1, lease=None, displaced=None)


def delete(record: LaneRecord | None, fence: Fence) -> LaneRecord:
    """The record's tombstone, by its holder. Its id is never used again."""
    if record is not None and record.deleted and record.token == fence.token:
        return record
    mine = held(record, fence)
    return msgspec.structs.replace(
        mine, revision=mine.revision + 1, lease=None, displaced=None, deleted=True
    )
