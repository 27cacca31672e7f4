"""What happens to turns that wait without their drivers' doing: answers, above all."""

import msgspec

from tenure.kernel.lane import LaneRecord
from tenure.kernel.stores.memory import MemoryTables
from tenure.runtime.model.wait import Answered, Resolution, WaitRow, signed
from tenure.testing.search import session_trouble as trouble
from tenure.testing.search import wait_laws as laws
from tenure.testing.search.explorer import Step
from tenure.testing.search.session_trouble import Judge, Steps
from tenure.testing.search.session_world import CHAT, SECRET, Call, World, name, store_of

_with = msgspec.structs.replace

_YES = Resolution(word="value", value="yes")
_NO = Resolution(word="value", value="no")


def befalls(world: World, judge: Judge) -> Steps:
    """Every step that is no driver's. Sooner or later somebody answers what has all the time
    there is, and the rest times out; nothing else needs to happen."""
    yield from _of_the_clock(world)
    yield from trouble.of_drivers(world)
    yield from trouble.of_people(world, judge)
    yield from _of_answers(world, judge)
    if world.late is not None:
        yield from trouble.arrives(world, world.late, judge)


def _of_the_clock(world: World) -> Steps:
    fresh = list(trouble.of_the_clock(world))
    yield from fresh
    lane = world.contents.lanes.get(CHAT)
    driven = lane is not None and trouble.held(world, lane)
    after = _with(world, epoch=world.epoch + 1)
    if not fresh and not driven and laws.later(world):
        yield Step(("the clock", "goes on", ""), after)
    if world.troubles.ticks and lane is not None and driven and lane.lease is not None:
        yield from _ticks(world, lane)


def _ticks(world: World, lane: LaneRecord) -> Steps:
    """Time passes while a driver has the lane, and renews it."""
    held = lane.fence
    index = next(i for i, driver in enumerate(world.drivers) if driver.fence == held)
    after = _with(world.spending("ticks"), epoch=world.epoch + 1)
    tables = MemoryTables(after.contents)
    store_of(tables, after.epoch).renew(held)
    yield Step((name(index), "renews in time", ""), _with(after, contents=tables.freeze()), True)


def _of_answers(world: World, judge: Judge) -> Steps:
    """Somebody answers, or somebody else does, or an operator cancels."""
    for wait in laws.rows(world.contents).values():
        if wait.due_at is None and wait.resolution is None:
            yield from _answers(world, wait, _YES, "somebody", False, judge)
        if world.troubles.answers:
            yield from _answers(world.spending("answers"), wait, _NO, "somebody else", True, judge)
    if world.troubles.revokes and any(
        w.resolution is None for w in laws.rows(world.contents).values()
    ):
        call = Call("revoke_waits", (CHAT, "not needed"))
        after = world.spending("revokes")
        yield from trouble.is_called(after, "the operator", "revokes", call, judge)


def _answers(
    world: World, wait: WaitRow, answer: Resolution, who: str, adverse: bool, judge: Judge
) -> Steps:
    """An answer, and what whoever gives it is told."""
    tables = MemoryTables(world.contents)
    call = Call("resolve", (signed(wait.id, SECRET), answer))
    got = store_of(tables, world.epoch).resolve(*call.arguments)
    after = _with(world, contents=tables.freeze())
    broken = judge(world, after, call) or _told(world, after, wait, got)
    yield Step((who, "answers", wait.name), after, adverse=adverse, broken=broken)


def _told(before: World, after: World, wait: WaitRow, got: Answered) -> str:
    """Whoever answers is told how the wait ended, and whether that was this answer."""
    stored = laws.rows(after.contents)[wait.id].resolution
    if got.resolution != stored:
        return f"who answers {wait.name} is told {got.resolution}, and it ended by {stored}"
    if got.first == laws.ended(before, wait):
        return f"who answers {wait.name} is told to be first: {got.first}, and it had ended"
    return ""
