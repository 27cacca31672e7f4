"""Driving, as far as the store has a say: what a holder of a session's lane may read and write.

Functions over an open transaction. Everything that writes checks the fence in it.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from tenure.kernel import ledger
from tenure.kernel.errors import RecordMissing, Refused
from tenure.kernel.fence import Fence
from tenure.kernel.points import point
from tenure.kernel.store import Transaction
from tenure.runtime.admission import present
from tenure.runtime.errors import AgentUnknown, HostMismatch, ReplayMismatch, TurnMissing
from tenure.runtime.machine.answers import Accepted
from tenure.runtime.model.effect import Effect, Journaled, Outcome
from tenure.runtime.model.json import Json, plain
from tenure.runtime.model.message import UserMessage
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import HostKind, SessionRecord
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.work import Boundary, WorkRow, turn_of
from tenure.runtime.store import RuntimeRows

#: What became of a claim that was to be handed back.
HandedBack = Literal["handed_back", "superseded", "unknown"]


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
    program: Program | None = None,
) -> Assignment | None:
    """Claim the session's open turn, or open its next one; None if there is nothing to drive.

    Work that was admitted without a program is pinned to `program` when it is opened. Asked
    again with the same claim id, the same assignment.

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
        turn = _open(rows, row, session, program)
    return _claim(tx, rows, turn, fence, claim)


def _open(
    rows: RuntimeRows, row: WorkRow, session: SessionRecord, program: Program | None
) -> TurnRecord:
    pinned = row.program
    if pinned is None:
        if program is None:
            raise AgentUnknown(agent=session.agent)
        pinned = program.digest
        rows.add_program(pinned, program)
    turn = TurnRecord(
        id=turn_of(row.id),
        session=row.session,
        work=row.id,
        program=pinned,
        state="open",
        opened_at_head=session.head,
    )
    rows.put_work(msgspec.structs.replace(row, state="accepted", turn=turn.id, program=pinned))
    rows.put_session(msgspec.structs.replace(session, open_turn=turn.id))
    return turn


def _claim(
    tx: Transaction, rows: RuntimeRows, turn: TurnRecord, fence: Fence, claim: str
) -> Assignment | None:
    got = ledger.claim(tx, fence, [turn.work], claim)
    if not got:
        if rows.turn(turn.id) is None:
            rows.put_turn(turn)  # opened all the same
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
    found = _waiting_at(rows, turn, effect.request["boundary"])
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


def _waiting_at(rows: RuntimeRows, turn: TurnRecord, boundary: Boundary) -> list[WorkRow]:
    """Input for this boundary. The last boundary is also the next one for what came later
    than the last work: after it there is none."""
    found = rows.active_inputs(turn.session, turn.id, boundary)
    if boundary == "before_completion":
        found += rows.active_inputs(turn.session, turn.id, "after_work")
    return sorted(found, key=lambda row: row.sequence)


def hand_back(tx: Transaction, rows: RuntimeRows, turn_id: str, claim: str) -> HandedBack:
    """Give a turn back, and end the hold under which it was claimed if that still stands.

    Anybody may drive it at once. What its driver does from then on is refused.
    """
    turn = rows.turn(turn_id)
    if turn is None:
        return "unknown"
    if turn.claim is None and turn.result is None:
        return "handed_back"
    if turn.claim != claim or turn.result is not None:
        return "superseded"
    row = tx.claims.read(turn.work)
    ledger.abandon_claim(tx, claim)
    rows.put_turn(msgspec.structs.replace(turn, claim=None))
    if row is not None:
        let_go(tx, Fence(record=row.lane, generation=row.generation, token=row.token))
    return "handed_back"


def let_go(tx: Transaction, fence: Fence) -> None:
    """Release a lane if the fence still holds it. It never vetoes, never frees a successor."""
    try:
        ledger.release(tx, fence)
    except Refused:
        pass
