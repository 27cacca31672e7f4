"""A host is stopped for longer than its lease: alone it goes on, robbed it gives way."""

from pathlib import Path

import pytest

from tenure.kernel.clock import SystemClock
from tenure.kernel.errors import StoreBusy
from tenure.kernel.lane import lapse
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.runtime.stores.sqlite.rows import LINES
from tests.crash.hosts import Host, effects, happened, side_by_side
from tests.crash.stored import books, opened
from tests.crash.table import POLICIES, Row, rows
from tests.waiting import until

SESSION = "chat"
FLAGS = ("--ttl=0.9",)
AGAIN = 10

#: What a host that does not know yet can still do outside: what it has in flight.
IN_FLIGHT = {
    "intend model 1": {"model-1"},
    "ask the model": {"model-1"},
    "record model 1, intend both tools": {"charge", "mail"},
    "charge": {"charge", "mail"},
    "record charge": {"mail"},
    "mail": {"mail"},
    "record mail, cross the boundary, intend model 2": {"model-2"},
    "ask the model again": {"model-2"},
}


def robbable() -> list[Row]:
    """The moments at which the host has the lane, and does not keep others from writing."""
    every = rows()
    first = [row.point for row in every].index("journal:written>store:committed")
    held = [row for row in every[first:] if row.expected["found"] == "the turn"]
    return [row for row in held if row.moment != "inside"]


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_host_stopped_past_its_lease_at_any_operation_commits_if_nobody_took_over(
    tmp_path: Path,
):
    def stopped(row: Row) -> None:
        store = tmp_path / f"{row}.db"
        with Host("ask", store, faults=f"{row.point}=stop", flags=FLAGS) as host:
            host.await_stopped()
            await_lapse(store)
            host.process.go_on()
            (answer,) = host.answers()
        (result,) = answer["results"]
        assert (result["status"], result["text"]) == ("completed", "Done.")
        assert effects(store) == {"model-1": 1, "charge": 1, "mail": 1, "model-2": 1}
        told = books(store, SESSION, result["turn"])
        assert (len(told["messages"]), told["turn"].drives) == (5, 0)

    side_by_side(stopped, rows())


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_host_robbed_while_it_was_stopped_writes_nothing_and_returns_the_one_result(
    tmp_path: Path,
):
    def robbed(row: Row, again: int = 0) -> None:
        store = tmp_path / f"{row} {again}.db"
        with Host("ask", store, faults=f"{row.point}=stop", flags=FLAGS) as host:
            host.await_stopped()
            if is_locked(store):  # its keeper was just renewing: nobody else can write at all
                assert again < AGAIN
                robbed(row, again + 1)
                return
            with Host("recover", store, flags=("--drive-only", *FLAGS)) as thief:
                (stolen,) = thief.answers()
            observed = row.observed(POLICIES[0], stolen, effects(store))
            assert not row.differs(observed), row.told(observed)
            (result,) = stolen["results"]
            before, until_now = books(store, SESSION, result["turn"]), happened(store)
            host.process.go_on()
            (answer,) = host.answers()
        assert answer["results"] == [result], "one result for everybody"
        assert books(store, SESSION, result["turn"]) == before, (
            "no write of the robbed host took effect"
        )
        late = [name for name, _, _ in happened(store)[len(until_now) :]]
        assert len(late) == len(set(late))
        assert set(late) <= IN_FLIGHT.get(row.operation, set())

    side_by_side(robbed, robbable())


def is_locked(path: Path) -> bool:
    """Whether somebody is inside a transaction that writes."""
    database = SqliteDatabase.open(path, lines=LINES, busy_seconds=0)
    try:
        with database.write():
            return False
    except StoreBusy:
        return True
    finally:
        database.close()


def await_lapse(path: Path) -> None:
    """Wait until the lane may be taken, by the clock that decides it."""
    clock = SystemClock()

    def free() -> bool:
        with opened(path) as store:
            lane = store.lane(SESSION)
        return lane is None or lane.lease is None or lapse(lane.lease, clock.now()) is not None

    until(free, "the lease lapses")
