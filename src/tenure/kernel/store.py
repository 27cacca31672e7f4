"""What a backend implements: rows, inside one transaction at a time. This is the specification.

Every transition of the ledger is *read, decide, guarded write* inside one `Database.write`.
A backend must make the whole of it atomic and isolated: nobody writes a row between the
read and the write of a transaction that has read it for writing, and either everything in
the transaction is stored or nothing is. The law books in `tenure.testing.conformance` prove it.

Rows come back exactly as they were written. A row that does not parse is an error
(`RecordUnreadable`), never a missing row.
"""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Protocol

from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.claim import ClaimRecord
from tenure.kernel.lane import LaneRecord


class AttemptRows(Protocol):
    """The attempts of an open transaction."""

    def read(self, attempt: str) -> AttemptRecord | None:
        """The record, or None if there is none."""
        ...

    def unfinished(self, repository: str) -> list[AttemptRecord]:
        """Every bound attempt of the repository, by increasing sequence."""
        ...

    def next_sequence(self, repository: str) -> int:
        """One more than the largest sequence stored for the repository, from 1."""
        ...

    def insert(self, record: AttemptRecord) -> None:
        """Store a new record. The backend refuses, with `RevisionConflict`, an id or sequence
        that exists and a second bound attempt of one `(repository, subject)`."""
        ...

    def replace(self, record: AttemptRecord, *, expected: int) -> None:
        """Store the record over revision `expected`, or raise `RevisionConflict`."""
        ...

    def remove_finished(self, repository: str, run: str) -> None:
        """Drop the finished attempts of a run, but for the repository's last: sequences go on."""
        ...


class LaneRows(Protocol):
    """The lanes of an open transaction."""

    def read(self, lane: str) -> LaneRecord | None:
        """The record, or None if the lane was never acquired."""
        ...

    def insert(self, record: LaneRecord) -> None:
        """Store a new record; `RevisionConflict` if the id exists."""
        ...

    def replace(self, record: LaneRecord, *, expected: int) -> None:
        """Store the record over revision `expected`, or raise `RevisionConflict`."""
        ...


class ClaimRows(Protocol):
    """The claims of an open transaction."""

    def read(self, work: str) -> ClaimRecord | None:
        """The row of this piece of work, or None if it was never claimed or was handed back."""
        ...

    def claimed_by(self, claim: str) -> list[ClaimRecord]:
        """Every row that carries the claim, finished ones too, by work."""
        ...

    def open_in(self, lane: str) -> list[ClaimRecord]:
        """Every unfinished row claimed under the lane, by work."""
        ...

    def insert(self, record: ClaimRecord) -> None:
        """Store a new row; `RevisionConflict` if the work has one."""
        ...

    def replace(self, record: ClaimRecord, *, expected: int) -> None:
        """Store the row over revision `expected`, or raise `RevisionConflict`."""
        ...

    def remove(self, work: Iterable[str]) -> None:
        """Drop these rows: the work is unclaimed again."""
        ...


class Transaction(Protocol):
    """An open transaction."""

    @property
    def attempts(self) -> AttemptRows:
        """Its attempts."""
        ...

    @property
    def lanes(self) -> LaneRows:
        """Its lanes."""
        ...

    @property
    def claims(self) -> ClaimRows:
        """Its claims."""
        ...


class Database(Protocol):
    """One open store. Not shared between threads or across a fork: each opens its own."""

    def write(self) -> AbstractContextManager[Transaction]:
        """A transaction that excludes every other writer from its first read on.

        It commits when the block ends and rolls back when the block raises. Commit means on
        disk: what was acknowledged survives a power cut.

        Raises:
            StoreBusy: another writer did not finish in time; nothing happened.
            StoreUnavailable: the disk is full, read-only or broken; nothing happened, unless it
                is raised by the commit itself, which may have happened: repeat the call.
        """
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """A consistent view of the store as it was at its first read; it never writes."""
        ...

    def close(self) -> None:
        """Let go of the store. Idempotent."""
        ...
