"""Admission: how work enters a session. Functions over an open transaction.

The host may admit in a transaction of its own, so that its row and ours commit together.
"""

from typing import Literal

import msgspec

from tenure.kernel.points import point
from tenure.kernel.store import Transaction
from tenure.runtime.errors import SessionBusy, SessionDeleted, SessionMissing, WorkConflict
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.work import NewWork, WorkRow
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


def admit(
    tx: Transaction, rows: RuntimeRows, new: NewWork, program: Program | None, on_busy: OnBusy
) -> WorkRow:
    """Admit work; asked again with the same id or source key and content, the row as it is now.

    Raises:
        SessionMissing, SessionDeleted: there is nothing to admit to.
        WorkConflict: the key was used with other content.
        SessionBusy: a turn is open or input is waiting, and `on_busy` is "fail".
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
        _refuse_busy(tx, rows, session)
    digest = None
    if program is not None:
        digest = program.digest
        rows.add_program(digest, program)
    row = WorkRow(
        id=new.id,
        session=new.session,
        sequence=rows.next_sequence(),
        kind=new.kind,
        content=new.content,
        content_hash=new.content_hash,
        source_key=new.source_key,
        program=digest,
        active=new.active,
        available_at=new.available_at,
    )
    point("admit:read")
    rows.put_work(row)
    return row


def _refuse_busy(tx: Transaction, rows: RuntimeRows, session: SessionRecord) -> None:
    if session.open_turn is not None:
        raise SessionBusy(session=session.id, what=f"turn {session.open_turn}")
    waiting = rows.waiting(session.id)
    if waiting:
        raise SessionBusy(session=session.id, what=f"{len(waiting)} waiting inputs")
    lane = tx.lanes.read(session.id)
    if lane is not None and lane.held:
        raise SessionBusy(session=session.id, what=f"{lane.executor}, who holds its lane")


def cancel_work(rows: RuntimeRows, work: str) -> WorkRow | None:
    """Take back work that nothing has started on; the row as it is now, None if there is none."""
    row = rows.work(work)
    if row is None or row.state != "pending":
        return row
    cancelled = msgspec.structs.replace(row, state="cancelled")
    point("cancel_work:read")
    rows.put_work(cancelled)
    return cancelled
