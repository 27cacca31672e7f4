"""A part of a tool call happens once, however often its call is made again."""

from collections import Counter
from typing import Literal

import pytest

from tenure import tool
from tenure.runtime.errors import PartFailed
from tests.runtime.asking import Ctx, agent, asked, begun
from tests.runtime.scene import Door, line, run, runtime


def test_a_part_that_fails_is_recorded_and_not_tried_again(store: str) -> None:
    tried = Counter[str]()

    async def work(ctx: Ctx) -> str:
        async def part() -> None:
            tried["part"] += 1
            raise OSError("no route")

        with pytest.raises(PartFailed) as failed:
            await ctx.once("send", part)
        await ctx.wait("anything")
        return str(failed.value)

    async def story() -> None:
        async with runtime(store, agent(work)) as rt:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            await rt.resolve(wait.key)
            assert (await turn).text == "part 'send' failed: OSError: no route"
            assert tried == {"part": 1}

    run(story())


@pytest.mark.parametrize(
    ("in_doubt", "says"),
    [("report", "unknown"), ("rerun", "sent 2")],
)
def test_a_part_whose_process_was_lost_is_in_doubt_as_its_call_is(
    shared: str, in_doubt: Literal["report", "rerun"], says: str
) -> None:
    """The call waited, was made again, and its process was lost in a part behind the wait."""
    door, tried = Door(), Counter[str]()

    @tool(in_doubt=in_doubt)
    async def work(ctx: Ctx) -> str:
        async def part() -> str:
            tried["part"] += 1
            if tried["part"] == 1:
                await door.wait()
            return f"sent {tried['part']}"

        await ctx.wait("who")
        return str(await ctx.once("send", part))

    async def story() -> None:
        async with runtime(shared, agent(work)) as rt, runtime(shared, agent(work)) as other:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            await rt.resolve(wait.key)
            await door.somebody()
            await other.declare_gone(rt.owner, "the machine is off")
            (result,) = await other.drive_once()
            assert says in result.text
            door.open()
            assert (await turn) == result

    run(story())


def test_a_call_that_went_on_after_its_wait_is_in_doubt_like_any_other(shared: str) -> None:
    door, happened = Door(), Counter[str]()

    async def charge(ctx: Ctx) -> str:
        await ctx.wait("who")
        happened["charge"] += 1
        await door.wait()
        return "charged"

    async def story() -> None:
        async with runtime(shared, agent(charge)) as rt, runtime(shared, agent(charge)) as other:
            chat, turn = await begun(rt)
            (wait,) = await asked(rt)
            await rt.resolve(wait.key)
            await door.somebody()
            await other.declare_gone(rt.owner, "the machine is off")
            (result,) = await other.drive_once()
            assert happened == {"charge": 1}
            door.open()
            assert (await turn) == result
            assert line(await chat.messages())[2].startswith("charge: unknown: ")

    run(story())
