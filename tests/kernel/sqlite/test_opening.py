"""Founding and opening: never created over what cannot be read, never waited for in vain."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tenure.kernel.errors import StoreBusy, StoreUnavailable
from tenure.kernel.stores.sqlite.lines import APPLICATION_ID
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.testing.conformance.requests import publication


def opened(path: Path, *, create: bool = True, writable: bool = True) -> SqliteDatabase:
    return SqliteDatabase.open(path, busy_seconds=0.1, create=create, writable=writable)


def founded(path: Path, work: str = "published") -> Path:
    """A store with one row, or with one row more, closed."""
    database = opened(path)
    with database.write() as tx:
        tx.claims.insert(publication(work))
    database.close()
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return founded(tmp_path / "tenure.db")


def contents(directory: Path) -> dict[str, bytes]:
    return {entry.name: entry.read_bytes() for entry in directory.iterdir()}


def test_a_missing_store_is_founded_and_nothing_else_is_left(tmp_path):
    path = tmp_path / "tenure.db"
    opened(path).close()
    assert os.listdir(tmp_path) == ["tenure.db"]


def test_a_store_is_its_users_own(store):
    """It contains tokens."""
    assert store.stat().st_mode & 0o777 == 0o600


def test_a_missing_store_is_not_founded_unless_asked(tmp_path):
    with pytest.raises(StoreUnavailable, match="does not exist"):
        opened(tmp_path / "tenure.db", create=False)
    with pytest.raises(StoreUnavailable, match="does not exist"):
        opened(tmp_path / "tenure.db", writable=False)
    assert os.listdir(tmp_path) == []


def test_a_missing_directory_is_named(tmp_path):
    with pytest.raises(StoreUnavailable, match="its directory does not exist"):
        opened(tmp_path / "nowhere" / "tenure.db")


def test_a_founder_that_dies_leaves_nothing_under_the_name(tmp_path, monkeypatch):
    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tenure.kernel.stores.sqlite.founding.take_steps", crash)
    with pytest.raises(KeyboardInterrupt):
        opened(tmp_path / "tenure.db")
    assert os.listdir(tmp_path) == []


def test_the_loser_of_a_founding_uses_the_winners_store(tmp_path, monkeypatch):
    """Somebody else's store appears after we looked and before ours is there."""
    path = tmp_path / "tenure.db"
    winner = founded(tmp_path / "winner.db")
    monkeypatch.setattr(
        "tenure.kernel.stores.sqlite.founding._build",
        lambda cradle, *_, **__: shutil.copy(winner, path),
    )
    with opened(path).read() as tx:
        assert tx.claims.read("published") == publication()
    assert sorted(os.listdir(tmp_path))[:1] == ["tenure.db"]
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".new")]


