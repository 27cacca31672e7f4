"""What a backend of the runtime implements beside the kernel's rows. Rows, one transaction at a time.

Rows come back as they were written; a row that does not parse is `RecordUnreadable`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from tenure.runtime.model.checkpoint import ChannelValue, PendingWrite, Snapshot
from tenure.runtime.model.effect import Journaled
from tenure.runtime.model.message import Message
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.wait import WaitRow
from tenure.runtime.model.work import Boundary, WorkRow


class SessionRows(Protocol):
    """Sessions, their messages and their turns, in an open transaction."""

    def session(self, session: str) -> SessionRecord | None:
        """One session."""
        ...

    def put_session(self, session: SessionRecord) -> None:
        """Insert or replace a session."""
        ...

    def messages(self, session: str, after: int, limit: int | None) -> list[Message]:
        """Messages with a number above `after`, in order."""
        ...

    def turn_starts(self, session: str, turns: int) -> int:
        """The number after which the last `turns` turns begin; 0 if there are no more than that."""
        ...

    def turn(self, turn: str) -> TurnRecord | None:
        """One turn."""
        ...

    def open_turn(self, session: SessionRecord, turn: TurnRecord) -> None:
        """Insert a turn whose work is there, which has no journal yet, as the session's open one."""
        ...

    def put_turn(self, turn: TurnRecord) -> None:
        """Replace an open turn; its work says whether it waits."""
        ...

    def end_turn(self, turn: TurnRecord, messages: Sequence[Message]) -> None:
        """Replace a turn by its end, append what it says to its session's messages, and drop
        its journal."""
        ...

    def cancel_marker(self, turn: str) -> str | None:
        """The reason for which a turn was asked to end, if it was."""
        ...

    def mark_cancelled(self, turn: str, reason: str) -> str:
        """Ask for a turn's end; the reason that counts, which is the first."""
        ...

    def program(self, digest: str) -> Program | None:
        """A pinned program."""
        ...

    def add_program(self, digest: str, program: Program) -> None:
        """Pin a program, unless it is pinned."""
        ...


class WorkRows(Protocol):
    """Everything that was enqueued, in an open transaction."""

    def work(self, work: str) -> WorkRow | None:
        """One row."""
        ...

    def by_source_key(self, session: str, key: str) -> WorkRow | None:
        """The row that was enqueued under a caller's key."""
        ...

    def next_sequence(self) -> int:
        """One more than the largest sequence in the store."""
        ...

    def put_work(self, row: WorkRow) -> None:
        """Insert or replace a row."""
        ...

    def next_input(self, session: str, now: int) -> WorkRow | None:
        """The oldest pending row that is meant for no open turn and is available now."""
        ...

    def active_inputs(self, session: str, turn: str, boundary: Boundary) -> list[WorkRow]:
        """Pending rows meant for this open turn at this boundary, in order."""
        ...

    def taken_in(self, session: str, turn: str) -> list[WorkRow]:
        """Rows meant for this open turn that it accepted, in order."""
        ...

    def waiting(self, session: str, limit: int | None) -> list[WorkRow]:
        """Pending rows of a session, in order."""
        ...

    def sessions_to_drive(
        self, now: int, agents: Collection[str] | None, host: str | None, after: int, limit: int
    ) -> list[tuple[str, int]]:
        """Sessions with an open turn or an available input, those waiting longest first, each
        with the sequence of that work; those above `after`. Only of some agents and of one
        host, if they are given.

        A turn that waits, and what comes after it, is there once one of its waits has ended. The
        cost does not grow with the number of those that wait on."""
        ...


class JournalRows(Protocol):
    """The journals of open turns, in an open transaction."""

    def journal(self, turn: str) -> Mapping[str, Journaled]:
        """Every effect of a turn by its key, in the order in which they were started."""
        ...

    def put_entries(self, turn: str, entries: Sequence[Journaled]) -> None:
        """Insert or replace effects."""
        ...

    def written(self, turn: str, after: int) -> list[Sequence[Journaled]]:
        """What was put into a turn's journal each time, without the first `after` times."""
        ...


