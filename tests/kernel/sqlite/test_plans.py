"""How the hot statements are answered: by an index, never by reading a table through."""

from pathlib import Path

import pytest

from tenure.kernel.stores.sqlite.lines import KERNEL_LINE
from tenure.kernel.stores.sqlite.statements import KERNEL
from tenure.kernel.stores.sqlite.store import SqliteDatabase

QUERIES = Path(KERNEL_LINE.directory).parent / "queries"

#: How SQLite says it answers each statement that looks for rows.
PLANS = {
    "read_attempt": ["SEARCH attempt USING INDEX sqlite_autoindex_attempt_1 (id=?)"],
    "replace_attempt": ["SEARCH attempt USING INDEX sqlite_autoindex_attempt_1 (id=?)"],
    "list_unfinished_attempts": [
        "SEARCH attempt USING INDEX one_unfinished_attempt (repository=?)",
        "USE TEMP B-TREE FOR ORDER BY",
    ],
    "read_highest_sequence": [
        "SEARCH attempt USING COVERING INDEX one_place_in_sequence (repository=?)"
    ],
    "remove_finished_attempts": [
        "SEARCH attempt USING INDEX one_place_in_sequence (repository=? AND sequence<?)",
        "SCALAR SUBQUERY 1",
        "SEARCH last USING COVERING INDEX one_place_in_sequence (repository=?)",
    ],
    "read_lane": ["SEARCH lane USING INDEX sqlite_autoindex_lane_1 (id=?)"],
    "replace_lane": ["SEARCH lane USING INDEX sqlite_autoindex_lane_1 (id=?)"],
    "read_claim": ["SEARCH claim USING INDEX sqlite_autoindex_claim_1 (work=?)"],
    "replace_claim": ["SEARCH claim USING INDEX sqlite_autoindex_claim_1 (work=?)"],
    "remove_claim": ["SEARCH claim USING INDEX sqlite_autoindex_claim_1 (work=?)"],
    "list_rows_of_claim": ["SEARCH claim USING INDEX rows_of_claim (claim=?)"],
    "list_open_claims_of_lane": ["SEARCH claim USING INDEX open_claims_of_lane (lane=?)"],
}

#: Statements that look for no row, or for the few rows there are.
UNPLANNED = {
    "insert_attempt",
    "insert_lane",
    "insert_claim",
    "create_format",
    "read_formats",
    "record_format",
}


@pytest.fixture
def connection(tmp_path):
    database = SqliteDatabase.open(tmp_path / "tenure.db", busy_seconds=1)
    with database.read() as tx:
        yield tx.connection
    database.close()


class _Anything(dict[str, object]):
    """Bindings for any statement."""

    def __missing__(self, key: str) -> None:
        return None


@pytest.mark.parametrize("name", sorted(PLANS))
def test_a_row_is_found_by_an_index(connection, name):
    statement = KERNEL[name]
    positional = "?" in statement
    explained = f"EXPLAIN QUERY PLAN {statement}"
    cursor = connection.execute(explained, ("x",) if positional else _Anything())
    assert [row[3] for row in cursor] == PLANS[name]


def test_every_statement_is_planned():
    names = {path.stem for path in QUERIES.glob("*.sql")}
    assert names == PLANS.keys() | UNPLANNED


@pytest.mark.parametrize("path", sorted(QUERIES.glob("*.sql")), ids=lambda path: path.stem)
def test_a_file_is_one_statement(path):
    text = path.read_text(encoding="utf-8")
    assert ";" not in text
    assert text.endswith("\n")


@pytest.mark.parametrize("table", ["attempt", "lane", "claim"])
def test_a_write_over_a_row_names_its_revision(table):
    statement = KERNEL[f"replace_{table}"]
    assert "AND revision = :expected" in statement
