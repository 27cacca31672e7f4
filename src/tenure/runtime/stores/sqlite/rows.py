"""The runtime's rows in SQLite."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

import apsw
import msgspec

from tenure.kernel.errors import RecordUnreadable
from tenure.kernel.store import Transaction
from tenure.kernel.stores.sqlite.connection import Value
from tenure.kernel.stores.sqlite.connection import run as execute
from tenure.kernel.stores.sqlite.known import Known
from tenure.kernel.stores.sqlite.lines import KERNEL_LINE, Line
from tenure.kernel.stores.sqlite.statements import Statements, beside
from tenure.kernel.stores.sqlite.store import SqliteTransaction
from tenure.runtime.model.effect import Journaled, Outcome
from tenure.runtime.model.message import Message
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import TurnRecord, TurnResult
from tenure.runtime.model.work import OVER, ActiveTurn, Boundary, WorkRow

RUNTIME_LINE = Line("runtime", beside(__file__, "migrations"), 1)
LINES = (KERNEL_LINE, RUNTIME_LINE)

_RUNTIME = Statements(beside(__file__, "queries"))
_ALL = -1  #: SQLite's word for no limit
_HIGHEST = ("highest sequence",)
_LARGE = 16 * 1024  #: characters of content that are not kept in memory while they wait
_UNREAD = object()

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


class _Json(Generic[T]):
    """Reads one type from JSON text, and says which record it was when it cannot."""

    def __init__(self, kind: type[T], noun: str) -> None:
        self._decoder = msgspec.json.Decoder(kind)
        self._noun = noun

    def __call__(self, text: Any) -> T:
        try:
            return self._decoder.decode(text)
        except (msgspec.MsgspecError, TypeError, UnicodeError) as error:
            raise RecordUnreadable(record=self._noun, reason=str(error)) from error


_message = _Json(cast("type[Message]", Message), "a message")
_program = _Json(Program, "a program")
_outcome = _Json(Outcome, "an outcome")
_result = _Json(TurnResult, "the result of a turn")
_settings = _Json(dict[str, Any], "the settings of a session")
_content = _Json(cast("type[Any]", Any), "the content of work")


class SqliteRuntimeRows:
    """`tenure.runtime.store.RuntimeRows` over the connection of an open transaction."""

    def __init__(self, connection: apsw.Connection, known: Known) -> None:
        self._connection = connection
        self._known = known.rows

    # sessions

    def session(self, session: str) -> SessionRecord | None:
        key = ("session", session)
        if key not in self._known:
            rows = self._rows("read_session", {"id": session})
            self._known[key] = _session_of(rows[0]) if rows else None
        found: SessionRecord | None = self._known[key]
        return found

    def put_session(self, session: SessionRecord) -> None:
        row = _fields(session)
        row["settings"] = _text(session.settings)
        row["deleted"] = int(session.deleted)
        self._rows("put_session", row)
        self._known["session", session.id] = session

    def add_messages(
        self, session: str, after: int, messages: Sequence[Message], turn: str
    ) -> None:
        for number, message in enumerate(messages, after + 1):
            self._rows(
                "add_message",
                {"session": session, "number": number, "turn": turn, "body": _text(message)},
            )

    def messages(self, session: str, after: int, limit: int | None) -> list[Message]:
        where: dict[str, Value] = {
            "session": session,
            "after": after,
            "limit": _ALL if limit is None else limit,
        }
        return [_message(row[0]) for row in self._rows("list_messages", where)]

    def turn_starts(self, session: str, turns: int) -> int:
        if turns < 1:
            return 0
        rows = self._rows("read_start_of_turns", {"session": session, "turns": turns})
        return int(rows[0][0]) if rows else 0

    def turn(self, turn: str) -> TurnRecord | None:
        key = ("turn", turn)
        if key not in self._known:
            rows = self._rows("read_turn", {"id": turn})
            self._known[key] = _turn_of(rows[0]) if rows else None
        found: TurnRecord | None = self._known[key]
        return found

    def put_turn(self, turn: TurnRecord) -> None:
        row = _fields(turn)
        row["result"] = None if turn.result is None else _text(turn.result)
        self._rows("put_turn", row)
        self._known["turn", turn.id] = turn
        if turn.result is not None:  # whatever is over is seldom asked for again
            for kind in ("turn", "journal", "cancel", "active"):
                self._known.pop((kind, turn.id), None)

    def cancel_marker(self, turn: str) -> str | None:
        key = ("cancel", turn)
        if key not in self._known:
            rows = self._rows("read_cancel", {"turn": turn})
            self._known[key] = str(rows[0][0]) if rows else None
        found: str | None = self._known[key]
        return found

    def mark_cancelled(self, turn: str, reason: str) -> str:
        self._rows("mark_cancelled", {"turn": turn, "reason": reason})
        self._known.pop(("cancel", turn), None)
        counts = self.cancel_marker(turn)
        assert counts is not None, "it was just marked"
        return counts

    def program(self, digest: str) -> Program | None:
        key = ("program", digest)
        if key not in self._known:
            rows = self._rows("read_program", {"digest": digest})
            self._known[key] = _program(rows[0][0]) if rows else None
        found: Program | None = self._known[key]
        return found

    def add_program(self, digest: str, program: Program) -> None:
        if self._known.get(("program", digest)) is None:
            self._rows("add_program", {"digest": digest, "body": _text(program)})
            self._known["program", digest] = program

    # work

    def work(self, work: str) -> WorkRow | None:
        key = ("work", work)
        if key not in self._known:
            self._known[key] = self._one_work("read_work", {"id": work})
        found: WorkRow | None = self._known[key]
        return found

    def by_source_key(self, session: str, key: str) -> WorkRow | None:
        return self._one_work("read_work_by_source_key", {"session": session, "key": key})

    def next_sequence(self) -> int:
        if _HIGHEST not in self._known:
            ((highest,),) = self._rows("read_highest_work_sequence", {})
            self._known[_HIGHEST] = int(highest)
        return int(self._known[_HIGHEST]) + 1

    def put_work(self, row: WorkRow) -> None:
        columns = _fields(row)
        del columns["active"]
        columns["content"] = _text(row.content)
        columns["active_turn"] = None if row.active is None else row.active.turn
        columns["active_boundary"] = None if row.active is None else row.active.boundary
        self._rows("put_work", columns)
        self._forget_active(self._known.get(("work", row.id), _UNREAD), row)
        self._known["work", row.id] = row
        if row.state in OVER or len(columns["content"]) > _LARGE:
            del self._known["work", row.id]
        if row.sequence > self._known.get(_HIGHEST, row.sequence):
            self._known[_HIGHEST] = row.sequence

    def _forget_active(self, before: object, row: WorkRow) -> None:
        """Forget what waits for open turns, as far as this row changes it."""
        if before is _UNREAD:
            for key in [key for key in self._known if key[0] == "active"]:
                del self._known[key]
        for one in (before, row):
            if isinstance(one, WorkRow) and one.active is not None:
                self._known.pop(("active", one.active.turn), None)

    def next_input(self, session: str, now: int) -> WorkRow | None:
        return self._one_work("read_next_input", {"session": session, "now": now})

    def active_inputs(self, session: str, turn: str, boundary: Boundary) -> list[WorkRow]:
        key = ("active", turn)
        if key not in self._known:
            where: dict[str, Value] = {"session": session, "turn": turn}
            rows = self._rows("list_active_inputs", where)
            self._known[key] = [_work_of(row) for row in rows]
        found: list[WorkRow] = self._known[key]
        return [row for row in found if row.active is not None and row.active.boundary == boundary]

    def waiting(self, session: str, limit: int | None) -> list[WorkRow]:
        where: dict[str, Value] = {"session": session, "limit": _ALL if limit is None else limit}
        return [_work_of(row) for row in self._rows("list_waiting", where)]

    def works_of(self, session: str) -> list[str]:
        return [str(row[0]) for row in self._rows("list_works_of_session", {"session": session})]

    def sessions_to_drive(
        self, now: int, agents: Collection[str] | None, host: str | None, after: int, limit: int
    ) -> list[tuple[str, int]]:
        where: dict[str, Value] = {
            "now": now,
            "agents": None if agents is None else _text(sorted(agents)),
            "host": host,
            "after": after,
            "limit": limit,
        }
        rows = self._rows("list_sessions_to_drive", where)
        return [(str(session), int(sequence)) for session, sequence in rows]

    # journal

    def journal(self, turn: str) -> list[Journaled]:
        return list(self._journal(turn).values())

    def entry(self, turn: str, key: str) -> Journaled | None:
        return self._journal(turn).get(key)

    def put_entry(self, turn: str, entry: Journaled) -> None:
        row = _fields(entry)
        row["outcome"] = None if entry.outcome is None else _text(entry.outcome)
        self._rows("put_entry", {**row, "turn": turn})
        self._journal(turn)[entry.key] = entry

    def _journal(self, turn: str) -> dict[str, Journaled]:
        """A turn's journal by key, in its order; a few rows at most."""
        key = ("journal", turn)
        if key not in self._known:
            entries = [_entry_of(row) for row in self._rows("list_journal", {"turn": turn})]
            self._known[key] = {entry.key: entry for entry in entries}
        found: dict[str, Journaled] = self._known[key]
        return found

    # housekeeping

    def open_turns(self, limit: int) -> list[TurnRecord]:
        return [_turn_of(row) for row in self._rows("list_open_turns", {"limit": limit})]

    def busy_sessions(self, after: str, limit: int) -> list[str]:
        rows = self._rows("list_busy_sessions", {"after": after, "limit": limit})
        return [str(row[0]) for row in rows]

    def sessions(self, after: str, limit: int) -> list[SessionRecord]:
        rows = self._rows("list_sessions", {"after": after, "limit": limit})
        return [_session_of(row) for row in rows]

    def remove_journals(self, before_wall_ns: int, limit: int) -> int:
        where: dict[str, Value] = {"before": before_wall_ns, "limit": limit}
        turns = self._rows("list_turns_with_old_journals", where)
        for (turn,) in turns:
            self._rows("remove_journal", {"turn": turn})
            self._known.pop(("journal", turn), None)
        return len(turns)

    def remove_sessions(self, sessions: Iterable[str]) -> None:
        self._known.clear()
        for session in sessions:
            for statement in (
                "remove_journals_of_session",
                "remove_cancels_of_session",
                "remove_turns_of_session",
                "remove_work_of_session",
                "remove_messages_of_session",
            ):
                self._rows(statement, {"session": session})

    def _rows(self, statement: str, where: Mapping[str, Value]) -> list[tuple[Any, ...]]:
        return list(execute(self._connection, _RUNTIME[statement], where))

    def _one_work(self, statement: str, where: Mapping[str, Value]) -> WorkRow | None:
        rows = self._rows(statement, where)
        return _work_of(rows[0]) if rows else None


