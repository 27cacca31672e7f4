"""Formats: schema.sql is the sum of the migrations; steps are taken once, together, forward."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from tenure.kernel.errors import StoreNewer, StoreUnavailable
from tenure.kernel.stores.sqlite import lines as formats
from tenure.kernel.stores.sqlite.lines import KERNEL_LINE, Line
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tests.kernel.sqlite.shape import shape


def line(directory: Path, *steps: str, name: str = "extra", version: int | None = None) -> Line:
    directory.mkdir(exist_ok=True)
    for number, step in enumerate(steps, start=1):
        (directory / f"{number:04d}_step.sql").write_text(step, encoding="utf-8")
    return Line(name, str(directory), len(steps) if version is None else version)


ONE = "CREATE TABLE one (a TEXT) STRICT; CREATE INDEX one_a ON one (a);"
TWO = "ALTER TABLE one ADD COLUMN b TEXT;\nINSERT INTO one (a, b) VALUES ('x', 'y');"


def opened(path: Path, *lines: Line) -> SqliteDatabase:
    return SqliteDatabase.open(path, lines=(KERNEL_LINE, *lines), busy_seconds=10)


def rows(database: SqliteDatabase, statement: str) -> list[tuple[object, ...]]:
    with database.read() as tx:
        return list(tx.connection.execute(statement))


def test_the_schema_is_the_sum_of_the_migrations(tmp_path):
    directory = Path(KERNEL_LINE.directory)
    read = apsw.Connection(":memory:")
    for _ in read.execute((directory.parent / "schema.sql").read_text(encoding="utf-8")):
        pass
    with opened(tmp_path / "tenure.db").read() as tx:
        assert shape(tx.connection) == shape(read)


def test_the_line_says_how_many_migrations_there_are():
    assert len(formats.steps(KERNEL_LINE)) == KERNEL_LINE.version


def test_migrations_are_numbered_and_named_by_sentences():
    for path in formats.steps(KERNEL_LINE):
        assert re.fullmatch(r"\d{4}_[a-z]+(_[a-z]+)+\.sql", Path(path).name)


def test_every_line_lives_in_the_same_file(tmp_path):
    extra = line(tmp_path / "extra", ONE, TWO)
    database = opened(tmp_path / "tenure.db", extra)
    assert rows(database, "SELECT line, version FROM format ORDER BY line") == [
        ("extra", 2),
        ("kernel", 1),
    ]
    assert rows(database, "SELECT a, b FROM one") == [("x", "y")]


def test_a_line_that_comes_later_is_added(tmp_path):
    path = tmp_path / "tenure.db"
    opened(path).close()
    database = opened(path, line(tmp_path / "extra", ONE, TWO))
    assert rows(database, "SELECT a, b FROM one") == [("x", "y")]


def test_only_missing_steps_are_taken(tmp_path):
    path = tmp_path / "tenure.db"
    first = opened(path, line(tmp_path / "extra", ONE))
    with first.write() as tx:
        tx.connection.execute("INSERT INTO one (a) VALUES ('kept')")
    first.close()
    both = line(tmp_path / "extra", ONE, TWO)
    for _ in range(2):
        database = opened(path, both)
        assert rows(database, "SELECT a, b FROM one") == [("kept", None), ("x", "y")]
        database.close()


def test_a_line_one_does_not_know_is_left_alone(tmp_path):
    path = tmp_path / "tenure.db"
    opened(path, line(tmp_path / "extra", ONE)).close()
    database = opened(path)
    assert rows(database, "SELECT version FROM format WHERE line = 'extra'") == [(1,)]


@pytest.mark.parametrize("writable", [True, False])
def test_a_newer_store_is_refused_and_left_as_it_is(tmp_path, writable):
    path = tmp_path / "tenure.db"
    opened(path, line(tmp_path / "extra", ONE, TWO)).close()
    before = path.read_bytes()
    older = line(tmp_path / "older", ONE)
    with pytest.raises(StoreNewer) as refused:
        SqliteDatabase.open(path, lines=(KERNEL_LINE, older), busy_seconds=1, writable=writable)
    assert refused.value.fields == {"store": str(path), "line": "extra", "found": 2, "known": 1}
    assert path.read_bytes() == before


def test_a_newer_line_refuses_the_steps_of_the_others(tmp_path):
    path = tmp_path / "tenure.db"
    opened(path, line(tmp_path / "new", ONE, TWO)).close()
    late = line(tmp_path / "late", "CREATE TABLE late (a TEXT) STRICT;", name="late")
    with pytest.raises(StoreNewer):
        opened(path, late, line(tmp_path / "old", ONE))
    assert rows(opened(path), "SELECT name FROM sqlite_master WHERE name = 'late'") == []


def test_a_step_that_fails_takes_no_step_of_any_line(tmp_path):
    path = tmp_path / "tenure.db"
    opened(path).close()
    good = line(tmp_path / "good", "CREATE TABLE good (a TEXT) STRICT;", name="good")
    bad = line(tmp_path / "bad", "CREATE TABLE bad (a TEXT) STRICT; SELECT * FROM nowhere;")
    with pytest.raises(StoreUnavailable):
        opened(path, good, bad)
    database = opened(path)
    assert rows(database, "SELECT line FROM format") == [("kernel",)]
    assert rows(database, "SELECT name FROM sqlite_master WHERE name IN ('good', 'bad')") == []


def test_an_older_store_is_not_brought_up_by_a_reader(tmp_path):
    path = tmp_path / "tenure.db"
    opened(path).close()
    extra = line(tmp_path / "extra", ONE)
    with pytest.raises(StoreUnavailable, match="older format"):
        SqliteDatabase.open(path, lines=(KERNEL_LINE, extra), busy_seconds=1, writable=False)


def test_of_many_that_bring_a_store_up_each_finds_it_done_once(tmp_path):
    path = tmp_path / "tenure.db"
    opened(path).close()
    extra = line(tmp_path / "extra", ONE, TWO)
    barrier = threading.Barrier(8)

    def bring_up(_: int) -> list[tuple[object, ...]]:
        barrier.wait()
        database = opened(path, extra)
        found = rows(database, "SELECT a, b FROM one")
        database.close()
        return found

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(bring_up, range(8))) == [[("x", "y")]] * 8


def test_a_current_store_is_opened_without_reading_a_migration(tmp_path, monkeypatch):
    path = tmp_path / "tenure.db"
    extra = line(tmp_path / "extra", ONE)
    opened(path, extra).close()

    def refuse(*_: object) -> list[str]:
        raise AssertionError("the migrations were read")

    monkeypatch.setattr(formats, "steps", refuse)
    opened(path, extra).close()
