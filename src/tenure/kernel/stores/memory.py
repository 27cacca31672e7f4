"""A store in memory: the reference that tests, searches and other backends are compared with.

`MemoryTables` is the store, `MemoryDatabase` one open handle on it. Every write publishes
new contents and never touches the old ones, so a reader keeps what it saw, a rollback is
forgetting, and a whole store can be frozen, hashed and restored for the price of a reference.
"""

# The one lock below is why this module may import threading: handles of several threads may
# share the tables, as handles of several processes share a file. Nothing here starts a thread.
import threading
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, TypeVar

from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.claim import ClaimRecord
from tenure.kernel.errors import RevisionConflict, StoreBusy, StoreUnavailable
from tenure.kernel.lane import LaneRecord

V = TypeVar("V")

#: How long a writer waits for another one, as SQLite's busy timeout would.
BUSY_SECONDS = 5.0

_ATTEMPTS, _LANES, _CLAIMS = "kernel.attempts", "kernel.lanes", "kernel.claims"
_NOTHING: Mapping[str, Any] = {}


class Contents:
    """Everything stored at one moment. Never changed; equal and hashed by its rows.

    Rows of other owners' tables must be immutable, and hashable if the contents are hashed.
    """

    __slots__ = ("_hash", "_tables")

    def __init__(self, tables: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._tables = {name: rows for name, rows in (tables or {}).items() if rows}
        self._hash: int | None = None

    @property
    def attempts(self) -> Mapping[str, AttemptRecord]:
        """The attempts, by id."""
        return self.table(_ATTEMPTS)

    @property
    def lanes(self) -> Mapping[str, LaneRecord]:
        """The lanes, by id."""
        return self.table(_LANES)

    @property
    def claims(self) -> Mapping[str, ClaimRecord]:
        """The claims, by work."""
        return self.table(_CLAIMS)

    def table(self, name: str) -> Mapping[str, Any]:
        """The rows of one table by key; empty if nobody wrote to it."""
        return self._tables.get(name, _NOTHING)

    def replaced(self, changes: Mapping[str, Mapping[str, Any]]) -> "Contents":
        """These contents with some tables replaced."""
        return Contents({**self._tables, **changes})

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Contents) and self._tables == other._tables

    def __hash__(self) -> int:
        if self._hash is None:
            rows = ((name, frozenset(rows.items())) for name, rows in self._tables.items())
            self._hash = hash(frozenset(rows))
        return self._hash


class MemoryTables:
    """One store in memory, shared by every handle that is opened on it."""

    def __init__(self, contents: Contents | None = None) -> None:
        self.contents = contents or Contents()  #: what is committed
        self.writer = threading.Lock()  #: held by the one writer inside

    def freeze(self) -> Contents:
        """The committed contents, to keep, to compare, to hash, or to `restore`."""
        return self.contents

    def restore(self, contents: Contents) -> None:
        """Make these the committed contents. Nobody may be writing."""
        assert not self.writer.locked(), "a writer is inside"
        self.contents = contents


class Rows(MutableMapping[str, V]):
    """One table inside a transaction: the committed rows, copied at the first change."""

    def __init__(self, committed: Mapping[str, V], *, writable: bool) -> None:
        self._rows = committed
        self._writable = writable
        self.changed: dict[str, V] | None = None  #: every row, once something was changed

    def _own(self) -> dict[str, V]:
        assert self._writable, "a transaction that reads, or has ended, never writes"
        if self.changed is None:
            self._rows = self.changed = dict(self._rows)
        return self.changed

    def end(self) -> None:
        """Refuse changes from now on: they would be lost."""
        self._writable = False

    def __getitem__(self, key: str) -> V:
        return self._rows[key]

    def __setitem__(self, key: str, row: V) -> None:
        self._own()[key] = row

    def __delitem__(self, key: str) -> None:
        del self._own()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class MemoryAttempts:
    """The attempts of an open transaction."""

    def __init__(self, rows: Rows[AttemptRecord]) -> None:
        self._rows = rows

    def read(self, attempt: str) -> AttemptRecord | None:
        """The record, or None if there is none."""
        return self._rows.get(attempt)

    def unfinished(self, repository: str) -> list[AttemptRecord]:
        """Every bound attempt of the repository, by increasing sequence."""
        found = [row for row in self._rows.values() if row.bound and row.repository == repository]
        return sorted(found, key=lambda row: row.sequence)

    def next_sequence(self, repository: str) -> int:
        """One more than the largest sequence stored for the repository, from 1."""
        rows = self._rows.values()
        return 1 + max((row.sequence for row in rows if row.repository == repository), default=0)

    def insert(self, record: AttemptRecord) -> None:
        """Store a new record, or raise `RevisionConflict` as `store.AttemptRows` says."""
        taken = record.id in self._rows or any(
            row.repository == record.repository and row.sequence == record.sequence
            for row in self._rows.values()
        )
        if taken or self._rivals(record):
            raise RevisionConflict(record=f"attempt {record.id}", expected=0)
        self._rows[record.id] = record

    def replace(self, record: AttemptRecord, *, expected: int) -> None:
        """Store the record over revision `expected`, or raise `RevisionConflict`."""
        before = self._rows.get(record.id)
        if before is None or before.revision != expected or self._rivals(record):
            raise RevisionConflict(record=f"attempt {record.id}", expected=expected)
        self._rows[record.id] = record

    def remove_finished(self, repository: str, run: str) -> None:
        """Drop the finished attempts of a run, but for the repository's last: sequences go on."""
        last = self.next_sequence(repository) - 1
        for row in list(self._rows.values()):
            of_run = (row.repository, row.run) == (repository, run)
            if of_run and not row.bound and row.sequence != last:
                del self._rows[row.id]

    def _rivals(self, record: AttemptRecord) -> bool:
        """Whether storing the record would leave its subject with two bound attempts."""
        return record.bound and any(
            row.bound
            and row.id != record.id
            and (row.repository, row.subject) == (record.repository, record.subject)
            for row in self._rows.values()
        )


