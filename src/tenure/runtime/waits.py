"""Durable waits, as far as the store has a say. Functions over an open transaction.

A wait's row is the one place where it is answered, and answering touches nothing else. That a
turn waits is in the rows of its waits as well; whether it may go on is asked of them, and of the
clock, and stored nowhere.
"""

from collections.abc import Iterable

import msgspec

from tenure.kernel import ledger
from tenure.kernel.fence import Fence
from tenure.kernel.points import point
from tenure.kernel.store import Transaction
from tenure.runtime.errors import TurnMissing
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.wait import Answered, Resolution, WaitRow
from tenure.runtime.store import RuntimeRows

TIMEOUT = Resolution(word="timeout", value="nobody answered in time")
GONE = Resolution(word="cancelled", value="its session is deleted")


def open_wait(tx: Transaction, rows: RuntimeRows, fence: Fence, wait: WaitRow, now: int) -> WaitRow:
    """Have a wait in the store that can be answered from now on; the row as it is.

    Asked again, the same row: a wait that has ended stays ended.

    Raises: what `lane.held` raises; TurnMissing: its turn was never started, or is over.
    """
    ledger.hold_lane(tx, fence)
    turn = rows.turn(wait.turn)
    if turn is None or turn.over:
        raise TurnMissing(turn=wait.turn)
    known = rows.wait(wait.id)
    point("open_wait:read")
    if known is None:
        rows.add_wait(wait)
        return wait
    return settled(rows, known, now)


def resolve(rows: RuntimeRows, wait: str, answer: Resolution, now: int) -> Answered:
    """Answer a wait; whoever is first does. Everybody else is told how it ended.

    A wait without a row is one whose session was deleted: the key that names it was made here.
    """
    known = rows.wait(wait)
    if known is None:
        return Answered(resolution=GONE, first=False)
    point("resolve:read")
    known = settled(rows, known, now)
    if known.resolution is not None:
        return Answered(resolution=known.resolution, first=False, turn=known.turn)
    _end(rows, known, answer, now)
    return Answered(resolution=answer, first=True, turn=known.turn)


def revoke(rows: RuntimeRows, waits: Iterable[WaitRow], reason: str, now: int) -> list[WaitRow]:
    """Cancel those of some waits that have not ended; these."""
    ended = []
    for wait in waits:
        left = settled(rows, wait, now)
        if left.resolution is None:
            answer = Resolution(word="cancelled", value=reason)
            ended.append(_end(rows, left, answer, now))
    return ended


def may_go_on(rows: RuntimeRows, turn: TurnRecord, now: int) -> bool:
    """Whether a turn that waits has something to go on with: an answer, or a timeout."""
    return any(wait.blocking and wait.ended(now) for wait in rows.waits_of_turn(turn.id))


def go_on(rows: RuntimeRows, turn: TurnRecord, now: int) -> TurnRecord:
    """End a turn's waiting: it is an open turn that nobody drives. What is due is timed out."""
    for wait in rows.waits_of_turn(turn.id):
        if wait.blocking:
            settled_wait = settled(rows, wait, now)
            rows.put_wait(msgspec.structs.replace(settled_wait, blocking=False))
    going = msgspec.structs.replace(turn, waits=False)
    rows.put_turn(going)
    return going


def answered(rows: RuntimeRows, turn: TurnRecord) -> int:
    """How many waits of a turn have ended, which is progress."""
    return sum(wait.resolution is not None for wait in rows.waits_of_turn(turn.id))


def settled(rows: RuntimeRows, wait: WaitRow, now: int) -> WaitRow:
    """A wait, ended by its timeout if that is due: a writer like any other."""
    if wait.resolution is not None or not wait.ended(now):
        return wait
    return _end(rows, wait, TIMEOUT, now)


def _end(rows: RuntimeRows, wait: WaitRow, answer: Resolution, now: int) -> WaitRow:
    ended = msgspec.structs.replace(wait, resolution=answer, resolved_wall_ns=now)
    rows.put_wait(ended)
    return ended
