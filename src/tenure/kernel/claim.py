"""Claims: holds on work, pinned to a lane's hold. Values and pure rules; no TTL, no renewal.

A claim outlives the lease of its lane and even a takeover of it. What ends a claim is its
commit, its hand-back, or a later holder that claims the same work again.
"""

import msgspec

from tenure.kernel import lease as leases
from tenure.kernel.clock import Instant
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Token
from tenure.kernel.lane import LaneRecord


class ClaimRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Who has one piece of work. A finished row stays, and is never claimed again."""

    work: str
    revision: int
    claim: str  #: minted by the claimer; the same for every row of one claim
    lane: str
    generation: int
    token: Token
    finished: bool = False


def claimable(row: ClaimRecord | None, fence: Fence) -> bool:
    """Whether the holder of `fence` may claim this row: unclaimed, or an earlier hold's.

    A hold never claims again what it claimed itself, under whichever of its tokens.
    """
    if row is None:
        return True
    if row.finished:
        return False
    return row.lane == fence.record and row.generation < fence.generation


def take(row: ClaimRecord | None, work: str, claim: str, fence: Fence) -> ClaimRecord:
    """The row claimed under `fence`."""
    assert claimable(row, fence), f"{work} is not claimable under this fence"
    return ClaimRecord(
        work=work,
        revision=1 if row is None else row.revision + 1,
        claim=claim,
        lane=fence.record,
        generation=fence.generation,
        token=fence.token,
    )


def finish(row: ClaimRecord) -> ClaimRecord:
    """The row whose work was committed."""
    return msgspec.structs.replace(row, revision=row.revision + 1, finished=True)


def live(row: ClaimRecord, lane: LaneRecord | None, now: Instant) -> bool:
    """Whether callers without a lane must treat the row as taken.

    Live is a claim whose lane is held and unlapsed, by the same generation and token.
    """
    if row.finished or lane is None or lane.lease is None:
        return False
    if (lane.generation, lane.token) != (row.generation, row.token):
        return False
    return not leases.lapsed(lane.lease, now)
