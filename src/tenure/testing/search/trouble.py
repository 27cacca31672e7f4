"""What happens to the runs of the model without their doing."""

import msgspec

from tenure.kernel import ledger
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.testing.search.action import Steps, moves
from tenure.testing.search.explorer import Step
from tenure.testing.search.world import CANCELS, OPERATOR, Run, World, instant, name

_with = msgspec.structs.replace


def befalls(world: World) -> Steps:
    """Every step of the world itself. None needs to happen, except that the clock goes on."""
    fresh = [
        row
        for row in world.contents.attempts.values()
        if row.bound and row.lease.renewed == instant(world.epoch)
    ]
    if world.troubles.lapses and fresh:
        yield _lapse(world)
    if any(_owner(world, row).place == "vanished" for row in fresh):
        yield _time_passes(world)
    if world.troubles.crashes:
        yield from _deaths(world)
    if world.troubles.cancels:
        yield from _cancellations(world)


def _owner(world: World, row: AttemptRecord) -> Run:
    return world.runs[row.evidence.pid]


def _lapse(world: World) -> Step[World]:
    """The clock jumps past every lease: everybody stalled, or the machine slept."""
    after = _with(world.spending("lapses"), epoch=world.epoch + 1)
    return Step(("the clock", "jumps", ""), after, adverse=True)


def _time_passes(world: World) -> Step[World]:
    """The clock goes on and whoever works renews in time, so that only the silent lapse."""
    tables = MemoryTables(world.contents)
    now = instant(world.epoch + 1)
    for row in world.contents.attempts.values():
        if row.bound and _owner(world, row).place in ("job", "settle"):
            with MemoryDatabase(tables).write() as tx:
                ledger.renew(tx, row.fence, now)
    after = _with(world, contents=tables.freeze(), epoch=world.epoch + 1)
    return Step(("the clock", "goes on", ""), after)


def _deaths(world: World) -> Steps:
    after = world.spending("crashes")
    for row in world.contents.attempts.values():
        index = row.evidence.pid
        if row.bound and world.runs[index].alive:
            yield moves(after, index, "dies", Run(place="dead"), adverse=True)
            yield moves(after, index, "dies unseen", Run(place="vanished"), adverse=True)


def _cancellations(world: World) -> Steps:
    after = world.spending("cancels")
    for index, run in enumerate(world.runs):
        asked = name(index) in world.contents.table(CANCELS)
        if run.place in ("job", "follow") and not asked:
            tables = MemoryTables(world.contents)
            with MemoryDatabase(tables).write() as tx:
                tx.table(CANCELS)[name(index)] = OPERATOR
            stopped = _with(after, contents=tables.freeze())
            yield Step((name(index), "is asked to stop", ""), stopped, adverse=True)
