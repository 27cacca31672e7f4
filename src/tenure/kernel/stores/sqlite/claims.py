"""The claims of an open transaction, in SQLite."""

from collections.abc import Iterable

import apsw

from tenure.kernel.claim import ClaimRecord
from tenure.kernel.stores.sqlite.columns import Columns
from tenure.kernel.stores.sqlite.connection import run
from tenure.kernel.stores.sqlite.guarded import guarded
from tenure.kernel.stores.sqlite.known import Known
from tenure.kernel.stores.sqlite.statements import KERNEL

COLUMNS = Columns(ClaimRecord, "claim on", plain=frozenset())


class SqliteClaims:
    """`tenure.kernel.store.ClaimRows` over a connection."""

    def __init__(self, connection: apsw.Connection, known: Known) -> None:
        self._connection = connection
        self._known = known.rows

    def read(self, work: str) -> ClaimRecord | None:
        key = ("claim", work)
        if key not in self._known:
            rows = self._select("read_claim", work)
            self._known[key] = rows[0] if rows else None
        record: ClaimRecord | None = self._known[key]
        return record

    def claimed_by(self, claim: str) -> list[ClaimRecord]:
        return self._select("list_rows_of_claim", claim)

    def open_in(self, lane: str) -> list[ClaimRecord]:
        return self._select("list_open_claims_of_lane", lane)

    def insert(self, record: ClaimRecord) -> None:
        self._write("insert_claim", record, expected=0)

    def replace(self, record: ClaimRecord, *, expected: int) -> None:
        self._write("replace_claim", record, expected=expected)

    def remove(self, work: Iterable[str]) -> None:
        for item in work:
            run(self._connection, KERNEL["remove_claim"], (item,))
            self._known.pop(("claim", item), None)

    def _select(self, statement: str, key: str) -> list[ClaimRecord]:
        rows = run(self._connection, KERNEL[statement], (key,))
        return [COLUMNS.decode(row) for row in rows]

    def _write(self, statement: str, record: ClaimRecord, *, expected: int) -> None:
        self._known.pop(("claim", record.work), None)
        guarded(
            self._connection,
            KERNEL[statement],
            COLUMNS.encode(record),
            record=COLUMNS.name(record.work),
            expected=expected,
        )
        if not record.finished:  # whatever is finished is seldom asked for again
            self._known["claim", record.work] = record
