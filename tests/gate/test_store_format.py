"""The gate's part of a store's file: its schema is the sum of its migrations, and old files are read on."""

from pathlib import Path

import apsw

from tenure.gate.stores.sqlite.rows import GATE_LINE, LINES
from tenure.kernel.stores.sqlite.lines import KERNEL_LINE, Line, steps
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tests.kernel.sqlite.shape import shape


def test_the_schema_is_the_sum_of_the_migrations(tmp_path: Path) -> None:
    read = apsw.Connection(":memory:")
    for line in LINES:
        schema = Path(line.directory).parent / "schema.sql"
        for _ in read.execute(schema.read_text(encoding="utf-8")):
            pass
    with SqliteDatabase.open(tmp_path / "tenure.db", lines=LINES, busy_seconds=10).read() as tx:
        assert shape(tx.connection) == shape(read)


def test_the_line_says_how_many_migrations_there_are() -> None:
    assert len(steps(GATE_LINE)) == GATE_LINE.version


def test_a_store_of_an_earlier_format_is_taken_on_with_what_it_has(tmp_path: Path) -> None:
    first = Line("gate", str(tmp_path / "first"), 1)
    Path(first.directory).mkdir()
    step = Path(steps(GATE_LINE)[0])
    (Path(first.directory) / step.name).write_bytes(step.read_bytes())
    path = tmp_path / "tenure.db"
    old = SqliteDatabase.open(path, lines=(KERNEL_LINE, first), busy_seconds=10)
    with old.write() as tx:
        tx.connection.execute("INSERT INTO setting (name, value) VALUES ('trunk', 'main')")
    old.close()
    with SqliteDatabase.open(path, lines=LINES, busy_seconds=10).read() as tx:
        assert list(tx.connection.execute("SELECT value FROM setting")) == [("main",)]
        assert list(tx.connection.execute("SELECT count(*) FROM dropped")) == [(0,)]
