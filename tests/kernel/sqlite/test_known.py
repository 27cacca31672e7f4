"""Rows that a connection need not read again, and when it does all the same."""

from pathlib import Path

import apsw
import msgspec
import pytest

from tenure.kernel.identity import new_id
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.testing.conformance.requests import publication


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tenure.db"


def opened(path: Path) -> SqliteDatabase:
    database = SqliteDatabase.open(path, busy_seconds=10)
    with database.write() as tx:  # from here on it knows what it left behind
        tx.claims.insert(publication(f"opened {new_id()}"))
    return database


def claimed(database: SqliteDatabase, claim: str) -> None:
    with database.write() as tx:
        before = tx.claims.read("published")
        if before is None:
            tx.claims.insert(msgspec.structs.replace(publication(), claim=claim))
        else:
            revision = before.revision
            after = msgspec.structs.replace(before, claim=claim, revision=revision + 1)
            tx.claims.replace(after, expected=revision)


def claim_of(database: SqliteDatabase) -> str | None:
    with database.write() as tx:
        row = tx.claims.read("published")
    return None if row is None else row.claim


def test_a_row_that_somebody_else_wrote_is_read_again(path: Path):
    mine, other = opened(path), opened(path)
    claimed(mine, "a")
    for claim in "bcd":
        claimed(other, claim)
        assert claim_of(mine) == claim
        claimed(mine, f"{claim} again")
        assert claim_of(other) == f"{claim} again"


def test_a_row_that_somebody_else_wrote_first_is_not_known_as_missing(path: Path):
    mine, other = opened(path), opened(path)
    assert claim_of(mine) is None
    claimed(other, "theirs")
    assert claim_of(mine) == "theirs"


def test_reading_between_two_transactions_hides_nobodys_write(path: Path):
    mine, other = opened(path), opened(path)
    claimed(mine, "a")
    claimed(other, "b")
    with mine.read() as tx:
        row = tx.claims.read("published")
        assert row is not None
        assert row.claim == "b"
    assert claim_of(mine) == "b"


def test_what_was_undone_is_not_known(path: Path):
    database = opened(path)

    def undone() -> None:
        with database.write() as tx:
            tx.claims.insert(publication())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        undone()
    assert claim_of(database) is None


def test_what_a_failed_commit_undid_is_not_known(path: Path, monkeypatch: pytest.MonkeyPatch):
    database = opened(path)

    def full(self: SqliteDatabase) -> None:
        raise apsw.FullError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteDatabase, "_commit", full)
        with pytest.raises(Exception, match="full"):
            claimed(database, "lost")
    assert claim_of(database) is None
