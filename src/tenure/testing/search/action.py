"""How one step of a run comes about: a move that only the run notices, or a store call."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from tenure.kernel.errors import TenureError
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables, MemoryTransaction
from tenure.testing.search import laws
from tenure.testing.search.explorer import Step
from tenure.testing.search.world import Run, World, name

T = TypeVar("T")
Steps = Iterator[Step[World]]


def moves(
    world: World, index: int, what: str, after: Run, which: str = "", *, adverse: bool = False
) -> Step[World]:
    """The step of a run that now knows `after`."""
    runs = (*world.runs[:index], after, *world.runs[index + 1 :])
    label = (name(index), what, which)
    return Step(label, msgspec.structs.replace(world, runs=runs), adverse)


def calls(
    world: World,
    index: int,
    what: str,
    transition: Callable[[MemoryTransaction], T],
    *,
    which: str = "",
    then: Callable[[T], Run],
    refused: Callable[[Run, TenureError], Run | None],
) -> Steps:
    """A store call, and the same call with its reply lost: the run will make it again.

    `refused` says what the run makes of an error: None if it asks again. It raises an error
    that no run may ever meet.
    """
    tables = MemoryTables(world.contents)
    label = (name(index), what, which)
    try:
        with MemoryDatabase(tables).write() as tx:
            answer = transition(tx)
        after = then(answer)
    except TenureError as error:
        yield from _refusal(world, index, label, error, refused)
        return
    except AssertionError as error:
        yield Step(label, world, broken=f"{' '.join(label)}: {error}")
        return
    stored = msgspec.structs.replace(world, contents=tables.freeze())
    step = moves(stored, index, what, after, which)
    if stored.contents == world.contents:
        yield step
        return
    yield msgspec.structs.replace(step, broken=laws.of_step(world, stored))
    if world.troubles.losses:
        label = (name(index), f"{what}, reply lost", which)
        yield Step(label, stored.spending("losses"), adverse=True)


def _refusal(
    world: World,
    index: int,
    label: tuple[str, str, str],
    error: TenureError,
    refused: Callable[[Run, TenureError], Run | None],
) -> Steps:
    """The step of a run that was refused, if it does not just ask again."""
    try:
        after = refused(world.runs[index], error)
    except TenureError:
        yield Step(label, world, broken=f"{' '.join(label)}: {error}")
        return
    if after is not None:
        yield moves(world, index, label[1], after, label[2])
