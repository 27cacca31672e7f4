"""Suspending a turn: from being driven to waiting for an answer, in one transaction.

What it waits for is looked at in that transaction, so that no answer falls between the look and
the wait.
"""

from collections.abc import Sequence

import msgspec

from tenure.kernel import ledger
from tenure.kernel.errors import ClaimSuperseded, RecordMissing
from tenure.kernel.fence import Fence
from tenure.kernel.points import point
from tenure.kernel.store import Transaction
from tenure.runtime.driving import journal, let_go
from tenure.runtime.errors import TurnCancelRequested, TurnMissing
from tenure.runtime.model.effect import Journaled, Outcome
from tenure.runtime.model.wait import WaitRow
from tenure.runtime.store import RuntimeRows
from tenure.runtime.waits import settled


def suspend(
    tx: Transaction,
    rows: RuntimeRows,
    turn_id: str,
    claim: str,
    fence: Fence,
    outcomes: Sequence[tuple[str, Outcome]],
    on: Sequence[str],
    now: int,
) -> list[WaitRow]:
    """Have a turn wait until one of the waits `on` has ended, with nobody driving it and its
    lane free; those that have ended already, and then it does not wait.

    Asked again, the same.

    Raises:
        what `lane.held` raises; ClaimSuperseded: somebody else has the turn.
        TurnCancelRequested: its end was asked for, and it does not wait.
    """
    turn = rows.turn(turn_id)
    if turn is None:
        raise TurnMissing(turn=turn_id)
    if turn.waits:
        return []
    ledger.hold_lane(tx, fence)
    if turn.claim != claim:
        raise ClaimSuperseded(claim=claim, rows=(turn.work,))
    reason = rows.cancel_marker(turn_id)
    if reason is not None:
        raise TurnCancelRequested(turn=turn_id, reason=reason)
    journal(tx, rows, turn_id, fence, outcomes, ())
    point("suspend:read")
    waits = [settled(rows, _present(rows, wait), now) for wait in on]
    ended = [wait for wait in waits if wait.resolution is not None]
    if ended:
        return ended
    for wait in waits:
        rows.put_wait(msgspec.structs.replace(wait, blocking=True))
    rows.put_entries(turn_id, [_waits(rows, turn_id, fence, on)])
    ledger.abandon_claim(tx, claim)
    rows.put_turn(msgspec.structs.replace(turn, claim=None, waits=True))
    let_go(tx, fence)
    return []


def _waits(rows: RuntimeRows, turn: str, fence: Fence, on: Sequence[str]) -> Journaled:
    """That a turn waits once more, for whoever is shown what happened in it."""
    before = sum(key.startswith("waiting:") for key in rows.journal(turn))
    return Journaled(
        key=f"waiting:{before + 1}",
        request_hash="",
        generation=fence.generation,
        token=fence.token.secret,
        outcome=Outcome(status="ok", value=list(on)),
    )


def _present(rows: RuntimeRows, wait: str) -> WaitRow:
    found = rows.wait(wait)
    if found is None:
        raise RecordMissing(record=f"wait {wait}")
    return found
