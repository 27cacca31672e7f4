"""What the store in memory promises beyond the law books: sharing, freezing, other owners' tables."""

import pytest

from tenure.kernel.clock import Instant
from tenure.kernel.errors import StoreBusy, StoreUnavailable
from tenure.kernel.identity import Executor, LeaseOwnerIdentity, Token
from tenure.kernel.lane import LaneRecord
from tenure.kernel.lease import LeaseTimings, begin
from tenure.kernel.store import Database
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables

NOW = Instant(boot="b", boot_ns=0, awake_ns=0, wall_ns=0)


def lane(name: str) -> LaneRecord:
    owner = LeaseOwnerIdentity(owner_id="o", incarnation_id="i")
    return LaneRecord(
        id=name,
        revision=1,
        generation=1,
        executor=Executor(owner=owner, executor_id="e"),
        token=Token(n=1, secret="s"),
        lease=begin(NOW, LeaseTimings(30.0, 10.0)),
    )


def test_handles_on_the_same_tables_see_each_others_commits():
    tables = MemoryTables()
    first: Database = MemoryDatabase(tables)
    second: Database = MemoryDatabase(tables)
    with first.write() as tx:
        tx.lanes.insert(lane("a"))
    with second.read() as tx:
        assert tx.lanes.read("a") == lane("a")


def test_a_reader_keeps_what_it_saw():
    tables = MemoryTables()
    database = MemoryDatabase(tables)
    with database.read() as before:
        with database.write() as tx:
            tx.lanes.insert(lane("a"))
        assert before.lanes.read("a") is None


def test_a_block_that_raises_changes_nothing():
    tables = MemoryTables()
    database = MemoryDatabase(tables)
    before = tables.freeze()

    def write_and_fail() -> None:
        with database.write() as tx:
            tx.lanes.insert(lane("a"))
            tx.table("receipts")["r"] = "x"
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert tables.freeze() is before
    with database.write() as tx:
        tx.lanes.insert(lane("a"))


def test_a_second_writer_waits_and_then_says_busy():
    tables = MemoryTables()
    other = MemoryDatabase(tables, busy_seconds=0.01)
    with MemoryDatabase(tables).write() as tx:
        with pytest.raises(StoreBusy), other.write():
            pass
        tx.lanes.insert(lane("a"))
    with other.write() as tx:
        assert tx.lanes.read("a") is not None


def test_a_transaction_that_has_ended_takes_no_change():
    database = MemoryDatabase(MemoryTables())
    with database.write() as ended:
        pass
    with pytest.raises(AssertionError):
        ended.lanes.insert(lane("a"))
    with database.read() as reading, pytest.raises(AssertionError):
        reading.table("receipts")["r"] = "x"


def test_frozen_contents_are_equal_by_their_rows_and_can_be_restored():
    one, two = MemoryTables(), MemoryTables()
    empty = one.freeze()
    for tables in (one, two):
        with MemoryDatabase(tables).write() as tx:
            tx.lanes.insert(lane("a"))
            tx.table("receipts")["r"] = ("passed", 1)
    assert one.freeze() == two.freeze()
    assert hash(one.freeze()) == hash(two.freeze())
    assert one.freeze() != empty
    kept = one.freeze()
    with MemoryDatabase(one).write() as tx:
        del tx.table("receipts")["r"]
    assert one.freeze() != kept
    one.restore(kept)
    assert dict(one.freeze().table("receipts")) == {"r": ("passed", 1)}
    one.restore(empty)
    assert not one.freeze().lanes


def test_a_table_emptied_again_equals_one_never_written():
    tables = MemoryTables()
    with MemoryDatabase(tables).write() as tx:
        tx.table("receipts")["r"] = 1
    with MemoryDatabase(tables).write() as tx:
        tx.table("receipts").clear()
    assert tables.freeze() == MemoryTables().freeze()


def test_a_closed_handle_says_so_and_leaves_the_others():
    tables = MemoryTables()
    database = MemoryDatabase(tables)
    database.close()
    database.close()
    with pytest.raises(StoreUnavailable), database.read():
        pass
    with MemoryDatabase(tables).read():
        pass
