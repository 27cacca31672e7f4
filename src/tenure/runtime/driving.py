"""Driving, as far as the store has a say: what a holder of a session's lane may read and write.

Functions over an open transaction. Everything that writes checks the fence in it.
"""

from collections.abc import Mapping, Sequence
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
from tenure.runtime.model.wait import WaitRow
from tenure.runtime.model.work import Boundary, WorkRow, turn_of
from tenure.runtime.store import RuntimeRows
from tenure.runtime.waits import answered, go_on, may_go_on

#: What became of a claim that was to be handed back.
HandedBack = Literal["handed_back", "superseded", "unknown"]

#: A boundary where nothing waited.
NOTHING = Outcome(status="ok", value=[])


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """A turn to drive, and everything its driver needs to know."""

    turn: TurnRecord
    opening: UserMessage
    program: Program
    head: int
    journal: tuple[Journaled, ...]
    waits: tuple[WaitRow, ...]  #: all that it ever opened
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
        turn = _picked_up(tx, rows, session.open_turn, fence, claim, now)
    else:
        turn = _opened(tx, rows, session, fence, claim, now, program)
    return None if turn is None or turn.claim != claim else _assignment(rows, turn)


def _opened(
    tx: Transaction,
    rows: RuntimeRows,
    session: SessionRecord,
    fence: Fence,
    claim: str,
    now: int,
    program: Program | None,
) -> TurnRecord | None:
    """The session's next input as a turn, claimed if it can be; None if no input is due."""
    row = rows.next_input(session.id, now)
    if row is None:
        return None
    pinned = row.program
    if pinned is None:
        if program is None:
            raise AgentUnknown(agent=session.agent)
        pinned = program.digest
        rows.add_program(pinned, program)
    got = ledger.claim(tx, fence, [row.id], claim)
    turn = TurnRecord(
        id=turn_of(row.id),
        session=row.session,
        work=row.id,
        program=pinned,
        opened_at_head=session.head,
        drives=len(got),
        claim=claim if got else None,
    )
    rows.put_work(msgspec.structs.replace(row, state="accepted", turn=turn.id, program=pinned))
    rows.open_turn(session, turn)
    return turn


def _picked_up(
    tx: Transaction, rows: RuntimeRows, turn_id: str, fence: Fence, claim: str, now: int
) -> TurnRecord | None:
    """An open turn under its new claim; None if it cannot be claimed, or waits.

    Pick-ups are counted anew once something was recorded or answered.
    """
    turn = rows.turn(turn_id)
    if turn is None:
        raise RecordMissing(record=f"turn {turn_id}")
    if turn.waits:
        if not may_go_on(rows, turn, now):
            return None
        turn = go_on(rows, turn, now)
    if not ledger.claim(tx, fence, [turn.work], claim):
        return None
    if turn.claim != claim:
        recorded = sum(entry.counts for entry in rows.journal(turn.id).values())
        recorded += answered(rows, turn)
        drives = turn.drives + 1 if recorded == turn.recorded else 1
        turn = msgspec.structs.replace(turn, claim=claim, drives=drives, recorded=recorded)
        rows.put_turn(turn)
    return turn


