"""The recorded transitions: read, decide by a pure rule, guarded write, in the caller's transaction.

Each is a function over an open transaction, so that a hold and whatever is published with
it commit together. Between the read and the write stands a `point`, where tests let a
rival act.
"""

from collections.abc import Callable, Iterable, Sequence

from tenure.kernel import attempt as attempts
from tenure.kernel import claim as claims
from tenure.kernel import lane as lanes
from tenure.kernel.attempt import AttemptRecord, BindRequest, Outcome
from tenure.kernel.claim import ClaimRecord
from tenure.kernel.clock import Instant
from tenure.kernel.errors import ClaimSuperseded, FenceMismatch
from tenure.kernel.fence import Fence
from tenure.kernel.lane import Acquired, AcquireRequest, LaneRecord
from tenure.kernel.liveness import OwnerEvidence, Verdict
from tenure.kernel.points import point
from tenure.kernel.store import Transaction
from tenure.kernel.takeover import Licence

#: Says whether the owner that left this evidence is gone.
Liveness = Callable[[OwnerEvidence], Verdict]


def licence(record: AttemptRecord, liveness: Liveness, now: Instant) -> Licence | None:
    """What licenses a takeover of this attempt now, if anything does."""
    lapse = lanes.lapse(record.lease, now)
    if lapse is not None:
        return lapse
    verdict = liveness(record.evidence)
    if verdict.state != "gone":
        return None
    return Licence(ground="gone", evidence=verdict.reason)


def bind(tx: Transaction, request: BindRequest, liveness: Liveness, now: Instant) -> AttemptRecord:
    """Bind the requested attempt, or join the rival that holds its subject.

    Rivals that are lapsed or gone are retired here, in the same transaction. The answer is
    bound, or finished as `joined`. Asked again, it is whatever became of the attempt.

    Raises:
        FenceMismatch: the id exists under another token.
    """
    known = tx.attempts.read(request.attempt)
    if known is not None:
        return _repeated(known, request)
    rival = _living_rival(tx, request, liveness, now)
    sequence = tx.attempts.next_sequence(request.repository)
    point("bind:read")
    if rival is None:
        record = attempts.begin(request, sequence, now)
    else:
        record = attempts.join(request, sequence, rival.id, now)
    tx.attempts.insert(record)
    return record


def _repeated(known: AttemptRecord, request: BindRequest) -> AttemptRecord:
    if known.token != request.token:
        raise FenceMismatch(record=f"attempt {known.id}")
    return known


def _living_rival(
    tx: Transaction, request: BindRequest, liveness: Liveness, now: Instant
) -> AttemptRecord | None:
    """The rival that stays after everyone lapsed or gone is retired."""
    for record in tx.attempts.unfinished(request.repository):
        if record.subject != request.subject:
            continue
        ground = licence(record, liveness, now)
        if ground is None:
            return record
        ended = attempts.retire(record, record, request.run, ground, now)
        tx.attempts.replace(ended, expected=record.revision)
    return None


def hold(tx: Transaction, fence: Fence) -> AttemptRecord:
    """The attempt, if the fence holds it; for publications in the same transaction."""
    record = attempts.held(tx.attempts.read(fence.record), fence)
    point("hold:read")
    return record


def renew(tx: Transaction, fence: Fence, now: Instant) -> AttemptRecord:
    """Renew the attempt's lease. Raises what `attempt.held` raises."""
    record = attempts.renew(tx.attempts.read(fence.record), fence, now)
    point("renew:read")
    tx.attempts.replace(record, expected=record.revision - 1)
    return record


def settle(tx: Transaction, fence: Fence, outcome: Outcome, now: Instant) -> AttemptRecord:
    """Finish the attempt under its own fence. Raises what `attempt.settle` raises."""
    before = tx.attempts.read(fence.record)
    record = attempts.settle(before, fence, outcome, now)
    point("settle:read")
    if record is not before:
        tx.attempts.replace(record, expected=record.revision - 1)
    return record


def retire(
    tx: Transaction, seen: AttemptRecord, by: str, ground: Licence, now: Instant
) -> AttemptRecord:
    """Finish somebody else's attempt, on the revision that was read.

    Asked again by the same retirer, the record as it was retired. Raises what
    `attempt.retire` raises.
    """
    before = tx.attempts.read(seen.id)
    if before is not None and before.retired is not None and before.retired.by == by:
        return before
    record = attempts.retire(before, seen, by, ground, now)
    point("retire:read")
    tx.attempts.replace(record, expected=seen.revision)
    return record


