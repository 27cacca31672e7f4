"""Retelling: what the store can tell of what happened in a turn. Functions over a transaction."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from tenure.runtime.admission import present
from tenure.runtime.errors import TurnMissing
from tenure.runtime.happenings import Story, Told, ordered, retold
from tenure.runtime.model.effect import Journaled, Outcome
from tenure.runtime.model.message import Message
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import TurnRecord, TurnResult
from tenure.runtime.model.wait import OpenWait, shown, signed
from tenure.runtime.model.work import is_turn, work_of
from tenure.runtime.store import RuntimeRows


class Look(NamedTuple):
    """One look at a turn: what its journal has more than before, or everything once it is over."""

    session: str
    written: Sequence[Sequence[Journaled]] = ()
    waits: tuple[OpenWait, ...] = ()
    over: Told | None = None
    result: TurnResult | None = None  #: of a turn that is over
    journaled: bool = True  #: whether there is more to tell of it than its end


def look_at(
    rows: RuntimeRows, turn_id: str, session: str | None, known: int, secret: Callable[[], str]
) -> Look:
    """Look at a turn, of whose journal `known` puts are known. `session` is whose it was found to
    be before.

    Raises:
        TurnMissing: there is no such turn, and the work will never be one.
        SessionDeleted: it went with its session.
    """
    if session is not None:
        present(rows, session)
    row = rows.work(work_of(turn_id)) if is_turn(turn_id) else None
    if row is None or row.turn not in (None, turn_id):
        raise TurnMissing(turn=turn_id)
    turn = rows.turn(turn_id)
    if turn is None:
        return Look(row.session, over=Told() if row.state == "cancelled" else None)
    if not _journals(present(rows, turn.session)):
        return Look(row.session, over=Told() if turn.over else None, journaled=False)
    found = rows.waits_of_turn(turn_id)
    waits = tuple(shown(wait, signed(wait.id, secret())) for wait in found)
    if turn.over:
        return Look(row.session, over=_told(rows, turn, waits))
    return Look(row.session, rows.written(turn_id, known), waits)


def _told(rows: RuntimeRows, turn: TurnRecord, waits: Sequence[OpenWait]) -> Told:
    end = turn.end
    assert end is not None, "it is over"
    messages = rows.messages(turn.session, turn.opened_at_head, end.head - turn.opened_at_head)
    return retold(turn.id, end.order, messages, waits)


def order_of(
    rows: RuntimeRows,
    session: SessionRecord,
    turn: str,
    messages: Sequence[Message],
    outcomes: Sequence[tuple[str, Outcome]],
) -> str:
    """In which order it happened, as the end of a turn that is committed keeps it."""
    if not _journals(session):
        return ""
    waits = [shown(wait, wait.id) for wait in rows.waits_of_turn(turn)]
    known = rows.journal(turn)
    late = [
        msgspec.structs.replace(known[key], outcome=outcome)
        for key, outcome in outcomes
        if key in known
    ]
    story = Story(turn)
    try:
        told = [
            happening
            for entries in (*rows.written(turn, 0), late)
            for happening in story.tell(entries, waits)
        ]
    except msgspec.ValidationError:
        return ""  # no machine has read that answer either
    return ordered(turn, told, messages, waits)


def _journals(session: SessionRecord) -> bool:
    """Whether the effects of a session's turns are journaled."""
    return session.host != "inline"