class MemoryLanes:
    """The lanes of an open transaction."""

    def __init__(self, rows: Rows[LaneRecord]) -> None:
        self._rows = rows

    def read(self, lane: str) -> LaneRecord | None:
        """The record, or None if the lane was never acquired."""
        return self._rows.get(lane)

    def insert(self, record: LaneRecord) -> None:
        """Store a new record; `RevisionConflict` if the id exists."""
        if record.id in self._rows:
            raise RevisionConflict(record=f"lane {record.id}", expected=0)
        self._rows[record.id] = record

    def replace(self, record: LaneRecord, *, expected: int) -> None:
        """Store the record over revision `expected`, or raise `RevisionConflict`."""
        before = self._rows.get(record.id)
        if before is None or before.revision != expected:
            raise RevisionConflict(record=f"lane {record.id}", expected=expected)
        self._rows[record.id] = record


class MemoryClaims:
    """The claims of an open transaction."""

    def __init__(self, rows: Rows[ClaimRecord]) -> None:
        self._rows = rows

    def read(self, work: str) -> ClaimRecord | None:
        """The row of this piece of work, or None if it was never claimed or was handed back."""
        return self._rows.get(work)

    def claimed_by(self, claim: str) -> list[ClaimRecord]:
        """Every row that carries the claim, finished ones too, by work."""
        found = [row for row in self._rows.values() if row.claim == claim]
        return sorted(found, key=lambda row: row.work)

    def open_in(self, lane: str) -> list[ClaimRecord]:
        """Every unfinished row claimed under the lane, by work."""
        found = [row for row in self._rows.values() if row.lane == lane and not row.finished]
        return sorted(found, key=lambda row: row.work)

    def insert(self, record: ClaimRecord) -> None:
        """Store a new row; `RevisionConflict` if the work has one."""
        if record.work in self._rows:
            raise RevisionConflict(record=f"claim on {record.work}", expected=0)
        self._rows[record.work] = record

    def replace(self, record: ClaimRecord, *, expected: int) -> None:
        """Store the row over revision `expected`, or raise `RevisionConflict`."""
        before = self._rows.get(record.work)
        if before is None or before.revision != expected:
            raise RevisionConflict(record=f"claim on {record.work}", expected=expected)
        self._rows[record.work] = record

    def remove(self, work: Iterable[str]) -> None:
        """Drop these rows: the work is unclaimed again."""
        for item in work:
            self._rows.pop(item, None)


class MemoryTransaction:
    """An open transaction, over the kernel's rows and over other owners' tables."""

    def __init__(self, contents: Contents, *, writable: bool) -> None:
        self._contents = contents
        self._writable = writable
        self._open: dict[str, Rows[Any]] = {}
        self.attempts = MemoryAttempts(self._rows(_ATTEMPTS))
        self.lanes = MemoryLanes(self._rows(_LANES))
        self.claims = MemoryClaims(self._rows(_CLAIMS))

    def table(self, name: str) -> MutableMapping[str, Any]:
        """Another owner's table, empty at first; it commits and rolls back with the rest."""
        assert not name.startswith("kernel."), f"{name} belongs to the kernel"
        return self._rows(name)

    def _rows(self, name: str) -> Rows[Any]:
        if name not in self._open:
            self._open[name] = Rows(self._contents.table(name), writable=self._writable)
        return self._open[name]

    def end(self) -> Contents:
        """The contents to commit; the transaction takes no change from now on."""
        self._writable = False
        changes = {}
        for name, rows in self._open.items():
            rows.end()
            if rows.changed is not None:
                changes[name] = rows.changed
        return self._contents.replaced(changes) if changes else self._contents


class MemoryDatabase:
    """One open handle on a store in memory. Implements `tenure.kernel.store.Database`.

    It lives as long as its tables: what was committed survives the handle, not the process.
    """

    def __init__(self, tables: MemoryTables, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.tables = tables
        self._busy_seconds = busy_seconds
        self._closed = False

    @contextmanager
    def write(self) -> Iterator[MemoryTransaction]:
        """A transaction that excludes every other writer; rolled back if the block raises.

        Raises:
            StoreBusy: another writer stayed inside for `busy_seconds`; nothing happened.
            StoreUnavailable: the handle is closed.
        """
        self._check_open()
        if not self.tables.writer.acquire(timeout=self._busy_seconds):
            raise StoreBusy(store="the store in memory")
        try:
            transaction = MemoryTransaction(self.tables.contents, writable=True)
            try:
                yield transaction
            except BaseException:
                transaction.end()
                raise
            self.tables.contents = transaction.end()
        finally:
            self.tables.writer.release()

    @contextmanager
    def read(self) -> Iterator[MemoryTransaction]:
        """A consistent view of the store as it is now, whatever is written meanwhile."""
        self._check_open()
        yield MemoryTransaction(self.tables.contents, writable=False)

    def close(self) -> None:
        """Let go of the store. Idempotent."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(
                store="the store in memory", reason="this handle is closed", hint="open another"
            )
