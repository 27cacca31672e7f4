"""What happens to the drivers of the model without their doing."""

from collections.abc import Callable, Iterator

import msgspec

from tenure.kernel.errors import TenureError
from tenure.kernel.lane import LaneRecord
from tenure.kernel.stores.memory import MemoryTables
from tenure.runtime.errors import RuntimeFault
from tenure.runtime.model.work import ActiveTurn
from tenure.testing.search import session_laws as laws
from tenure.testing.search.explorer import Step
from tenure.testing.search.session_world import (
    BESIDE,
    CHAT,
    FIRST_TURN,
    Call,
    Driver,
    World,
    instant,
    name,
    store_of,
    work,
)

_with = msgspec.structs.replace
Steps = Iterator[Step[World]]

#: Says which law a call broke, from the state before and the state after it.
Judge = Callable[[World, World, Call], str]

_STOPPABLE = ("assign", "intend", "ask", "open", "suspend", "commit")


def befalls(world: World, judge: Judge) -> Steps:
    """Every step of the world itself. None needs to happen, but that the silent lapse."""
    yield from of_the_clock(world)
    yield from of_drivers(world)
    yield from of_people(world, judge)
    if world.late is not None:
        yield from arrives(world, world.late, judge)


def of_the_clock(world: World) -> Steps:
    """The clock jumps past a lease; or it goes on, where nobody is there who would renew it."""
    lane = world.contents.lanes.get(CHAT)
    if lane is None or lane.lease is None or lane.lease.renewed != instant(world.epoch):
        return
    later = _with(world, epoch=world.epoch + 1)
    if world.troubles.lapses:
        yield Step(("the clock", "jumps", ""), later.spending("lapses"), adverse=True)
    if not held(world, lane):
        yield Step(("the clock", "goes on", ""), later)


def held(world: World, lane: LaneRecord) -> bool:
    """Whether a driver that lives has the lane."""
    return any(driver.alive and driver.fence == lane.fence for driver in world.drivers)


def of_drivers(world: World) -> Steps:
    """A driver dies, or is asked to stop."""
    for index, driver in enumerate(world.drivers):
        if driver.fence is None or not driver.alive:
            continue
        if world.troubles.crashes:
            dead = Driver(place="dead", entries=driver.entries)
            yield _moves(world.spending("crashes"), index, "dies", dead)
        if world.troubles.stops and driver.place in _STOPPABLE:
            place = "record" if driver.news else "let go"
            yield _moves(
                world.spending("stops"), index, "is asked to stop", _with(driver, place=place)
            )


def _moves(world: World, index: int, what: str, after: Driver) -> Step[World]:
    drivers = (*world.drivers[:index], after, *world.drivers[index + 1 :])
    return Step((name(index), what, ""), _with(world, drivers=drivers), adverse=True)


def of_people(world: World, judge: Judge) -> Steps:
    """An operator, somebody who wants the turn's end, somebody who has more to say."""
    turn = world.contents.table(laws.TURNS).get(FIRST_TURN)
    over = turn is not None and turn.over
    if world.troubles.levers and turn is not None and turn.claim and world.late is None:
        call = Call("hand_back", (turn.id, turn.claim))  # of what was read, whenever it arrives
        target = _with(world.spending("levers"), late=call)
        yield Step(("the operator", "hands back", ""), target, adverse=True)
    if world.troubles.cancels and not over:
        call = Call("cancel_turn", (FIRST_TURN, "enough"))
        yield from is_called(world.spending("cancels"), "somebody", "asks for the end", call, judge)
    if world.troubles.inputs and turn is not None and not over:
        more = work(BESIDE, ActiveTurn(turn=FIRST_TURN, boundary="before_completion"))
        call = Call("admit", (more, None))
        yield from is_called(world.spending("inputs"), "somebody", "says more", call, judge)


def arrives(world: World, late: Call, judge: Judge) -> Steps:
    """A call arrives late. Nobody hears the answer."""
    after = _with(world, late=None)
    done = list(is_called(after, "the wire", "delivers", late, judge))
    yield from done or [Step(("the wire", "delivers", late.name), after, adverse=True)]


def is_called(world: World, who: str, what: str, call: Call, judge: Judge) -> Steps:
    """A call of somebody who does not look at the answer."""
    tables = MemoryTables(world.contents)
    label = (who, what, call.name)
    try:
        getattr(store_of(tables, world.epoch), call.name)(*call.arguments)
    except (TenureError, RuntimeFault):
        return  # a refusal that nobody hears
    except AssertionError as error:
        yield Step(label, world, broken=f"{' '.join(label)}: {error}")
        return
    stored = _with(world, contents=tables.freeze())
    yield Step(label, stored, adverse=True, broken=judge(world, stored, call))