class WaitRows(Protocol):
    """Durable waits, in an open transaction."""

    def wait(self, wait: str) -> WaitRow | None:
        """One wait."""
        ...

    def add_wait(self, wait: WaitRow) -> None:
        """Insert a wait that is not there."""
        ...

    def put_wait(self, wait: WaitRow) -> None:
        """Replace a wait that is there."""
        ...

    def waits_of_turn(self, turn: str) -> list[WaitRow]:
        """Every wait of a turn, in the order in which they were opened."""
        ...

    def open_waits(self, session: str | None, after: str, limit: int) -> list[WaitRow]:
        """Waits that nobody has answered, of a session or of all, by id, those above `after`."""
        ...

    def secret(self) -> str:
        """What keys of this store are signed with, minted when it is first asked for."""
        ...


class ItemRows(Protocol):
    """Lists that other frameworks keep, in an open transaction. Sessions are there."""

    def items(self, session: str, limit: int | None) -> list[tuple[int, str]]:
        """The last `limit` items with their numbers, in order; all of them without a limit."""
        ...

    def call_of_item(self, session: str, number: int) -> str | None:
        """The call that appended from this number on, if one began there."""
        ...

    def add_items(self, session: str, first: int, call: str, bodies: Sequence[str]) -> None:
        """Append items, numbered from `first` on."""
        ...

    def remove_items(self, session: str, first: int) -> None:
        """Drop the items from number `first` on."""
        ...


class CheckpointRows(Protocol):
    """States of graphs that other frameworks keep, in an open transaction. Sessions are there."""

    def last_checkpoint(self, session: str, ns: str) -> Snapshot | None:
        """The checkpoint of a namespace that was written last."""
        ...

    def checkpoint(self, session: str, ns: str, checkpoint: str) -> Snapshot | None:
        """One checkpoint."""
        ...

    def checkpoints(
        self, session: str | None, ns: str | None, below: int | None, limit: int | None
    ) -> list[Snapshot]:
        """Checkpoints with a number below `below`, the last written first."""
        ...

    def put_checkpoint(self, snapshot: Snapshot) -> None:
        """Insert a checkpoint as the last written, or replace it where it is."""
        ...

    def values(self, snapshot: Snapshot) -> list[ChannelValue]:
        """The values of those versions that a checkpoint names, as far as there are any."""
        ...

    def add_value(self, session: str, ns: str, value: ChannelValue) -> None:
        """Store a value, unless its channel has one of that version."""
        ...

    def writes(self, snapshot: Snapshot) -> list[PendingWrite]:
        """What tasks wrote on a checkpoint, by path, task and index."""
        ...

    def put_write(
        self, session: str, ns: str, checkpoint: str, write: PendingWrite, *, replace: bool
    ) -> None:
        """Store what a task wrote; what is there under its index stays without `replace`."""
        ...

    def copy_checkpoints(self, source: str, target: str) -> None:
        """Copy everything of one session to another, in the order in which it was written."""
        ...

    def sessions_of_runs(self, runs: Sequence[str]) -> list[str]:
        """Sessions with checkpoints of some runs."""
        ...

    def remove_checkpoint(self, snapshot: Snapshot) -> None:
        """Drop a checkpoint and its writes; whoever names it as a parent has none then."""
        ...

    def remove_value(self, session: str, ns: str, channel: str, version: str) -> None:
        """Drop a value."""
        ...

    def remove_checkpoints_of(self, session: str) -> None:
        """Drop everything of a session here."""
        ...


class HousekeepingRows(Protocol):
    """What operators ask for, in an open transaction."""

    def open_turns(self, limit: int) -> list[TurnRecord]:
        """Turns that are started and not committed."""
        ...

    def busy_sessions(self, after: str, limit: int) -> list[str]:
        """Sessions with an open turn or pending work by id, those above `after`."""
        ...

    def sessions(self, after: str, limit: int) -> list[SessionRecord]:
        """Sessions by id, those above `after`."""
        ...

    def remove_cancelled(self, before_wall_ns: int, limit: int) -> int:
        """Drop at most `limit` rows of work that no key stands for and that were cancelled
        before; how many."""
        ...

    def remove_sessions(self, sessions: Iterable[str]) -> None:
        """Drop everything of deleted sessions but their tombstones."""
        ...


class RuntimeRows(
    SessionRows,
    WorkRows,
    JournalRows,
    WaitRows,
    ItemRows,
    CheckpointRows,
    HousekeepingRows,
    Protocol,
):
    """All of them: what a backend's function from a transaction to its rows returns."""
