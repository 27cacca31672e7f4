"""What can go wrong below a store, and what the caller is told: nothing, or a doubt."""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import apsw
import pytest

from tenure.kernel.errors import Doubt, RevisionConflict, StoreBusy, StoreUnavailable
from tenure.kernel.stores.sqlite import connection as connections
from tenure.kernel.stores.sqlite import store as stores
from tenure.kernel.stores.sqlite.connection import FIRST_PAUSE, GROWTH, Patience
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.kernel.stores.sqlite.translation import translated
from tenure.testing.clock import VirtualClock
from tenure.testing.conformance.backend import Caller, Owners
from tenure.testing.conformance.requests import bind_request, publication

#: Imported with their first row, which must not be while something is patched that they import.
LATE = ("attempts", "claims", "lanes")
for name in LATE:
    import_module(f"tenure.kernel.stores.sqlite.{name}")

BELOW = [
    apsw.BusyError,
    apsw.LockedError,
    apsw.FullError,
    apsw.ReadOnlyError,
    apsw.IOError,
    apsw.CantOpenError,
    apsw.PermissionsError,
    apsw.NotADBError,
    apsw.CorruptError,
    apsw.NoMemError,
    apsw.SQLError,
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tenure.db"


def opened(path: Path, busy_seconds: float = 0.1) -> SqliteDatabase:
    return SqliteDatabase.open(path, busy_seconds=busy_seconds)


def written(path: Path, work: str) -> bool:
    database = opened(path)
    with database.read() as tx:
        found = tx.claims.read(work) is not None
    database.close()
    return found


@pytest.mark.parametrize("kind", BELOW, ids=lambda kind: kind.__name__)
def test_whatever_fails_below_is_a_doubt_that_says_what_to_do(kind):
    error = translated(kind("told by the driver"), "/stores/tenure.db")
    assert isinstance(error, Doubt)
    assert "/stores/tenure.db" in str(error)
    assert {"try", "check", "make", "free", "keep"} & set(str(error).replace(";", " ").split())


@pytest.mark.parametrize("kind", BELOW, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("where", ["read", "write"])
def test_no_error_of_the_driver_leaves_a_transaction(path, kind, where):
    database = opened(path)
    transaction = database.read if where == "read" else database.write
    with pytest.raises(Doubt), transaction():
        raise kind("told by the driver")
    with database.write() as tx:
        tx.claims.insert(publication())


def test_a_constraint_nobody_expected_is_a_defect(path):
    database = opened(path)
    with pytest.raises(AssertionError, match="ConstraintError"), database.write() as tx:
        tx.connection.execute("INSERT INTO format VALUES ('extra', 0)")


def failing(
    monkeypatch: pytest.MonkeyPatch, statement: str, error: apsw.Error, *, times: int, after: bool
) -> list[str]:
    """Make a statement of the store fail, before or after it was executed; what was executed."""
    seen: list[str] = []
    execute = connections.run

    def run(connection: apsw.Connection, text: str, bindings: object = ()) -> object:
        seen.append(text)
        if text != statement or seen.count(text) > times:
            return execute(connection, text)
        if after:
            execute(connection, text)
        raise error

    monkeypatch.setattr(stores, "run", run)
    monkeypatch.setattr(connections, "run", run)
    return seen


def test_a_commit_that_finds_the_store_busy_is_asked_again(path, monkeypatch):
    database = opened(path)
    seen = failing(monkeypatch, "COMMIT", apsw.BusyError("locked"), times=3, after=False)
    with database.write() as tx:
        tx.claims.insert(publication())
    assert seen == ["BEGIN IMMEDIATE", "COMMIT", "COMMIT", "COMMIT", "COMMIT"]
    assert written(path, "published")


def test_a_commit_that_stays_busy_is_rolled_back(path, monkeypatch):
    database = opened(path)
    with monkeypatch.context() as patch:
        failing(patch, "COMMIT", apsw.BusyError("locked"), times=1000, after=False)
        with pytest.raises(StoreBusy), database.write() as tx:
            tx.claims.insert(publication())
    assert not written(path, "published")
    with database.write() as tx:
        tx.claims.insert(publication("usable"))


@pytest.mark.parametrize("happened", [True, False])
def test_a_commit_that_fails_on_the_disk_is_a_doubt_whether_it_happened_or_not(
    path, monkeypatch, happened
):
    database = opened(path)
    with monkeypatch.context() as patch:
        failing(patch, "COMMIT", apsw.IOError("disk I/O error"), times=1, after=happened)
        with pytest.raises(StoreUnavailable), database.write() as tx:
            tx.claims.insert(publication())
    assert written(path, "published") is happened


def test_a_rollback_that_fails_hides_nothing_and_the_handle_is_given_up(path, monkeypatch):
    database = opened(path)

    def write_and_crash() -> None:
        with database.write() as tx:
            tx.claims.insert(publication())
            raise ZeroDivisionError

    with monkeypatch.context() as patch:
        failing(patch, "ROLLBACK", apsw.IOError("disk I/O error"), times=1, after=False)
        with pytest.raises(ZeroDivisionError):
            write_and_crash()
    with pytest.raises(StoreUnavailable, match="closed"), database.read():
        pass
    assert not written(path, "published")


def test_a_full_disk_is_a_doubt_and_nothing_happened(path):
    database = opened(path)
    with database.read() as tx:
        ((pages,),) = tx.connection.execute("PRAGMA page_count")
        tx.connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()

    def fill() -> None:
        with database.write() as tx:
            for number in range(10_000):
                tx.claims.insert(publication(f"work {number}"))

    with pytest.raises(StoreUnavailable, match="the disk is full"):
        fill()
    assert not written(path, "work 0")
    with database.write() as tx:
        tx.claims.insert(publication())


def test_a_read_that_turns_into_a_write_behind_another_writer_is_a_doubt(path):
    """SQLite does not wait here, however patient the handle: what was read is out of date."""
    slow, quick = opened(path, 60), opened(path)

    def upgrade() -> None:
        with slow.read() as tx:
            assert tx.claims.read("published") is None
            with quick.write() as other:
                other.claims.insert(publication())
            tx.claims.insert(publication("based on nothing"))

    with pytest.raises(StoreBusy):
        upgrade()
    assert not written(path, "based on nothing")


def test_a_conflict_on_a_row_is_told_from_a_defect(path):
    database = opened(path)
    with database.write() as tx:
        tx.claims.insert(publication())
        with pytest.raises(RevisionConflict) as conflict:
            tx.claims.insert(publication())
    assert conflict.value.fields == {"record": "claim on published", "expected": 0}


def waits(monkeypatch: pytest.MonkeyPatch, patience: Patience) -> list[float]:
    """The pauses of one wait, to its end."""
    pauses: list[float] = []
    monkeypatch.setattr("tenure.kernel.stores.sqlite.connection.time.sleep", pauses.append)
    tries = 0
    while patience(tries):
        tries += 1
    return pauses


def test_a_waiter_waits_as_long_as_it_was_told_in_short_pauses(monkeypatch):
    patience = Patience(1.0)
    for _ in range(2):
        pauses = waits(monkeypatch, patience)
        assert sum(pauses) == pytest.approx(1.0)
        assert max(pauses) <= FIRST_PAUSE * GROWTH
        assert pauses[0] <= FIRST_PAUSE


def test_waiters_do_not_wait_in_step(monkeypatch):
    firsts = {waits(monkeypatch, Patience(0.01))[0] for _ in range(100)}
    assert len(firsts) > 30


def test_no_patience_is_no_wait(monkeypatch):
    assert waits(monkeypatch, Patience(0.0)) == []


KILLED = """
import sys
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.testing.clock import VirtualClock
from tenure.testing.conformance.backend import Caller, Owners
from tenure.testing.conformance.requests import bind_request
from tenure.testing.faults import install_from_environment
caller = Caller(SqliteDatabase.open(sys.argv[1], busy_seconds=1), VirtualClock(), Owners())
install_from_environment()
record = caller.bind(bind_request("ann"))
caller.settle(record.fence)
print("alive")
"""

Check = Callable[[Caller], bool]


@pytest.mark.parametrize(
    ("fault", "then"),
    [
        ("bind:read=kill", "nothing"),
        ("store:commit=kill", "nothing"),
        ("store:committed=kill", "bound"),
        ("settle:read=kill", "bound"),
        ("store:commit#2=kill", "bound"),
        ("store:committed#2=kill", "passed"),
    ],
)
def test_a_process_that_is_killed_leaves_all_of_a_call_or_nothing(path, monkeypatch, fault, then):
    monkeypatch.setenv("TENURE_FAULTS", fault)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True)
    assert (done.returncode, done.stdout) == (-9, b"")
    caller = Caller(opened(path), VirtualClock(), Owners())
    record = caller.attempt("ann-attempt")
    found = "nothing" if record is None else record.outcome or "bound"
    assert found == then
    again = caller.bind(bind_request("ann"))
    assert caller.settle(again.fence).outcome == "passed"