def _assignment(rows: RuntimeRows, turn: TurnRecord) -> Assignment:
    row, program = rows.work(turn.work), rows.program(turn.program)
    assert row is not None, "a turn's work exists"
    if program is None:
        raise RecordMissing(record=f"program {turn.program}")
    return Assignment(
        turn=turn,
        opening=msgspec.convert(row.content, UserMessage),
        program=program,
        head=turn.opened_at_head,
        journal=tuple(rows.journal(turn.id).values()),
        waits=tuple(rows.waits_of_turn(turn.id)),
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

    Repeating it changes nothing. An outcome that is recorded stays; a late other one is
    dropped. Of a turn that is over nothing is recorded any more.

    Raises:
        what `lane.held` raises; ReplayMismatch: an intent of the same key asked for other things.
    """
    if _open_here(tx, rows, turn_id, fence) is None:
        return
    point("journal:read")
    known = rows.journal(turn_id)
    entries = _outcomes(known, turn_id, outcomes)
    entries += _intents(known, turn_id, fence, intents)
    rows.put_entries(turn_id, entries)


def _open_here(tx: Transaction, rows: RuntimeRows, turn_id: str, fence: Fence) -> TurnRecord | None:
    """The turn, if it is open. Raises what `lane.held` raises, and TurnMissing."""
    ledger.hold_lane(tx, fence)
    turn = rows.turn(turn_id)
    if turn is None:
        raise TurnMissing(turn=turn_id)
    return None if turn.over else turn


def _outcomes(
    known: Mapping[str, Journaled], turn: str, outcomes: Sequence[tuple[str, Outcome]]
) -> list[Journaled]:
    """The entries that outcomes complete."""
    entries = []
    for key, outcome in outcomes:
        entry = known.get(key)
        if entry is None:
            raise RecordMissing(record=f"effect {key} of turn {turn}")
        if not entry.over:
            entries.append(msgspec.structs.replace(entry, outcome=outcome))
    return entries


def _intents(
    known: Mapping[str, Journaled], turn: str, fence: Fence, intents: Sequence[Effect]
) -> list[Journaled]:
    """The entries of effects that are about to be started under this fence."""
    entries = []
    for effect in intents:
        entry = known.get(effect.key)
        if entry is not None and entry.request_hash != effect.request_hash:
            raise ReplayMismatch(turn=turn, key=effect.key)
        if entry is None or not entry.over:
            entries.append(_entry(effect, fence, None))
    return entries


def _entry(effect: Effect, fence: Fence, outcome: Outcome | None) -> Journaled:
    return Journaled(
        key=effect.key,
        request_hash=effect.request_hash,
        generation=fence.generation,
        token=fence.token.secret,
        outcome=outcome,
    )


def accept(
    tx: Transaction,
    rows: RuntimeRows,
    turn_id: str,
    fence: Fence,
    outcomes: Sequence[tuple[str, Outcome]],
    boundary: Effect,
    otherwise: Sequence[Effect] = (),
) -> Outcome:
    """Record outcomes, and take in what waits for a boundary, with its journal row; if nothing
    does, the intents of what comes next `otherwise`. Asked again, the same inputs.

    Raises what `journal` raises.
    """
    turn = _open_here(tx, rows, turn_id, fence)
    if turn is None:
        return NOTHING
    known = rows.journal(turn_id)
    entries = _outcomes(known, turn_id, outcomes)
    entry = known.get(boundary.key)
    outcome = None if entry is None else entry.outcome
    point("accept:read")
    if outcome is None:
        outcome = _taken_in(rows, turn, boundary)
        entries.append(_entry(boundary, fence, outcome))
    if not outcome.value:
        entries += _intents(known, turn_id, fence, otherwise)
    rows.put_entries(turn_id, entries)
    return outcome


def crossed(
    tx: Transaction,
    rows: RuntimeRows,
    turn: TurnRecord,
    fence: Fence | None,
    outcomes: Sequence[tuple[str, Outcome]],
    boundary: Effect,
) -> Outcome:
    """What a turn takes in at its last boundary before it commits, if anything.

    Whoever lost the lane and not the claim takes nothing more in. What was taken in before
    counts, whoever took it.
    """
    entry = rows.journal(turn.id).get(boundary.key)
    if entry is not None and entry.outcome is not None:
        return entry.outcome
    if fence is None or not _holds(tx, fence) or not _waiting_at(rows, turn, _place(boundary)):
        return NOTHING
    return accept(tx, rows, turn.id, fence, outcomes, boundary)


def _holds(tx: Transaction, fence: Fence) -> bool:
    try:
        ledger.hold_lane(tx, fence)
    except Refused:
        return False
    return True


def _taken_in(rows: RuntimeRows, turn: TurnRecord, boundary: Effect) -> Outcome:
    """Accept what waits for this boundary into the turn."""
    value: list[Json] = []
    for row in _waiting_at(rows, turn, _place(boundary)):
        rows.put_work(msgspec.structs.replace(row, state="accepted", turn=turn.id))
        message = msgspec.convert(row.content, UserMessage)
        value.append(plain(Accepted(work=row.id, message=message)))
    return Outcome(status="ok", value=value) if value else NOTHING


def _place(boundary: Effect) -> Boundary:
    found: Boundary = boundary.request["boundary"]
    return found


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
    if turn.claim is None and not turn.over:
        return "handed_back"
    if turn.claim != claim or turn.over:
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