def spoil(path: Path, how: str) -> None:
    whole = path.read_bytes()
    if how == "emptied":
        path.write_bytes(b"")
    elif how == "emptied, log left":
        path.write_bytes(b"")
        Path(f"{path}-wal").write_bytes(b"log")
    elif how == "gone, log left":
        path.unlink()
        Path(f"{path}-wal").write_bytes(b"log")
    elif how == "text":
        path.write_text("somebody's notes, quite long\n" * 500)
    elif how == "zeroed":
        path.write_bytes(bytes(len(whole)))
    elif how == "one byte":
        path.write_bytes(whole[:1])
    elif how == "header only":
        path.write_bytes(whole[:100])
    elif how == "first page only":
        path.write_bytes(whole[:4096])
    elif how == "half":
        path.write_bytes(whole[: len(whole) // 2])
    elif how == "first page zeroed":
        path.write_bytes(bytes(4096) + whole[4096:])
    else:
        raise AssertionError(how)


@pytest.mark.parametrize(
    "how",
    [
        "emptied",
        "emptied, log left",
        "gone, log left",
        "text",
        "zeroed",
        "one byte",
        "header only",
        "first page only",
        "half",
        "first page zeroed",
    ],
)
@pytest.mark.parametrize("writable", [True, False])
def test_what_is_not_a_whole_store_is_refused_and_left_as_it_is(store, how, writable):
    spoil(store, how)
    before = contents(store.parent)
    with pytest.raises(StoreUnavailable) as refused:
        opened(store, writable=writable)
    assert str(store) in str(refused.value)
    assert "keep the file" in str(refused.value)
    after = contents(store.parent)
    assert after.get("tenure.db") == before.get("tenure.db")
    assert after.get("tenure.db-wal", b"") in (before.get("tenure.db-wal", b""), b"")
    if "log left" in how:
        assert after == before


def test_somebody_elses_database_is_refused_and_left_as_it_is(tmp_path):
    path = tmp_path / "tenure.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE format (line TEXT, version INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match="is not a Tenure store: somebody else's database"):
        opened(path)
    assert path.read_bytes() == before


def test_a_store_without_its_tables_is_refused(store):
    connection = apsw.Connection(str(store))
    connection.execute("DROP TABLE format")
    connection.close()
    with pytest.raises(StoreUnavailable, match="is not a Tenure store: a different shape"):
        opened(store)


def test_a_store_that_lost_a_table_says_so_and_is_not_empty(store):
    connection = apsw.Connection(str(store))
    connection.execute("DROP TABLE attempt")
    connection.close()
    database = opened(store)
    with (
        pytest.raises(StoreUnavailable, match="is not a Tenure store: a different shape"),
        database.read() as tx,
    ):
        tx.attempts.read("a")


def test_a_directory_is_not_a_store(tmp_path):
    with pytest.raises(StoreUnavailable):
        opened(tmp_path)


def test_a_link_is_followed_to_the_store_and_its_log(store, tmp_path):
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(store)
    database = opened(link)
    with database.write() as tx:
        tx.claims.insert(publication("through the link"))
    assert sorted(os.listdir(link.parent)) == ["link.db"]
    with opened(store).read() as tx:
        assert tx.claims.read("through the link") is not None


@pytest.mark.parametrize("name", ["a b.db", "100%.db", "what?.db", "no#1.db", "ü.db", ":memory:"])
def test_a_strange_name_is_a_name(tmp_path, monkeypatch, name):
    path = founded(tmp_path / name)
    with frozen(path, monkeypatch).read() as tx:
        assert tx.claims.read("published") == publication()
    with opened(path).read() as tx:
        assert tx.claims.read("published") == publication()
    assert name in os.listdir(tmp_path)


def test_a_store_is_durable_and_waits_for_nobody_to_read(store):
    with opened(store).read() as tx:
        connection = tx.connection
        assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
        assert connection.execute("PRAGMA synchronous").fetchall() == [(2,)]
        assert connection.execute("PRAGMA foreign_keys").fetchall() == [(1,)]
        assert connection.execute("PRAGMA application_id").fetchall() == [(APPLICATION_ID,)]


def test_a_store_that_somebody_took_out_of_its_log_is_put_back(store):
    connection = apsw.Connection(str(store))
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    connection.close()
    with opened(store).read() as tx:
        assert tx.connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]


def test_a_switch_to_the_log_that_stays_busy_is_a_doubt(store):
    other = apsw.Connection(str(store))
    other.execute("PRAGMA journal_mode = DELETE").fetchall()
    other.execute("BEGIN")
    other.execute("SELECT * FROM format").fetchall()
    with pytest.raises(StoreBusy):
        opened(store)
    other.close()


def test_only_what_is_opened_for_writing_writes(store):
    database = opened(store, writable=False)
    with pytest.raises(StoreUnavailable, match="cannot be written"), database.write() as tx:
        tx.claims.insert(publication("another"))


def test_a_write_inside_a_read_is_a_defect_and_is_not_kept(store):
    database = opened(store)
    with pytest.raises(AssertionError, match="a write inside read"), database.read() as tx:
        tx.claims.insert(publication("another"))
    with database.read() as tx:
        assert tx.claims.read("another") is None


def test_a_transaction_ends_with_its_block(store):
    database = opened(store)
    with database.write() as tx:
        pass
    with pytest.raises(AssertionError, match="has ended"):
        tx.claims.read("published")


def test_a_transaction_inside_another_is_a_defect(store):
    database = opened(store)
    with (
        pytest.raises(AssertionError, match="a transaction inside another"),
        database.write(),
        database.write(),
    ):
        pass
    with database.write() as tx:
        tx.claims.insert(publication("usable"))


FORK = """
import os, sys
from tenure.kernel.stores.sqlite.store import SqliteDatabase
database = SqliteDatabase.open(sys.argv[1], busy_seconds=0.1)
writing = database.write()
writing.__enter__()
if os.fork() == 0:
    try:
        with database.read():
            pass
    except AssertionError as error:
        database.close()  # leaves the parent's files alone
        os._exit(0 if "opened before a fork" in str(error) else 2)
    os._exit(3)
status = os.waitstatus_to_exitcode(os.wait()[1])
writing.__exit__(None, None, None)
sys.exit(status)
"""


def test_a_handle_is_not_carried_across_a_fork(store):
    done = subprocess.run([sys.executable, "-c", FORK, str(store)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    with opened(store).read() as tx:
        assert tx.claims.read("published") is not None


READ_ONLY_MOUNT = """
import sys
from tenure.kernel.errors import StoreUnavailable
from tenure.kernel.stores.sqlite.store import SqliteDatabase
path = sys.argv[1]
try:
    SqliteDatabase.open(path, busy_seconds=0.1)
except StoreUnavailable as error:
    print(error)
database = SqliteDatabase.open(path, busy_seconds=0.1, writable=False)
with database.read() as tx:
    print(tx.claims.read("published").work)
"""


def test_a_store_where_nothing_can_be_written_is_read(store):
    script = (
        f"mount --bind {store.parent} {store.parent} && mount -o remount,ro,bind {store.parent} && "
        f'exec {sys.executable} -c "$0" {store}'
    )
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, READ_ONLY_MOUNT], capture_output=True, text=True
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("this user may not mount")
    assert done.stderr == ""
    refusal, row = done.stdout.splitlines()
    assert refusal == (
        f"{store}: cannot be opened (unable to open database file); check that it is a file and "
        f"that you may read and write in {store.parent}"
    )
    assert row == "published"


def frozen(store: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteDatabase:
    """A reader that must do without a log, beside writers that need not."""

    def refuse(*_: object, **__: object) -> apsw.Connection:
        raise apsw.CantOpenError("unable to open database file")

    with monkeypatch.context() as patch:
        patch.setattr("tenure.kernel.stores.sqlite.store.connect", refuse)
        return opened(store, writable=False)


def test_a_frozen_store_is_read_anew_each_time(store, monkeypatch):
    reader = frozen(store, monkeypatch)
    writer = opened(store)
    with writer.write() as tx:
        tx.claims.insert(publication("later"))
    with pytest.raises(StoreBusy), reader.read() as tx:
        pass
    writer.close()
    with reader.read() as tx:
        assert tx.claims.read("later") is not None


def test_what_was_read_while_a_frozen_store_moved_does_not_count(store, monkeypatch):
    reader = frozen(store, monkeypatch)
    with pytest.raises(StoreBusy), reader.read():
        founded(store, "later")
