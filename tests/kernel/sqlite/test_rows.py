"""Rows: what does not parse is unreadable by name, and nothing is taken for missing."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tenure.kernel.errors import Doubt, RecordUnreadable
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.testing.clock import VirtualClock
from tenure.testing.conformance.backend import Caller, Owners
from tenure.testing.conformance.requests import (
    LANE,
    REPOSITORY,
    acquire_request,
    bind_request,
)

#: (table, what somebody did to the row)
DAMAGE = [
    ("attempt", "token = '{}'"),
    ("attempt", "token = ''"),
    ("attempt", "token = 'null'"),
    ("attempt", "token = '[1, \"s\"]'"),
    ("attempt", "token = substr(token, 1, 10)"),
    ("attempt", 'owner = \'{"owner_id": 7, "incarnation_id": "i"}\''),
    ("attempt", "lease = '{}'"),
    ("attempt", "lease = replace(lease, '30.0', '3.0')"),
    ("attempt", "lease = replace(lease, '30.0', '\"30\"')"),
    ("attempt", "evidence = 'null'"),
    ("attempt", "outcome = 'won', settled_at = '{}'"),
    ("attempt", "outcome = 'passed'"),
    ("attempt", "outcome = 'joined', settled_at = owner"),
    ("lane", "executor = '{}'"),
    ("lane", "lease = '{}'"),
    ("lane", "displaced = '{}'"),
    ("lane", "deleted = 2"),
    ("claim", "token = '{}'"),
    ("claim", "finished = 7"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "tenure.db"
    caller = called(path)
    caller.bind(bind_request("ann"))
    lane = caller.acquire(acquire_request("ann"))
    caller.claim(lane.fence, ["work"], "ann's")
    caller.wire.close()
    return path


def called(path: Path) -> Caller:
    return Caller(SqliteDatabase.open(path, busy_seconds=1), VirtualClock(), Owners())


def damage(path: Path, table: str, change: str) -> bytes:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute(f"UPDATE {table} SET {change}")
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize(("table", "change"), DAMAGE)
def test_a_row_that_does_not_parse_is_unreadable_and_stays(path, table, change):
    before = damage(path, table, change)
    caller = called(path)
    every: dict[str, list[Callable[[], object]]] = {
        "attempt": [
            lambda: caller.attempt("ann-attempt"),
            lambda: caller.unfinished(REPOSITORY),
            lambda: caller.bind(bind_request("ann")),
        ],
        "lane": [
            lambda: caller.lane(LANE),
            lambda: caller.acquire(acquire_request("bob")),
        ],
        "claim": [
            lambda: caller.work("work"),
            lambda: caller.finish("ann's", ["work"]),
            lambda: caller.abandon("ann's"),
        ],
    }
    calls = every[table]
    if "outcome" in change:
        calls.pop(1)  # it no longer counts as unfinished
    for call in calls:
        with pytest.raises(RecordUnreadable) as unreadable:
            call()
        assert isinstance(unreadable.value, Doubt)
        assert unreadable.value.reason
    caller.wire.close()
    assert path.read_bytes() == before


def test_an_unreadable_row_is_named(path):
    damage(path, "attempt", "token = '{}'")
    with pytest.raises(RecordUnreadable) as unreadable:
        called(path).attempt("ann-attempt")
    assert str(unreadable.value) == (
        "attempt ann-attempt is stored but unreadable (Object missing required field `n`); "
        "keep the file and report it"
    )


def test_an_unreadable_rival_does_not_make_room(path):
    """A subject whose holder cannot be read is not free."""
    damage(path, "attempt", "token = '{}'")
    caller = called(path)
    with pytest.raises(RecordUnreadable):
        caller.bind(bind_request("bob"))
    assert caller.attempt("bob-attempt") is None


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("attempt", "revision = 0"),
        ("attempt", "sequence = 0"),
        ("attempt", "outcome = 'won', settled_at = '{}'"),
        ("attempt", "outcome = 'passed'"),
        ("attempt", "settled_at = '{}'"),
        ("attempt", "outcome = 'passed', settled_at = '{}', retired = '{}'"),
        ("attempt", "outcome = 'joined', settled_at = '{}'"),
        ("attempt", "joined = 'x'"),
        ("attempt", "repository = NULL"),
        ("attempt", "sequence = 'one'"),
        ("lane", "generation = 0"),
        ("lane", "deleted = 2"),
        ("claim", "finished = 2"),
        ("claim", "generation = 0"),
    ],
)
def test_the_file_itself_refuses_what_no_record_says(path, table, change):
    connection = apsw.Connection(str(path))
    with pytest.raises(apsw.ConstraintError):
        connection.execute(f"UPDATE {table} SET {change}")
    connection.close()
