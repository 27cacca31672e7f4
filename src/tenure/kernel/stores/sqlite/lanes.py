"""The lanes of an open transaction, in SQLite."""

import apsw

from tenure.kernel.lane import LaneRecord
from tenure.kernel.stores.sqlite.columns import Columns
from tenure.kernel.stores.sqlite.connection import run
from tenure.kernel.stores.sqlite.guarded import guarded
from tenure.kernel.stores.sqlite.known import Known
from tenure.kernel.stores.sqlite.statements import KERNEL

COLUMNS = Columns(LaneRecord, "lane", plain=frozenset())


class SqliteLanes:
    """`tenure.kernel.store.LaneRows` over a connection."""

    def __init__(self, connection: apsw.Connection, known: Known) -> None:
        self._connection = connection
        self._known = known.rows

    def read(self, lane: str) -> LaneRecord | None:
        key = ("lane", lane)
        if key not in self._known:
            rows = run(self._connection, KERNEL["read_lane"], (lane,))
            self._known[key] = COLUMNS.decode(rows[0]) if rows else None
        record: LaneRecord | None = self._known[key]
        return record

    def insert(self, record: LaneRecord) -> None:
        self._write("insert_lane", record, expected=0)

    def replace(self, record: LaneRecord, *, expected: int) -> None:
        self._write("replace_lane", record, expected=expected)

    def _write(self, statement: str, record: LaneRecord, *, expected: int) -> None:
        self._known.pop(("lane", record.id), None)
        guarded(
            self._connection,
            KERNEL[statement],
            COLUMNS.encode(record),
            record=COLUMNS.name(record.id),
            expected=expected,
        )
        self._known["lane", record.id] = record
