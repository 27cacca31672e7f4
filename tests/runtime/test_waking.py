"""A tool wakes another session: with its turn's commit, once, whoever drives the turn by then."""

import asyncio
import math
from decimal import Decimal
from typing import Any

import pytest

from tenure import Runtime, ToolContext, tool
from tenure.runtime.machine.answers import Answer
from tenure.runtime.ports.provider import ModelRequest, Provider, Say
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import DoorProvider, echo, line, run, runtime, support


def remind(ctx: ToolContext[None], whom: str, what: str) -> str:
    """Have another session look at something."""
    ctx.wake(whom, what)
    return "told"


async def said_in(rt: Runtime, session: str) -> list[str]:
    while await rt.drive_once(10):
        pass
    return line(await (await rt.session(session, agent="support")).messages())


def script(*answers: Answer) -> Provider:
    """Says these in the session `chat`, and repeats what was said in any other."""
    there, elsewhere = ScriptedProvider(*answers), echo()

    class Both(Provider):
        async def answer(self, request: ModelRequest, say: Say) -> Answer:
            speaker = there if request.session == "chat" else elsewhere
            return await speaker.answer(request, say)

    return Both()


def test_what_a_tool_says_to_another_session_is_a_turn_there(store: str) -> None:
    provider = script(
        calls(
            ("remind", {"whom": "other", "what": "one"}),
            ("remind", {"whom": "other", "what": "two"}),
        ),
        text("Done."),
    )

    async def story() -> None:
        async with runtime(store, support(provider, remind)) as rt:
            await rt.session("other", agent="support")
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Go.")).completed
            assert await said_in(rt, "other") == [
                "user: one",
                "assistant: re: one",
                "user: two",
                "assistant: re: two",
            ]

    run(story())


def test_a_wake_survives_whoever_said_it_and_is_sent_once(shared: str) -> None:
    """The tool returned and its turn was handed back: another runtime goes on and commits."""
    slow = DoorProvider()
    ran: list[str] = []

    def counted(ctx: ToolContext[None]) -> str:
        ran.append(ctx.call)
        ctx.wake("other", "Wake up.")
        return "told"

    class First(Provider):
        async def answer(self, request: ModelRequest, say: Say) -> Answer:
            if request.step == 1:
                return calls(("counted", {}))
            return await slow.answer(request, say)

    async def story() -> None:
        async with runtime(shared, support(First(), counted)) as rt:
            await rt.session("other", agent="support")
            chat = await rt.session("chat", agent="support")
            asking = asyncio.ensure_future(chat.turn("Go.", key="k"))
            await slow.door.somebody()
            assert await rt.wiring.asking.call(lambda: rt.wiring.store.waiting("other")) == []
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        async with runtime(shared, support(script(text("Done.")), counted)) as rt:
            chat = await rt.session("chat", agent="support")
            for _ in range(2):
                assert (await chat.turn("Go.", key="k")).completed
            assert ran == ["c0"]
            assert (await said_in(rt, "other"))[:1] == ["user: Wake up."]
            assert len(await said_in(rt, "other")) == 2

    run(story())


def test_a_call_that_fails_wakes_nobody(store: str) -> None:
    def fails(ctx: ToolContext[None]) -> str:
        ctx.wake("other", "Never.")
        raise ValueError("no")

    async def story() -> None:
        provider = script(calls(("fails", {})), text("Done."))
        async with runtime(store, support(provider, fails)) as rt:
            await rt.session("other", agent="support")
            chat = await rt.session("chat", agent="support")
            await chat.turn("Go.")
            assert await said_in(rt, "other") == []

    run(story())


@pytest.mark.parametrize(
    ("whom", "what", "told"),
    [
        ("nobody", "?", "there is no session 'nobody'"),
        ("", "?", "a wake of session ''"),
        ("other", "", "with the text ''"),
    ],
)
def test_a_wake_that_cannot_arrive_is_told_to_the_model(
    store: str, whom: str, what: str, told: str
) -> None:
    async def story() -> None:
        provider = script(calls(("remind", {"whom": whom, "what": what})), text("Done."))
        async with runtime(store, support(provider, remind)) as rt:
            await rt.session("other", agent="support")
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Go.")).completed
            said = line(await chat.messages())[2]
            assert said.startswith("remind: error: ")
            assert told in said
            assert await said_in(rt, "other") == []

    run(story())


DELAYS = [("other", delay) for delay in (math.inf, math.nan, -1, 1e12, Decimal("NaN"), "soon")]


@pytest.mark.parametrize(("whom", "delay"), [*DELAYS, ("\ud800", 0)])
def test_a_wake_that_is_none_fails_the_call_and_not_the_turn(
    store: str, whom: str, delay: Any
) -> None:
    def never(ctx: ToolContext[None]) -> str:
        ctx.wake(whom, "?", delay=delay)
        return "told"

    async def story() -> None:
        provider = script(calls(("never", {})), text("Done."))
        async with runtime(store, support(provider, never)) as rt:
            await rt.session("other", agent="support")
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Go.")).completed
            assert line(await chat.messages())[2].startswith("never: error: ")
            assert await said_in(rt, "other") == []

    run(story())


def test_a_tool_in_its_own_time_says_when(store: str) -> None:
    @tool(timeout=30)
    async def later(ctx: ToolContext[None]) -> str:
        ctx.wake("other", "Later.", delay=3600)
        return "told"

    async def story() -> None:
        provider = script(calls(("later", {})), text("Done."))
        async with runtime(store, support(provider, later)) as rt:
            await rt.session("other", agent="support")
            chat = await rt.session("chat", agent="support")
            before = rt.wiring.clock.now().wall_ns
            await chat.turn("Go.")
            assert await said_in(rt, "other") == [], "it is not due yet"
            (row,) = await rt.wiring.asking.call(lambda: rt.wiring.store.waiting("other"))
            assert row.available_at >= before + 3600 * 1_000_000_000

    run(story())
