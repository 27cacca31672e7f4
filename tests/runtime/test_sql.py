"""The runtime's statements: answered by indexes, and a schema that is the sum of its migrations."""

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tenure.kernel.stores.sqlite.lines import steps
from tenure.kernel.stores.sqlite.statements import Statements
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.runtime.stores.sqlite.rows import LINES, RUNTIME_LINE
from tests.kernel.sqlite.shape import shape

PLACE = Path(RUNTIME_LINE.directory).parent
QUERIES = sorted((PLACE / "queries").glob("*.sql"))

#: What reads something through, and why that is no harm.
READ_THROUGH = {
    # Work that is not over, and no other.
    "list_busy_sessions": ["SCAN work USING INDEX work_to_do"],
    "list_open_turns": ["SCAN work USING INDEX work_to_do"],
    # And of turns that wait those that may go on.
    "list_sessions_to_drive": [
        "SCAN work USING INDEX work_to_do",
        "SCAN wait USING INDEX wait_ended",
        "SCAN due",
    ],
    # Once, when a session is deleted.
    "remove_cancels_of_session": ["SCAN work"],
    "remove_journals_of_session": ["SCAN work"],
    "remove_work_of_session": ["SCAN work"],
}


class _Anything(dict[str, object]):
    """Bindings for any statement."""

    def __missing__(self, key: str) -> None:
        return None


def _positional(statement: str) -> tuple[None, ...]:
    numbers = [int(number) for number in re.findall(r"\?(\d+)", statement)]
    return (None,) * (max(numbers) if numbers else statement.count("?"))


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    database = SqliteDatabase.open(tmp_path / "agents.db", lines=LINES, busy_seconds=1)
    with database.read() as tx:
        yield tx.connection
    database.close()


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_no_statement_reads_a_table_through(connection: apsw.Connection, path: Path) -> None:
    statement = Statements(str(path.parent))[path.stem]
    bindings = _Anything() if ":" in statement else _positional(statement)
    plan = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", bindings)]
    through = [step for step in plan if step.startswith("SCAN ")]
    tables = [step for step in through if not step.startswith(("SCAN (", "SCAN json_each"))]
    assert tables == READ_THROUGH.get(path.stem, [])


def test_the_schema_is_the_sum_of_the_migrations() -> None:
    read, stepped = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    for _ in read.execute((PLACE / "schema.sql").read_text(encoding="utf-8")):
        pass
    for path in steps(RUNTIME_LINE):
        for _ in stepped.execute(Path(path).read_text(encoding="utf-8")):
            pass
    assert shape(read) == shape(stepped)
