"""Observing a turn: from anywhere, from any place in it, and nothing is shown twice or silently lost."""

import asyncio

import pytest

from tenure import Agent
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import run, runtime, support
from tests.runtime.watching import story, watched

ALL = [
    "1: Let",
    "1: me",
    "1: look.",
    "step 1: Let me look.",
    "look c0 begins",
    "look c1 begins",
    "look c1: ok",
    "look c0: error",
    "2: All",
    "2: seen.",
    "step 2: All seen.",
    "completed: All seen.",
]


def looker() -> Agent:
    """Says something, calls two tools that end in the other order, and says something."""
    second = asyncio.Event()

    async def look(n: int) -> str:
        if n == 0:
            await second.wait()
            raise ValueError("nothing there")
        asyncio.get_running_loop().call_later(0.02, second.set)
        return "seen"

    asked = calls(("look", {"n": 0}), ("look", {"n": 1}))
    first = type(asked)(text="Let me look.", calls=asked.calls, usage=asked.usage)
    return support(ScriptedProvider(first, lambda r: text("All seen.")), look)


def test_everything_is_shown_in_order(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, looker()) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn))
            await asyncio.sleep(0)
            await rt.drive_once()
            shown = await watching
            assert story(shown) == ALL
            assert len({o.cursor for o in shown}) == len(shown)

    run(tale())


@pytest.mark.parametrize("index", range(len(ALL) + 1))
def test_cut_at_any_event_the_rest_is_what_follows(store: str, index: int) -> None:
    async def tale() -> None:
        agent = looker()
        async with runtime(store, agent) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            first = await watched(rt, turn, most=index) if index else []
            rest = await watched(rt, turn, first[-1].cursor if first else None)
            await driving
            assert story(first + rest) == ALL
            again = await watched(rt, turn, first[-1].cursor if first else None)
            assert again == rest
            assert len(agent.model.provider.requests) == 2

    run(tale())
