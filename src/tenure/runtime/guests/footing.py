"""What a write to a guest session stands on: a hold of its lane, or what its writer last saw.

Without a hold, a writer takes the lane and lets it go inside the transaction of each write.
Somebody else's live hold refuses it, a lapsed hold is taken over, and whatever was written
since the writer looked refuses it as well. So nothing is ever written over what was not seen.
"""

import msgspec

from tenure.kernel import ledger
from tenure.kernel.clock import Instant
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Executor, Token, new_id
from tenure.kernel.lane import Acquired, AcquireRequest
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.store import Transaction
from tenure.runtime import admission
from tenure.runtime.errors import HeadConflict, HostMismatch, SessionDeleted, WiringError
from tenure.runtime.model.session import HostKind, SessionRecord
from tenure.runtime.store import RuntimeRows


class Footing(msgspec.Struct, frozen=True, kw_only=True):
    """Who writes, to which session, and on what they stand.

    `seen` is the session's head when they looked, 0 if there was none, and None if they never
    looked, which only suits a session that nobody else has written to.
    """

    session: str
    host: HostKind
    executor: Executor
    timings: LeaseTimings
    seen: int | None
    fence: Fence | None = None


class Seat(msgspec.Struct, frozen=True, kw_only=True):
    """A lane held for a guest session, and the head under it."""

    fence: Fence
    head: int


def welcome(rows: RuntimeRows, session: str, host: HostKind, now: Instant) -> SessionRecord:
    """The session, created if it is not there.

    Raises: SessionDeleted; HostMismatch: it is another framework's, or an agent's;
        WiringError: the id is empty.
    """
    if not session:
        raise WiringError(what="a session's id is empty", next="give it one")
    wanted = SessionRecord(id=session, agent=host, host=host, created_wall_ns=now.wall_ns)
    found = admission.create(rows, wanted)
    if found.host != host:
        raise HostMismatch(session=session, recorded=found.host, here=host)
    return found


def known(rows: RuntimeRows, session: str, host: HostKind) -> SessionRecord | None:
    """The session if it is there. Raises: SessionDeleted, HostMismatch."""
    found = rows.session(session)
    if found is None:
        return None
    if found.deleted:
        raise SessionDeleted(session=session)
    if found.host != host:
        raise HostMismatch(session=session, recorded=found.host, here=host)
    return found


def take(tx: Transaction, footing: Footing, secret: str, now: Instant) -> Acquired:
    """Acquire the lane. Asked again with the same secret, the same hold.

    Raises what `lane.acquire` raises.
    """
    before = tx.lanes.read(footing.session)
    token = Token(n=1, secret=secret)
    if before is not None and before.executor == footing.executor:
        same = before.token.secret == secret
        token = Token(n=before.token.n + (not same), secret=secret)
    request = AcquireRequest(
        lane=footing.session, executor=footing.executor, token=token, timings=footing.timings
    )
    return ledger.acquire(tx, request, None, now)


def stand(
    tx: Transaction, record: SessionRecord, footing: Footing, now: Instant, *, together: bool
) -> None:
    """Pass if the write may be made; a hold's lease is renewed with it.

    With `together`, several writes of one executor may be under way at once, and what it wrote
    last itself counts as seen.

    Raises:
        HoldLost: the hold was taken over. LaneBusy: somebody else holds the lane.
        HeadConflict: somebody else wrote since this writer looked.
    """
    lane = tx.lanes.read(footing.session)
    mine = lane is not None and lane.executor == footing.executor
    if footing.fence is not None:
        ledger.renew_lane(tx, footing.fence, now)
    if record.head != (footing.seen or 0) and not (together and mine):
        raise HeadConflict(session=record.id, now=record.head, expected=footing.seen or 0)
    if footing.fence is None:
        ledger.release(tx, take(tx, footing, new_id(), now).fence)


def mine(tx: Transaction, footing: Footing) -> bool:
    """Whether the last one who had the lane is the one who asks."""
    lane = tx.lanes.read(footing.session)
    return lane is not None and lane.executor == footing.executor
