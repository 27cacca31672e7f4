"""Driving, as far as the store has a say: what a holder of a session's lane may read and write.

Functions over an open transaction. Everything that writes checks the fence in it.
"""

from collections.abc import Sequence

import msgspec

from tenure.kernel import ledger
from tenure.kernel.errors import RecordMissing
from tenure.kernel.fence import Fence
from tenure.kernel.points import point
from tenure.kernel.store import Transaction
from tenure.runtime.admission import present
from tenure.runtime.errors import HostMismatch, ReplayMismatch, TurnMissing
from tenure.runtime.machine.answers import Accepted
from tenure.runtime.model.effect import Effect, Journaled, Outcome
from tenure.runtime.model.json import Json, plain
from tenure.runtime.model.message import UserMessage
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import HostKind
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.work import Boundary, WorkRow, turn_of
from tenure.runtime.store import RuntimeRows


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """A turn to drive, and everything its driver needs to know."""

    turn: TurnRecord
    opening: UserMessage
    program: Program
    head: int
    journal: tuple[Journaled, ...]
    cancel: str | None  #: why its end was asked for, if it was


def assign(
    tx: Transaction,
    rows: RuntimeRows,
    session_id: str,
    fence: Fence,
    claim: str,
    host: HostKind,
    now: int,
) -> Assignment | None:
    """Claim the session's open turn, or open its next one; None if there is nothing to drive.

    Asked again with the same claim id, the same assignment.

    Raises:
        what `lane.held` raises; HostMismatch: it belongs to another kind of host.
    """
    ledger.hold_lane(tx, fence)
    session = present(rows, session_id)
    if session.host != host:
        raise HostMismatch(session=session.id, recorded=session.host, here=host)
    if session.open_turn is not None:
        turn = rows.turn(session.open_turn)
        if turn is None:
            raise RecordMissing(record=f"turn {session.open_turn}")
    else:
        row = rows.next_input(session.id, now)
        if row is None:
            return None
        turn = _open(rows, row, session.head)
    return _claim(tx, rows, turn, fence, claim)


def _open(rows: RuntimeRows, row: WorkRow, head: int) -> TurnRecord:
    assert row.program is not None, "next_turn input has a program"
    turn = TurnRecord(
        id=turn_of(row.id),
        session=row.session,
        work=row.id,
        program=row.program,
        state="open",
        opened_at_head=head,
    )
    rows.put_turn(turn)
    rows.put_work(msgspec.structs.replace(row, state="accepted", turn=turn.id))
    session = present(rows, row.session)
    rows.put_session(msgspec.structs.replace(session, open_turn=turn.id))
    return turn


def _claim(
    tx: Transaction, rows: RuntimeRows, turn: TurnRecord, fence: Fence, claim: str
) -> Assignment | None:
    got = ledger.claim(tx, fence, [turn.work], claim)
    if not got:
        return None
    if turn.claim != claim:
        turn = msgspec.structs.replace(turn, claim=claim, drives=turn.drives + 1)
        rows.put_turn(turn)
    row, program = rows.work(turn.work), rows.program(turn.program)
    assert row is not None, "a turn's work exists"
    if program is None:
        raise RecordMissing(record=f"program {turn.program}")
    return Assignment(
        turn=turn,
        opening=msgspec.convert(row.content, UserMessage),
        program=program,
        head=turn.opened_at_head,
        journal=tuple(rows.journal(turn.id)),
        cancel=rows.cancel_marker(turn.id),
    )


def journal(
    tx: Transaction,
    rows: RuntimeRows,
    turn_id: str,
    fence: Fence,
    outcomes: Sequence[tuple[str, Outcome]],
    intents: Sequence[Effect],
) -> None:
    """Record outcomes, and the intents that follow from them, in one transaction.

    Repeating it changes nothing. An outcome that is recorded stays; a late other one is dropped.

    Raises:
        what `lane.held` raises; ReplayMismatch: an intent of the same key asked for other things.
    """
    ledger.hold_lane(tx, fence)
    point("journal:read")
    for key, outcome in outcomes:
        entry = rows.entry(turn_id, key)
        if entry is None:
            raise RecordMissing(record=f"effect {key} of turn {turn_id}")
        if entry.outcome is None:
            rows.put_entry(turn_id, msgspec.structs.replace(entry, outcome=outcome))
    for effect in intents:
        _intend(rows, turn_id, fence, effect)
    if outcomes:
        _progress(rows, turn_id)


def _intend(rows: RuntimeRows, turn: str, fence: Fence, effect: Effect) -> None:
    known = rows.entry(turn, effect.key)
    if known is not None and known.request_hash != effect.request_hash:
        raise ReplayMismatch(turn=turn, key=effect.key)
    if known is not None and known.outcome is not None:
        return
    entry = Journaled(
        key=effect.key,
        request_hash=effect.request_hash,
        generation=fence.generation,
        token=fence.token.secret,
    )
    rows.put_entry(turn, entry)


def _progress(rows: RuntimeRows, turn_id: str) -> None:
    """Something was recorded: the count of fruitless pick-ups begins anew."""
    turn = rows.turn(turn_id)
    if turn is None:
        raise TurnMissing(turn=turn_id)
    if turn.drives:
        rows.put_turn(msgspec.structs.replace(turn, drives=0))


def accept(
    tx: Transaction, rows: RuntimeRows, turn_id: str, fence: Fence, effect: Effect
) -> Outcome:
    """Take in what waits for this boundary, with its journal row; asked again, the same inputs.

    Raises what `lane.held` raises.
    """
    ledger.hold_lane(tx, fence)
    known = rows.entry(turn_id, effect.key)
    if known is not None and known.outcome is not None:
        return known.outcome
    turn = rows.turn(turn_id)
    if turn is None:
        raise TurnMissing(turn=turn_id)
    boundary: Boundary = effect.request["boundary"]
    found = rows.active_inputs(turn.session, turn_id, boundary)
    point("accept:read")
    value: list[Json] = []
    for row in found:
        rows.put_work(msgspec.structs.replace(row, state="accepted", turn=turn_id))
        message = msgspec.convert(row.content, UserMessage)
        value.append(plain(Accepted(work=row.id, message=message)))
    outcome = Outcome(status="ok", value=value)
    entry = Journaled(
        key=effect.key,
        request_hash=effect.request_hash,
        generation=fence.generation,
        token=fence.token.secret,
        outcome=outcome,
    )
    rows.put_entry(turn_id, entry)
    if value:
        _progress(rows, turn_id)
    return outcome


def hand_back(tx: Transaction, rows: RuntimeRows, turn_id: str, claim: str) -> str:
    """Give a turn back so that anybody may drive it at once: handed_back, superseded or unknown."""
    turn = rows.turn(turn_id)
    if turn is None:
        return "unknown"
    if turn.claim is None and turn.result is None:
        return "handed_back"
    if turn.claim != claim or turn.result is not None:
        return "superseded"
    ledger.abandon_claim(tx, claim)
    rows.put_turn(msgspec.structs.replace(turn, claim=None))
    return "handed_back"
