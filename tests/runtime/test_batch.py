"""Many calls in one commit: each as if it were alone."""

from pathlib import Path

import pytest

from tenure.kernel.claim import ClaimRecord
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.runtime.stores.sqlite.batch import BatchDatabase, Entangled
from tenure.runtime.stores.sqlite.rows import LINES
from tenure.testing.conformance.requests import publication


@pytest.fixture
def database(tmp_path: Path) -> BatchDatabase:
    return BatchDatabase(SqliteDatabase.open(tmp_path / "b.db", lines=LINES, busy_seconds=10))


def writes(database: BatchDatabase, work: str) -> None:
    with database.write() as tx:
        tx.claims.insert(publication(work))


def breaks(database: BatchDatabase, work: str | None) -> None:
    with database.write() as tx:
        tx.claims.read("anything")
        if work is not None:
            tx.claims.insert(publication(work))
        raise ZeroDivisionError


def fails(database: BatchDatabase, work: str) -> None:
    with pytest.raises(ZeroDivisionError):
        breaks(database, work)


def refuses(database: BatchDatabase) -> None:
    with pytest.raises(ZeroDivisionError):
        breaks(database, None)


def entangled(database: BatchDatabase) -> None:
    with database.batch():
        writes(database, "a")
        fails(database, "b")
        with pytest.raises(Entangled):
            writes(database, "c")


def stored(database: BatchDatabase, *works: str) -> list[str]:
    def row(work: str) -> ClaimRecord | None:
        with database.write() as tx:
            return tx.claims.read(work)

    return [work for work in works if row(work) is not None]


def test_a_call_that_fails_first_is_undone_alone(database: BatchDatabase):
    with database.batch():
        fails(database, "a")
        writes(database, "b")
    assert stored(database, "a", "b") == ["b"]


def test_a_call_that_is_refused_before_it_wrote_disturbs_nobody(database: BatchDatabase):
    with database.batch():
        writes(database, "a")
        refuses(database)
        writes(database, "b")
    assert stored(database, "a", "b") == ["a", "b"]


def test_a_call_that_fails_after_others_wrote_undoes_the_batch(database: BatchDatabase):
    with pytest.raises(Entangled):
        entangled(database)
    assert stored(database, "a", "b", "c") == []


def test_made_again_with_savepoints_each_call_is_undone_alone(database: BatchDatabase):
    with database.batch(savepoints=True):
        writes(database, "a")
        fails(database, "b")
        assert stored(database, "a", "b") == ["a"]
        writes(database, "c")
    assert stored(database, "a", "b", "c") == ["a", "c"]
