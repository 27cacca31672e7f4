"""Admission: how work enters a session. Functions over an open transaction.

The host may admit in a transaction of its own, so that its row and ours commit together.
"""

from collections.abc import Collection
from typing import Literal

import msgspec

from tenure.kernel.points import point
from tenure.runtime.errors import (
    SessionBusy,
    SessionDeleted,
    SessionMissing,
    TurnMissing,
    WiringError,
    WorkConflict,
)
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.work import (
    BOUNDARIES,
    ActiveTurn,
    NewWork,
    WorkRow,
    is_turn,
    turn_of,
    work_of,
)
from tenure.runtime.store import RuntimeRows

OnBusy = Literal["wait", "fail"]


def present(rows: RuntimeRows, session: str) -> SessionRecord:
    """The session, if there is one that is not deleted.

    Raises: SessionMissing, SessionDeleted.
    """
    found = rows.session(session)
    if found is None:
        raise SessionMissing(session=session)
    if found.deleted:
        raise SessionDeleted(session=session)
    return found


def create(rows: RuntimeRows, wanted: SessionRecord) -> SessionRecord:
    """Create a session, or answer with the one that is there.

    Raises: SessionDeleted: the id was used before.
    """
    found = rows.session(wanted.id)
    if found is None:
        rows.put_session(wanted)
        return wanted
    if found.deleted:
        raise SessionDeleted(session=wanted.id)
    return found


def admit(rows: RuntimeRows, new: NewWork, program: Program | None, on_busy: OnBusy) -> WorkRow:
    """Admit work; asked again with the same id or source key and content, the row as it is now.

    What is meant for a turn that is over by now is the next turn's input.

    Raises:
        SessionMissing, SessionDeleted: there is nothing to admit to.
        WiringError: the program is another agent's than the session.
        WorkConflict: the key was used with other content.
        SessionBusy: a turn is open or input is waiting, and `on_busy` is "fail".
        TurnMissing: it is meant for a turn that this session never had.
    """
    session = present(rows, new.session)
    known = rows.work(new.id)
    if known is None and new.source_key is not None:
        known = rows.by_source_key(new.session, new.source_key)
    if known is not None:
        if known.content_hash != new.content_hash:
            raise WorkConflict(key=new.source_key or new.id, session=new.session)
        return known
    if on_busy == "fail":
        _refuse_busy(rows, session)
    row = WorkRow(
        id=new.id,
        session=new.session,
        sequence=rows.next_sequence(),
        kind=new.kind,
        content=new.content,
        content_hash=new.content_hash,
        source_key=new.source_key,
        program=_pinned(rows, session, program),
        active=new.active,
        available_at=new.available_at,
    )
    if new.active is not None:
        row = _addressed(rows, row, new.active)
    point("admit:read")
    rows.put_work(row)
    return row


def _pinned(rows: RuntimeRows, session: SessionRecord, program: Program | None) -> str | None:
    if program is None:
        return None
    if program.agent != session.agent:
        raise WiringError(
            what=f"session {session.id!r} belongs to agent {session.agent!r}, "
            f"not {program.agent!r}",
            next="admit to it as that agent",
        )
    digest = program.digest
    rows.add_program(digest, program)
    return digest


def _addressed(rows: RuntimeRows, row: WorkRow, active: ActiveTurn) -> WorkRow:
    """The row as it is meant, or as next_turn input if its turn is over.

    Raises: TurnMissing: the session never had that turn.
    """
    if not is_turn(active.turn):
        raise TurnMissing(turn=active.turn)
    turn = rows.turn(active.turn)
    if turn is not None:
        owner, over, program = turn.session, turn.over, turn.program
    else:
        work = rows.work(work_of(active.turn))
        if work is None:
            raise TurnMissing(turn=active.turn)
        owner, over, program = work.session, work.state != "pending", work.program or ""
    if owner != row.session:
        raise TurnMissing(turn=active.turn)
    return freed(row, program) if over else row


def freed(row: WorkRow, program: str) -> WorkRow:
    """Input that was meant for a turn, as input of the next one."""
    return msgspec.structs.replace(row, active=None, program=row.program or program or None)


def free_what_was_left_out(
    rows: RuntimeRows, session: str, turn: str, program: str, told: Collection[str]
) -> None:
    """Let what a turn took in and does not tell of be the next turn's input after all."""
    for row in rows.taken_in(session, turn):
        if row.id not in told:
            again = msgspec.structs.replace(row, state="pending", turn=None)
            rows.put_work(freed(again, program))


def free_inputs_of(rows: RuntimeRows, session: str, turn: str, program: str) -> None:
    """Let what still waits for a turn that is over be the next turn's input."""
    for boundary in BOUNDARIES:
        for row in rows.active_inputs(session, turn, boundary):
            rows.put_work(freed(row, program))


def _refuse_busy(rows: RuntimeRows, session: SessionRecord) -> None:
    if session.open_turn is not None:
        raise SessionBusy(session=session.id, what=f"turn {session.open_turn}")
    waiting = [row for row in rows.waiting(session.id, None) if row.kind == "input"]
    if waiting:
        raise SessionBusy(session=session.id, what=f"{len(waiting)} waiting inputs")


def cancel_work(rows: RuntimeRows, work: str, wall_ns: int) -> WorkRow | None:
    """Take back work that nothing has started on; the row as it is now, None if there is none."""
    row = rows.work(work)
    if row is None or row.state != "pending":
        return row
    cancelled = msgspec.structs.replace(row, state="cancelled", cancelled_wall_ns=wall_ns)
    point("cancel_work:read")
    rows.put_work(cancelled)
    free_inputs_of(rows, row.session, turn_of(row.id), row.program or "")
    return cancelled
