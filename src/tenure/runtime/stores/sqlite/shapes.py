"""How the runtime's records lie in SQLite's columns, and back. What does not parse is an error.

Positions follow the queries beside this file.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

import msgspec

from tenure.kernel.errors import RecordUnreadable
from tenure.kernel.stores.sqlite.connection import Value
from tenure.runtime.model.effect import Journaled
from tenure.runtime.model.message import (
    AssistantMessage,
    Attachment,
    Message,
    ToolMessage,
    UserMessage,
)
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import TurnEnd, TurnRecord
from tenure.runtime.model.wait import WaitRow
from tenure.runtime.model.work import ActiveTurn, WorkRow, WorkState, turn_of

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


def text(value: Any) -> str:
    """A value as JSON text."""
    return _encode(value).decode()


class _Json(Generic[T]):
    """Reads one type from JSON text, and says which record it was when it cannot."""

    def __init__(self, kind: type[T], noun: str) -> None:
        self._decoder = msgspec.json.Decoder(kind)
        self._noun = noun

    def __call__(self, column: Any) -> T:
        try:
            return self._decoder.decode(column)
        except (msgspec.MsgspecError, TypeError, UnicodeError) as error:
            raise RecordUnreadable(record=self._noun, reason=str(error)) from error


class _Call(msgspec.Struct, frozen=True, array_like=True):
    id: str
    name: str
    arguments: Any = None


class _User(msgspec.Struct, frozen=True, array_like=True, tag="u"):
    text: str
    attachments: tuple[Attachment, ...] = ()


class _Assistant(msgspec.Struct, frozen=True, array_like=True, tag="a"):
    text: str
    calls: tuple[_Call, ...] = ()
    stopped: str | None = None


class _Adopted(msgspec.Struct, frozen=True, array_like=True, tag="g"):
    text: str
    calls: tuple[_Call, ...] = ()
    stopped: str | None = None
    kept: Any = None


class _Tool(msgspec.Struct, frozen=True, array_like=True, tag="t"):
    call: str
    name: str
    status: str
    content: str


#: Messages as they lie in the table: fields by position, new ones come last. There are more of
#: them than of anything else, and names of fields would be a tenth of all that is stored.
_PACKED: dict[type, type[msgspec.Struct]] = {
    UserMessage: _User,
    AssistantMessage: _Assistant,
    ToolMessage: _Tool,
}
_UNPACKED = {packed: message for message, packed in _PACKED.items()} | {_Adopted: AssistantMessage}
_packed_of = _Json(cast("type[Any]", _User | _Assistant | _Adopted | _Tool), "a message")
_opening_of = _Json(cast("type[Message]", Message), "a message")


def packed(message: Message) -> str:
    """A message as it lies in its table."""
    of_adopted = isinstance(message, AssistantMessage) and message.kept is not None
    shape = _Adopted if of_adopted else _PACKED[type(message)]
    return text(msgspec.convert(message, shape, from_attributes=True))


def message_of(body: str) -> Message:
    """A message from its table, or from the content of the work that it is."""
    if body.startswith("{"):
        return _opening_of(body)
    found = _packed_of(body)
    try:
        message: Message = msgspec.convert(found, _UNPACKED[type(found)], from_attributes=True)
    except msgspec.ValidationError as error:
        raise RecordUnreadable(record="a message", reason=str(error)) from error
    return message


program_of = _Json(Program, "a program")
entries_of = _Json(list[Journaled], "a journal")
_ending = _Json(TurnEnd, "the end of a turn")
_settings = _Json(dict[str, Any], "the settings of a session")
_asked = _Json(cast("type[Any]", Any), "what a wait asks")
_answer = _Json(cast("type[Any]", Any), "the answer of a wait")
_content = _Json(cast("type[Any]", Any), "the content of work")


def _checked(kind: type[T], values: dict[str, Any]) -> T:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        noun = f"a {kind.__name__} {values['id']}"
        raise RecordUnreadable(record=noun, reason=str(error)) from error


def session_of(row: Sequence[Any]) -> SessionRecord:
    """A session."""
    session, agent, host, created, head, settings, deleted, open_turn = row
    values = {
        "id": session,
        "agent": agent,
        "host": host,
        "created_wall_ns": created,
        "head": head,
        "settings": _settings(settings),
        "deleted": bool(deleted),
        "open_turn": open_turn,
    }
    return _checked(SessionRecord, values)


def session_columns(session: SessionRecord) -> tuple[Value, ...]:
    """The columns of a new session."""
    names = (session.id, session.agent, session.host, session.created_wall_ns)
    return (*names, *session_changes(session))


def session_changes(session: SessionRecord) -> tuple[Value, ...]:
    """What changes of a session."""
    return (session.head, text(session.settings), int(session.deleted), session.open_turn)


_WORK = (
    "id",
    "session",
    "sequence",
    "kind",
    "content",
    "content_hash",
    "source_key",
    "available_at",
    "state",
    "program",
    "active_turn",
    "active_boundary",
    "turn",
    "cancelled_wall_ns",
)

SESSION, CONTENT, PROGRAM = (_WORK.index(name) for name in ("session", "content", "program"))

#: Numbers, so that a row does not grow when it moves on.
_STATES: dict[WorkState, int | None] = {
    "pending": 1,
    "accepted": 0,
    "cancelled": 2,
    "waiting": 3,
    "completed": None,
}
_STATE_OF = {number: state for state, number in _STATES.items()}


def work_of_row(row: Sequence[Any], session: str | None, program: str | None) -> WorkRow:
    """A row of work, of this session and pinned to this program."""
    values = dict(zip(_WORK, row, strict=True)) | {"session": session, "program": program}
    turn, boundary = values.pop("active_turn"), values.pop("active_boundary")
    values["content"] = _content(values["content"])
    values["content_hash"] = values["content_hash"].hex()
    values["state"] = _STATE_OF.get(values["state"], values["state"])
    if values["turn"] is None and values["state"] in ("accepted", "waiting", "completed"):
        values["turn"] = turn_of(values["id"])
    values["active"] = None if turn is None else ActiveTurn(turn=turn, boundary=boundary)
    return _checked(WorkRow, values)


def work_changes(row: WorkRow, program: int | None) -> tuple[Value, ...]:
    """What changes of a row of work. That it became a turn of its own goes without saying."""
    active = row.active
    return (
        _STATES[row.state],
        program,
        None if active is None else active.turn,
        None if active is None else active.boundary,
        None if row.turn == turn_of(row.id) else row.turn,
        row.cancelled_wall_ns,
    )


def work_columns(
    row: WorkRow, session: int, content: str, program: int | None
) -> tuple[Value, ...]:
    """The columns of new work."""
    said = (content, bytes.fromhex(row.content_hash), row.source_key, row.available_at)
    return (row.sequence, row.id, session, row.kind, *said, *work_changes(row, program))


def wait_of_row(row: Sequence[Any]) -> WaitRow:
    """A wait."""
    *plain_columns, blocking, word, value, resolved = row
    wait, session, turn, name, asked, created, due = plain_columns
    values = {
        "id": wait,
        "session": session,
        "turn": turn,
        "name": name,
        "asked": _asked(asked),
        "created_wall_ns": created,
        "due_at": due,
        "blocking": bool(blocking),
        "resolution": None if word is None else {"word": word, "value": _answer(value)},
        "resolved_wall_ns": resolved,
    }
    return _checked(WaitRow, values)


def wait_columns(wait: WaitRow, session: int, turn: int) -> tuple[Value, ...]:
    """The columns of a new wait."""
    said = (wait.name, text(wait.asked), wait.created_wall_ns, wait.due_at)
    return (wait.id, session, turn, *said, *wait_changes(wait))


def wait_changes(wait: WaitRow) -> tuple[Value, ...]:
    """What changes of a wait."""
    answer = wait.resolution
    said = (None, None) if answer is None else (answer.word, text(answer.value))
    return (int(wait.blocking), *said, wait.resolved_wall_ns)


_END_DEFAULTS = [field.default for field in msgspec.structs.fields(TurnEnd)]


def ending_of(end: TurnEnd) -> str:
    """How a turn ended, without what it says by default."""
    values = msgspec.to_builtins(end)
    for default in reversed(_END_DEFAULTS):
        if values[-1] != default or type(values[-1]) is not type(default):
            break
        values.pop()
    return text(values)


def turn_of_row(row: Sequence[Any]) -> TurnRecord:
    """A turn: the claim on it is its session's as long as it is open."""
    session, work, program, opened, drives, recorded, claim, state, *rest = row
    receipt, committed, ending = rest
    values = {
        "id": turn_of(str(work)),
        "session": session,
        "work": work,
        "program": program,
        "opened_at_head": opened,
    }
    if ending is None:
        waits = state == _STATES["waiting"]
        values |= {"drives": drives, "recorded": recorded, "claim": claim, "waits": waits}
    else:
        end = _ending(ending)
        values |= {"receipt": receipt.hex(), "committed_wall_ns": committed, "end": end}
    return _checked(TurnRecord, values)
