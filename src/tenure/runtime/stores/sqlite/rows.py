"""The runtime's rows in SQLite."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import Any, cast

import apsw
from msgspec import structs

from tenure.kernel.store import Transaction
from tenure.kernel.stores.sqlite.connection import Value
from tenure.kernel.stores.sqlite.connection import run as execute
from tenure.kernel.stores.sqlite.known import Known
from tenure.kernel.stores.sqlite.lines import KERNEL_LINE, Line
from tenure.kernel.stores.sqlite.statements import beside
from tenure.kernel.stores.sqlite.store import SqliteTransaction
from tenure.runtime.model.effect import Journaled
from tenure.runtime.model.json import plain
from tenure.runtime.model.message import Message
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.wait import WaitRow
from tenure.runtime.model.work import (
    OVER,
    Boundary,
    WorkRow,
    WorkState,
    is_turn,
    turn_of,
    work_of,
)
from tenure.runtime.stores.sqlite.guest_rows import ALL, RUNTIME, SqliteGuestRows
from tenure.runtime.stores.sqlite.shapes import (
    CONTENT,
    PROGRAM,
    SESSION,
    ending_of,
    entries_of,
    message_of,
    packed,
    program_of,
    session_changes,
    session_columns,
    session_of,
    text,
    turn_of_row,
    wait_changes,
    wait_columns,
    wait_of_row,
    work_changes,
    work_columns,
    work_of_row,
)

RUNTIME_LINE = Line("runtime", beside(__file__, "migrations"), 4)
LINES = (KERNEL_LINE, RUNTIME_LINE)

_LARGE = 16 * 1024  #: characters of content that are not kept in memory while they wait
_HIGHEST = ("highest sequence",)
#: What is known by the id of a turn.
_OF_A_TURN = ("turn", "journal", "sequence", "cancel", "waits")
_FEW = 32  #: rows of unfinished work of one session that are kept in memory


class _Journal:
    """A journal as it is stored, row by row, and what it comes to."""

    __slots__ = ("entries", "rows")

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self.rows: list[Sequence[Journaled]] = [entries_of(said) for (said,) in rows]
        self.entries = {entry.key: entry for row in self.rows for entry in row}


class SqliteRuntimeRows(SqliteGuestRows):
    """`tenure.runtime.store.RuntimeRows` over the connection of an open transaction."""

    def __init__(self, connection: apsw.Connection, known: Known) -> None:
        self._connection = connection
        self._known = known.rows

    # sessions

    def session(self, session: str) -> SessionRecord | None:
        key = ("session", session)
        if key not in self._known:
            rows = self._rows("read_session", (session,))
            self._known[key] = session_of(rows[0][:-1]) if rows else None
            self._known["session key", session] = rows[0][-1] if rows else None
        found: SessionRecord | None = self._known[key]
        return found

    def put_session(self, session: SessionRecord) -> None:
        key = self._key_of(session.id)
        if key is None:
            self._rows("add_session", session_columns(session))
            self._known["session key", session.id] = self._connection.last_insert_rowid()
        else:
            self._rows("put_session", (*session_changes(session), key))
        self._known["session", session.id] = session

    def _key_of(self, session: str) -> int | None:
        if ("session key", session) not in self._known:
            self._known.pop(("session", session), None)
            self.session(session)
        key: int | None = self._known["session key", session]
        return key

    def messages(self, session: str, after: int, limit: int | None) -> list[Message]:
        where = (self._key_of(session), after, ALL if limit is None else limit)
        return [message_of(row[0]) for row in self._rows("list_messages", where)]

    def turn_starts(self, session: str, turns: int) -> int:
        if turns < 1:
            return 0
        rows = self._rows("read_start_of_turns", (self._key_of(session), turns))
        return int(rows[0][0]) if rows else 0

    def turn(self, turn: str) -> TurnRecord | None:
        if not is_turn(turn):
            return None
        key = ("turn", turn)
        if key not in self._known:
            rows = self._rows("read_turn", (work_of(turn),))
            self._known[key] = turn_of_row(rows[0]) if rows else None
        found: TurnRecord | None = self._known[key]
        return found

    def open_turn(self, session: SessionRecord, turn: TurnRecord) -> None:
        changes = (turn.id, turn.drives, turn.recorded, turn.claim, self._key_of(session.id))
        self._rows("open_turn", changes)
        self._known["session", session.id] = structs.replace(session, open_turn=turn.id)
        self._known["turn", turn.id] = turn
        self._known["journal", turn.id] = _Journal([])
        self._known["waits", turn.id] = []

    def put_turn(self, turn: TurnRecord) -> None:
        work = self.work(turn.work)
        assert work is not None, "a turn's work exists"
        if turn.waits != (work.state == "waiting"):
            state: WorkState = "waiting" if turn.waits else "accepted"
            self.put_work(structs.replace(work, state=state))
        changes = (turn.drives, turn.recorded, turn.claim, self._key_of(turn.session))
        self._rows("put_turn", changes)
        self._known["turn", turn.id] = turn

    def end_turn(self, turn: TurnRecord, messages: Sequence[Message]) -> None:
        end, work = turn.end, self.work(turn.work)
        assert end is not None, "it is over"
        assert work is not None, "a turn's work exists"
        begins_with_work = [plain(message) for message in messages[:1]] == [work.content]
        place = (work.sequence, self._key_of(turn.session), turn.opened_at_head, end.head)
        receipt = bytes.fromhex(turn.receipt or "")
        self._rows(
            "end_turn",
            (*place, int(begins_with_work), receipt, turn.committed_wall_ns, ending_of(end)),
        )
        said = [(packed(message),) for message in messages[begins_with_work:]]
        self._connection.executemany(RUNTIME["add_message"], said)
        self._rows("remove_journal", (work.sequence,))
        for kind in _OF_A_TURN:  # whatever is over is seldom asked for again
            self._known.pop((kind, turn.id), None)

    def _sequence_of(self, turn: str) -> int:
        """What the rows of a turn are found by."""
        key = ("sequence", turn)
        if key not in self._known:
            row = self.work(work_of(turn))
            assert row is not None, "a turn's work exists"
            self._known[key] = row.sequence
        return int(self._known[key])

    def cancel_marker(self, turn: str) -> str | None:
        key = ("cancel", turn)
        if key not in self._known:
            rows = self._rows("read_cancel", (turn,))
            self._known[key] = str(rows[0][0]) if rows else None
        found: str | None = self._known[key]
        return found

    def mark_cancelled(self, turn: str, reason: str) -> str:
        self._rows("mark_cancelled", (turn, reason))
        self._known.pop(("cancel", turn), None)
        counts = self.cancel_marker(turn)
        assert counts is not None, "it was just marked"
        return counts

    def program(self, digest: str) -> Program | None:
        found: tuple[Program | None, int | None] = self._program(digest)
        return found[0]

    def _program(self, digest: str) -> tuple[Program | None, int | None]:
        key = ("program", digest)
        if key not in self._known:
            rows = self._rows("read_program", (digest,))
            self._known[key] = (program_of(rows[0][0]), rows[0][1]) if rows else (None, None)
        found: tuple[Program | None, int | None] = self._known[key]
        return found

    def add_program(self, digest: str, program: Program) -> None:
        if self.program(digest) is None:
            self._rows("add_program", (digest, text(program)))
            self._known["program", digest] = (program, self._connection.last_insert_rowid())

    # work

    def work(self, work: str) -> WorkRow | None:
        key = ("work", work)
        if key in self._known:
            found: WorkRow | None = self._known[key]
            return found
        rows = self._rows("read_work", (work,))
        row = self._work_of(rows[0]) if rows else None
        if row is None or len(rows[0][CONTENT]) <= _LARGE:
            self._known[key] = row
        return row

    def by_source_key(self, session: str, key: str) -> WorkRow | None:
        return self._one_work("read_work_by_source_key", (self._key_of(session), key))

    def next_sequence(self) -> int:
        if _HIGHEST not in self._known:
            ((highest,),) = self._rows("read_highest_work_sequence", ())
            self._known[_HIGHEST] = int(highest)
        return int(self._known[_HIGHEST]) + 1

    def put_work(self, row: WorkRow) -> None:
        before = self.work(row.id)
        kept = ("work", row.id) in self._known and row.state not in OVER
        program = None if row.program is None else self._program(row.program)[1]
        if before is None:
            key, content = self._key_of(row.session), text(row.content)
            assert key is not None, "there is no work without a session"
            self._rows("add_work", work_columns(row, key, content, program))
            kept = kept and len(content) <= _LARGE
        else:
            self._rows("put_work", (*work_changes(row, program), row.sequence))
        self._known["work", row.id] = row
        if not kept:
            del self._known["work", row.id]
        self._note_unfinished(row, kept)
        if row.sequence > self._known.get(_HIGHEST, row.sequence):
            self._known[_HIGHEST] = row.sequence

    def next_input(self, session: str, now: int) -> WorkRow | None:
        few = self._unfinished(session)
        if few is None:
            found = self._one_work("read_next_input", (self._key_of(session), now))
            if found is None:
                del self._known["unfinished", session]  # it may be little by now
            return found
        return next((row for row in few if _due(row, now)), None)

    def active_inputs(self, session: str, turn: str, boundary: Boundary) -> list[WorkRow]:
        meant = ((row, row.active) for row in self._meant_for(session, turn))
        return [
            row
            for row, active in meant
            if row.state == "pending" and active is not None and active.boundary == boundary
        ]

    def taken_in(self, session: str, turn: str) -> list[WorkRow]:
        return [row for row in self._meant_for(session, turn) if row.state == "accepted"]

    def _meant_for(self, session: str, turn: str) -> list[WorkRow]:
        """What is meant for an open turn, whether it was taken in yet or not."""
        few = self._unfinished(session)
        if few is None:
            rows = self._rows("list_active_inputs", (self._key_of(session), turn))
            return [self._work_of(row) for row in rows]
        return [row for row in few if row.active is not None and row.active.turn == turn]

    def _unfinished(self, session: str) -> list[WorkRow] | None:
        """What of a session's work is not over, in order; None if that is much."""
        key = ("unfinished", session)
        if key not in self._known:
            rows = self._rows("list_unfinished", (self._key_of(session), _FEW + 1))
            small = len(rows) <= _FEW and all(len(row[CONTENT]) <= _LARGE for row in rows)
            self._known[key] = [self._work_of(row) for row in rows] if small else None
        found: list[WorkRow] | None = self._known[key]
        return found

    def _note_unfinished(self, row: WorkRow, kept: bool) -> None:
        """Have what is known of unfinished work say what was just written."""
        key = ("unfinished", row.session)
        few: list[WorkRow] | None = self._known.get(key)
        if few is None:
            return
        others = [other for other in few if other.id != row.id]
        if row.state in OVER or row.state == "waiting":
            self._known[key] = others
        elif kept and len(others) < _FEW:
            self._known[key] = sorted([*others, row], key=lambda one: one.sequence)
        else:
            del self._known[key]

    def waiting(self, session: str, limit: int | None) -> list[WorkRow]:
        where = (self._key_of(session), ALL if limit is None else limit)
        return [self._work_of(row) for row in self._rows("list_waiting", where)]

    def sessions_to_drive(
        self, now: int, agents: Collection[str] | None, host: str | None, after: int, limit: int
    ) -> list[tuple[str, int]]:
        where: dict[str, Value] = {
            "now": now,
            "agents": None if agents is None else text(sorted(agents)),
            "host": host,
            "after": after,
            "limit": limit,
        }
        rows = execute(self._connection, RUNTIME["list_sessions_to_drive"], where)
        return [(str(session), int(cast(int, sequence))) for session, sequence in rows]

    # journal

    def journal(self, turn: str) -> dict[str, Journaled]:
        return self._journal(turn).entries

    def _journal(self, turn: str) -> _Journal:
        key = ("journal", turn)
        if key not in self._known:
            if self.work(work_of(turn)) is None:
                return _Journal([])
            self._known[key] = _Journal(self._rows("list_journal", (self._sequence_of(turn), 0)))
        found: _Journal = self._known[key]
        return found

    def put_entries(self, turn: str, entries: Sequence[Journaled]) -> None:
        if not entries:
            return
        journal = self._journal(turn)
        self._rows("add_entries", (self._sequence_of(turn), len(journal.rows), text(entries)))
        journal.rows.append(tuple(entries))
        journal.entries.update((entry.key, entry) for entry in entries)

    def written(self, turn: str, after: int) -> list[Sequence[Journaled]]:
        if ("journal", turn) in self._known:
            return self._journal(turn).rows[after:]
        if self.work(work_of(turn)) is None:
            return []
        rows = self._rows("list_journal", (self._sequence_of(turn), after))
        return [entries_of(said) for (said,) in rows]

    # waits

    def wait(self, wait: str) -> WaitRow | None:
        rows = self._rows("read_wait", (wait,))
        return wait_of_row(rows[0]) if rows else None

    def add_wait(self, wait: WaitRow) -> None:
        session, turn = self._key_of(wait.session), self._sequence_of(wait.turn)
        assert session is not None, "there is no wait without a session"
        self._rows("add_wait", wait_columns(wait, session, turn))
        self._known.pop(("waits", wait.turn), None)

    def put_wait(self, wait: WaitRow) -> None:
        self._rows("put_wait", (*wait_changes(wait), wait.id))
        self._known.pop(("waits", wait.turn), None)

    def waits_of_turn(self, turn: str) -> list[WaitRow]:
        key = ("waits", turn)
        if key not in self._known:
            rows = self._rows("list_waits_of_turn", (self._sequence_of(turn),))
            self._known[key] = [wait_of_row(row) for row in rows]
        found: list[WaitRow] = self._known[key]
        return found

    def open_waits(self, session: str | None, after: str, limit: int) -> list[WaitRow]:
        if session is None:
            rows = self._rows("list_open_waits", (after, limit))
        else:
            where = (self._key_of(session), after, limit)
            rows = self._rows("list_open_waits_of_session", where)
        return [wait_of_row(row) for row in rows]

    def secret(self) -> str:
        rows = self._rows("read_secret", ())
        if not rows:
            self._rows("add_secret", (secrets.token_hex(32),))
            rows = self._rows("read_secret", ())
        return str(rows[0][0])

    # housekeeping

    def open_turns(self, limit: int) -> list[TurnRecord]:
        return [turn_of_row(row) for row in self._rows("list_open_turns", (limit,))]

    def busy_sessions(self, after: str, limit: int) -> list[str]:
        return [str(row[0]) for row in self._rows("list_busy_sessions", (after, limit))]

    def sessions(self, after: str, limit: int) -> list[SessionRecord]:
        return [session_of(row[:-1]) for row in self._rows("list_sessions", (after, limit))]

    def remove_cancelled(self, before_wall_ns: int, limit: int) -> int:
        gone = self._rows("remove_cancelled", (before_wall_ns, limit))
        for (work,) in gone:
            self._rows("remove_cancel", (turn_of(work),))
        self._known.clear()
        return len(gone)

    def remove_sessions(self, sessions: Iterable[str]) -> None:
        for session in sessions:
            key = self._key_of(session)
            for statement in (
                "remove_waits_of_session",
                "remove_journals_of_session",
                "remove_cancels_of_session",
                "remove_messages_of_session",
                "remove_turns_of_session",
                "remove_work_of_session",
            ):
                self._rows(statement, (key,))
            self._remove_guest(key)
        self._known.clear()

    def _one_work(self, statement: str, where: Sequence[Value]) -> WorkRow | None:
        rows = self._rows(statement, where)
        return self._work_of(rows[0]) if rows else None

    def _work_of(self, row: tuple[Any, ...]) -> WorkRow:
        program = row[PROGRAM]
        return work_of_row(
            row,
            self._name_of("session", row[SESSION]),
            None if program is None else self._name_of("program", program),
        )

    def _name_of(self, table: str, key: int) -> str | None:
        """The id or the digest that a number stands for."""
        known = (table, key)
        if known not in self._known:
            rows = self._rows(f"read_{table}_of_key", (key,))
            self._known[known] = rows[0][0] if rows else None
        found: str | None = self._known[known]
        return found


def _due(row: WorkRow, now: int) -> bool:
    """Whether a row that is not over can be the next turn."""
    return row.state == "pending" and row.active is None and row.available_at <= now


def sqlite_runtime_rows(tx: Transaction) -> SqliteRuntimeRows:
    """The runtime's rows of a transaction of the SQLite backend."""
    of = cast(SqliteTransaction, tx)
    return SqliteRuntimeRows(of.connection, of.known)
