"""The attempts of an open transaction, in SQLite."""

import apsw

from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.stores.sqlite.columns import Columns
from tenure.kernel.stores.sqlite.connection import run as execute
from tenure.kernel.stores.sqlite.guarded import guarded
from tenure.kernel.stores.sqlite.statements import KERNEL

COLUMNS = Columns(AttemptRecord, "attempt", plain=frozenset({"outcome", "joined"}))


class SqliteAttempts:
    """`tenure.kernel.store.AttemptRows` over a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def read(self, attempt: str) -> AttemptRecord | None:
        rows = execute(self._connection, KERNEL["read_attempt"], (attempt,))
        return COLUMNS.decode(rows[0]) if rows else None

    def unfinished(self, repository: str) -> list[AttemptRecord]:
        rows = execute(self._connection, KERNEL["list_unfinished_attempts"], (repository,))
        return [COLUMNS.decode(row) for row in rows]

    def next_sequence(self, repository: str) -> int:
        ((highest,),) = execute(self._connection, KERNEL["read_highest_sequence"], (repository,))
        assert isinstance(highest, int), highest
        return highest + 1

    def insert(self, record: AttemptRecord) -> None:
        self._write("insert_attempt", record, expected=0)

    def replace(self, record: AttemptRecord, *, expected: int) -> None:
        self._write("replace_attempt", record, expected=expected)

    def remove_finished(self, repository: str, run: str) -> None:
        where = {"repository": repository, "run": run}
        execute(self._connection, KERNEL["remove_finished_attempts"], where)

    def _write(self, statement: str, record: AttemptRecord, *, expected: int) -> None:
        guarded(
            self._connection,
            KERNEL[statement],
            COLUMNS.encode(record),
            record=COLUMNS.name(record.id),
            expected=expected,
        )