def acquire(
    tx: Transaction, request: AcquireRequest, ground: Licence | None, now: Instant
) -> Acquired:
    """Acquire a lane. Raises what `lane.acquire` raises; a refusal changes nothing."""
    before = tx.lanes.read(request.lane)
    got = lanes.acquire(before, request, ground, now)
    point("acquire:read")
    if before is None:
        tx.lanes.insert(got.record)
    elif got.record is not before:
        tx.lanes.replace(got.record, expected=before.revision)
    return got


def hold_lane(tx: Transaction, fence: Fence) -> LaneRecord:
    """The lane, if the fence holds it; for fenced writes in the same transaction."""
    record = lanes.held(tx.lanes.read(fence.record), fence)
    point("hold_lane:read")
    return record


def renew_lane(tx: Transaction, fence: Fence, now: Instant) -> LaneRecord:
    """Renew a lane's lease. Raises what `lane.held` raises."""
    record = lanes.renew(tx.lanes.read(fence.record), fence, now)
    point("renew_lane:read")
    tx.lanes.replace(record, expected=record.revision - 1)
    return record


def release(tx: Transaction, fence: Fence) -> LaneRecord:
    """Let a lane go. Asked again, the same answer. Raises what `lane.held` raises."""
    before = tx.lanes.read(fence.record)
    record = lanes.release(before, fence)
    point("release:read")
    if record is not before:
        tx.lanes.replace(record, expected=record.revision - 1)
    return record


def delete(tx: Transaction, fence: Fence) -> LaneRecord:
    """Delete a lane for good. Asked again, the same answer. Raises what `lane.held` raises."""
    before = tx.lanes.read(fence.record)
    record = lanes.delete(before, fence)
    point("delete:read")
    if record is not before:
        tx.lanes.replace(record, expected=record.revision - 1)
    return record


def claim(
    tx: Transaction, fence: Fence, work: Sequence[str], claim_id: str
) -> tuple[ClaimRecord, ...]:
    """Claim what is claimable of `work` under a held lane; the rows obtained, maybe none.

    Asked again with the same claim id, those of `work` that carry it. Raises what `lane.held`
    raises.
    """
    lanes.held(tx.lanes.read(fence.record), fence)
    before = {item: tx.claims.read(item) for item in work}
    already = tuple(row for row in before.values() if row is not None and row.claim == claim_id)
    if already:
        return already
    point("claim:read")
    return tuple(
        _take(tx, row, item, claim_id, fence)
        for item, row in before.items()
        if claims.claimable(row, fence)
    )


def _take(
    tx: Transaction, row: ClaimRecord | None, work: str, claim_id: str, fence: Fence
) -> ClaimRecord:
    taken = claims.take(row, work, claim_id, fence)
    if row is None:
        tx.claims.insert(taken)
    else:
        tx.claims.replace(taken, expected=row.revision)
    return taken


def finish_claim(tx: Transaction, claim_id: str, work: Iterable[str]) -> tuple[ClaimRecord, ...]:
    """Commit work: every row must still carry the claim. The lane is not consulted.

    Asked again, the same answer.

    Raises:
        ClaimSuperseded: a row carries another claim or none; nothing was changed.
    """
    rows = _carrying(tx, claim_id, work)
    point("finish_claim:read")
    return tuple(_finish(tx, row) for row in rows)


def close_claim(tx: Transaction, claim_id: str, work: Sequence[str]) -> None:
    """Commit work of which the caller records in this transaction that it is done for good.

    The rows are dropped: whoever asks again is answered by that record. Raises what
    `finish_claim` raises.
    """
    _carrying(tx, claim_id, work)
    point("close_claim:read")
    tx.claims.remove(work)


def _carrying(tx: Transaction, claim_id: str, work: Iterable[str]) -> list[ClaimRecord]:
    """The rows of this work, every one of which must carry the claim."""
    rows = {item: tx.claims.read(item) for item in work}
    mine = [row for row in rows.values() if row is not None and row.claim == claim_id]
    if len(mine) < len(rows):
        gone = tuple(item for item, row in rows.items() if row is None or row.claim != claim_id)
        raise ClaimSuperseded(claim=claim_id, rows=gone)
    return mine


def _finish(tx: Transaction, row: ClaimRecord) -> ClaimRecord:
    if row.finished:
        return row
    done = claims.finish(row)
    tx.claims.replace(done, expected=row.revision)
    return done


def abandon_claim(tx: Transaction, claim_id: str) -> None:
    """Hand back the work of a claim: afterwards no unfinished row carries it.

    Rows that were finished, or claimed again by a later hold, stay as they are.
    """
    rows = [row.work for row in tx.claims.claimed_by(claim_id) if not row.finished]
    point("abandon_claim:read")
    tx.claims.remove(rows)