def _fields(record: msgspec.Struct) -> dict[str, Any]:
    return msgspec.structs.asdict(record)


def _text(value: Any) -> str:
    return _encode(value).decode()


def _checked(kind: type[T], values: dict[str, Any]) -> T:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        noun = f"a {kind.__name__} {next(iter(values.values()))}"
        raise RecordUnreadable(record=noun, reason=str(error)) from error


def _session_of(row: Sequence[Any]) -> SessionRecord:
    session, agent, host, head, open_turn, settings, created, deleted = row
    values = {
        "id": session,
        "agent": agent,
        "host": host,
        "head": head,
        "open_turn": open_turn,
        "settings": _settings(settings),
        "created_wall_ns": created,
        "deleted": bool(deleted),
    }
    return _checked(SessionRecord, values)


_TURN = [
    "id",
    "session",
    "work",
    "program",
    "state",
    "opened_at_head",
    "drives",
    "claim",
    "receipt",
    "committed_wall_ns",
    "result",
]


def _turn_of(row: Sequence[Any]) -> TurnRecord:
    values = dict(zip(_TURN, row, strict=True))
    if values["result"] is not None:
        values["result"] = _result(values["result"])
    return _checked(TurnRecord, values)


def _work_of(row: Sequence[Any]) -> WorkRow:
    values = dict(zip(_WORK, row, strict=True))
    turn, boundary = values.pop("active_turn"), values.pop("active_boundary")
    values["content"] = _content(values["content"])
    values["active"] = None if turn is None else ActiveTurn(turn=turn, boundary=boundary)
    return _checked(WorkRow, values)


_WORK = [
    "id",
    "session",
    "sequence",
    "kind",
    "content",
    "content_hash",
    "source_key",
    "program",
    "active_turn",
    "active_boundary",
    "available_at",
    "state",
    "turn",
]


def _entry_of(row: Sequence[Any]) -> Journaled:
    key, request_hash, generation, token, outcome = row
    return Journaled(
        key=key,
        request_hash=request_hash,
        generation=generation,
        token=token,
        outcome=None if outcome is None else _outcome(outcome),
    )


def sqlite_runtime_rows(tx: Transaction) -> SqliteRuntimeRows:
    """The runtime's rows of a transaction of the SQLite backend."""
    of = cast(SqliteTransaction, tx)
    return SqliteRuntimeRows(of.connection, of.known)
