"""The runtime's rows in memory: the reference that other backends are compared with."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from typing import cast

import msgspec

from tenure.kernel.store import Transaction
from tenure.kernel.stores.memory import MemoryTransaction
from tenure.runtime.model.effect import Journaled
from tenure.runtime.model.message import Message
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.wait import WaitRow
from tenure.runtime.model.work import Boundary, WorkRow, WorkState, turn_of
from tenure.runtime.stores.memory_guests import MemoryGuestRows


class MemoryRuntimeRows(MemoryGuestRows):
    """The runtime's tables of one open transaction."""

    def __init__(self, tx: MemoryTransaction) -> None:
        self._sessions = tx.table("runtime.sessions")
        self._messages = tx.table("runtime.messages")
        self._turns = tx.table("runtime.turns")
        self._cancels = tx.table("runtime.cancels")
        self._programs = tx.table("runtime.programs")
        self._work = tx.table("runtime.work")
        self._journal = tx.table("runtime.journal")
        self._written = tx.table("runtime.written")
        self._waits = tx.table("runtime.waits")
        self._secret = tx.table("runtime.secret")
        self._items = tx.table("runtime.items")
        self._checkpoints = tx.table("runtime.checkpoints")
        self._values = tx.table("runtime.channel_values")
        self._writes = tx.table("runtime.checkpoint_writes")

    # sessions

    def session(self, session: str) -> SessionRecord | None:
        """One session."""
        return self._sessions.get(session)

    def put_session(self, session: SessionRecord) -> None:
        """Insert or replace a session."""
        self._sessions[session.id] = session

    def messages(self, session: str, after: int, limit: int | None) -> list[Message]:
        """Messages with a number above `after`, in order."""
        found = [row for row in self._of(session) if row[1] > after]
        return [message for _, _, message in found[:limit]]

    def turn_starts(self, session: str, turns: int) -> int:
        """The number after which the last `turns` turns begin; 0 if there are no more than that."""
        over = [turn for turn in self._turns.values() if turn.session == session and turn.over]
        starts = sorted(turn.opened_at_head for turn in over)
        return starts[-turns] if 0 < turns < len(starts) else 0

    def _of(self, session: str) -> list[tuple[str, int, Message]]:
        keys = sorted(key for key in self._messages if key.rpartition(" ")[0] == session)
        return [self._messages[key] for key in keys]

    def turn(self, turn: str) -> TurnRecord | None:
        """One turn."""
        return self._turns.get(turn)

    def open_turn(self, session: SessionRecord, turn: TurnRecord) -> None:
        """Insert a turn as the session's open one."""
        self.put_session(msgspec.structs.replace(session, open_turn=turn.id))
        self._turns[turn.id] = turn

    def put_turn(self, turn: TurnRecord) -> None:
        """Replace an open turn; its work says whether it waits."""
        self._turns[turn.id] = turn
        state: WorkState = "waiting" if turn.waits else "accepted"
        self.put_work(msgspec.structs.replace(self._work[turn.work], state=state))

    def end_turn(self, turn: TurnRecord, messages: Sequence[Message]) -> None:
        """Replace a turn by its end, append its messages, and drop its journal."""
        self._turns[turn.id] = turn
        for number, message in enumerate(messages, turn.opened_at_head + 1):
            self._messages[f"{turn.session} {number:09}"] = (turn.id, number, message)
        self._remove_journal(turn.id)

    def cancel_marker(self, turn: str) -> str | None:
        """The reason for which a turn was asked to end, if it was."""
        return self._cancels.get(turn)

    def mark_cancelled(self, turn: str, reason: str) -> str:
        """Ask for a turn's end; the reason that counts, which is the first."""
        counts: str = self._cancels.setdefault(turn, reason)
        return counts

    def program(self, digest: str) -> Program | None:
        """A pinned program."""
        return self._programs.get(digest)

    def add_program(self, digest: str, program: Program) -> None:
        """Pin a program, unless it is pinned."""
        if digest not in self._programs:
            self._programs[digest] = program

    # work

    def work(self, work: str) -> WorkRow | None:
        """One row."""
        return self._work.get(work)

    def by_source_key(self, session: str, key: str) -> WorkRow | None:
        """The row that was enqueued under a caller's key."""
        for row in self._work.values():
            if (row.session, row.source_key) == (session, key):
                return cast(WorkRow, row)
        return None

    def next_sequence(self) -> int:
        """One more than the largest sequence in the store."""
        return 1 + max((row.sequence for row in self._work.values()), default=0)

    def put_work(self, row: WorkRow) -> None:
        """Insert or replace a row."""
        self._work[row.id] = row

    def _pending(self, session: str | None = None) -> list[WorkRow]:
        rows: list[WorkRow] = sorted(self._work.values(), key=lambda row: row.sequence)
        return [r for r in rows if r.state == "pending" and session in (None, r.session)]

    def next_input(self, session: str, now: int) -> WorkRow | None:
        """The oldest pending row that is meant for no open turn and is available now."""
        for row in self._pending(session):
            if row.active is None and row.available_at <= now:
                return row
        return None

    def active_inputs(self, session: str, turn: str, boundary: Boundary) -> list[WorkRow]:
        """Pending rows meant for this open turn at this boundary, in order."""
        return [
            row
            for row in self._pending(session)
            if row.active is not None and (row.active.turn, row.active.boundary) == (turn, boundary)
        ]

    def taken_in(self, session: str, turn: str) -> list[WorkRow]:
        """Rows meant for this open turn that it accepted, in order."""
        rows: list[WorkRow] = sorted(self._work.values(), key=lambda row: row.sequence)
        mine = [row for row in rows if row.session == session and row.state == "accepted"]
        return [row for row in mine if row.active is not None and row.active.turn == turn]

    def waiting(self, session: str, limit: int | None) -> list[WorkRow]:
        """Pending rows of a session, in order."""
        return self._pending(session)[:limit]

    def sessions_to_drive(
        self, now: int, agents: Collection[str] | None, host: str | None, after: int, limit: int
    ) -> list[tuple[str, int]]:
        """Sessions with an open turn or an available input, those waiting longest first."""
        opened = [self._turns[s.open_turn] for s in self._sessions.values() if s.open_turn]
        ended = {wait.turn for wait in self._waits.values() if wait.blocking and wait.ended(now)}
        since = {
            turn.session: self._work[turn.work].sequence
            for turn in opened
            if not turn.waits or turn.id in ended
        }
        free = {s.id for s in self._sessions.values() if s.open_turn is None}
        for row in self._pending():
            if row.session in free and row.active is None and row.available_at <= now:
                since[row.session] = min(row.sequence, since.get(row.session, row.sequence))
        found = []
        for name, sequence in since.items():
            session = self._sessions[name]
            others = (agents is not None and session.agent not in agents) or (
                host not in (None, session.host)
            )
            if sequence > after and not session.deleted and not others:
                found.append((name, sequence))
        return sorted(found, key=lambda pair: pair[1])[:limit]

    # journal

    def journal(self, turn: str) -> dict[str, Journaled]:
        """Every effect of a turn by its key, in the order in which they were started."""
        return {entry.key: entry for (owner, entry) in self._journal.values() if owner == turn}

    def put_entries(self, turn: str, entries: Sequence[Journaled]) -> None:
        """Insert or replace effects."""
        if entries:
            self._written[f"{turn} {len(self.written(turn, 0)):09}"] = (turn, tuple(entries))
        for entry in entries:
            self._journal[f"{turn} {entry.key}"] = (turn, entry)

    def written(self, turn: str, after: int) -> list[Sequence[Journaled]]:
        """What was put into a turn's journal each time, without the first `after` times."""
        found = sorted(key for key, (owner, _) in self._written.items() if owner == turn)
        return [self._written[key][1] for key in found[after:]]

    def _remove_journal(self, turn: str) -> None:
        for number in range(len(self.written(turn, 0))):
            del self._written[f"{turn} {number:09}"]
        for key in self.journal(turn):
            del self._journal[f"{turn} {key}"]

    # waits

    def wait(self, wait: str) -> WaitRow | None:
        """One wait."""
        return self._waits.get(wait)

    def add_wait(self, wait: WaitRow) -> None:
        """Insert a wait that is not there."""
        assert wait.id not in self._waits, "it is not there"
        self._waits[wait.id] = wait

    def put_wait(self, wait: WaitRow) -> None:
        """Replace a wait that is there."""
        assert wait.id in self._waits, "it is there"
        self._waits[wait.id] = wait

    def waits_of_turn(self, turn: str) -> list[WaitRow]:
        """Every wait of a turn, in the order in which they were opened."""
        return [wait for wait in self._waits.values() if wait.turn == turn]

    def open_waits(self, session: str | None, after: str, limit: int) -> list[WaitRow]:
        """Waits that nobody has answered, by id, those above `after`."""
        found = [
            wait
            for wait in self._waits.values()
            if wait.resolution is None and wait.id > after and session in (None, wait.session)
        ]
        return sorted(found, key=lambda wait: wait.id)[:limit]

    def secret(self) -> str:
        """What keys of this store are signed with."""
        made: str = self._secret.setdefault("only", secrets.token_hex(32))
        return made

    # housekeeping

    def open_turns(self, limit: int) -> list[TurnRecord]:
        """Turns that are started and not committed."""
        return [turn for turn in self._turns.values() if not turn.over][:limit]

    def busy_sessions(self, after: str, limit: int) -> list[str]:
        """Sessions with an open turn or pending work by id, those above `after`."""
        busy = {s.id for s in self._sessions.values() if s.open_turn is not None and not s.deleted}
        busy |= {row.session for row in self._pending()}
        return [session for session in sorted(busy) if session > after][:limit]

    def sessions(self, after: str, limit: int) -> list[SessionRecord]:
        """Sessions by id, those above `after`."""
        return [self._sessions[key] for key in sorted(self._sessions) if key > after][:limit]

    def remove_cancelled(self, before_wall_ns: int, limit: int) -> int:
        """Drop work that no key stands for and that was cancelled before; how many rows."""
        gone = [
            row.id
            for row in self._work.values()
            if row.cancelled_wall_ns is not None
            and row.cancelled_wall_ns < before_wall_ns
            and row.source_key is None
        ][:limit]
        for work in gone:
            del self._work[work]
            self._cancels.pop(turn_of(work), None)
        return len(gone)

    def remove_sessions(self, sessions: Iterable[str]) -> None:
        """Drop everything of deleted sessions but their tombstones."""
        gone = set(sessions)
        for session in gone:
            self._remove_guest(session)
        for turn in [t for t in self._turns.values() if t.session in gone]:
            self._remove_journal(turn.id)
            del self._turns[turn.id]
        for row in [r for r in self._work.values() if r.session in gone]:
            del self._work[row.id]
            self._cancels.pop(turn_of(row.id), None)
        for key in [k for k, wait in self._waits.items() if wait.session in gone]:
            del self._waits[key]
        for key in [k for k in self._messages if k.rpartition(" ")[0] in gone]:
            del self._messages[key]


def memory_runtime_rows(tx: Transaction) -> MemoryRuntimeRows:
    """The runtime's rows of a transaction of the memory backend."""
    return MemoryRuntimeRows(cast(MemoryTransaction, tx))
