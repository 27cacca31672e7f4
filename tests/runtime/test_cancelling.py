"""A turn's end asked for at every moment, by everybody who may: a history stays valid throughout."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tenure import Runtime, Session, TurnFinished
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.message import AssistantMessage, ToolMessage, UserMessage, dangling
from tenure.runtime.ports.provider import ModelRequest
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.runtime.scene import Door, DoorProvider, echo, line, run, runtime, support, until

ASKED = calls(("step", {"n": 0}), ("step", {"n": 1}), ("step", {"n": 2}))


def answers(request: ModelRequest) -> Answer:
    """Three calls for `Go.`, and for everything else what was said last."""
    last = request.messages[-1]
    if not isinstance(last, UserMessage):
        return text("; ".join(results(request)))
    return ASKED if last.text == "Go." else text(f"re: {last.text}")


class Steps:
    """A tool whose calls wait, each at its own door."""

    def __init__(self) -> None:
        self.doors = [Door(), Door(), Door()]
        self.runs: list[int] = []

    async def step(self, n: int) -> str:
        """Step."""
        self.runs.append(n)
        await self.doors[n].wait()
        return f"did {n}"


@asynccontextmanager
async def under_way(store: str, steps: Steps) -> AsyncIterator[tuple[Runtime, Session, str]]:
    """A turn with three calls in flight."""
    provider = ScriptedProvider(answers)
    async with runtime(store, support(provider, steps.step)) as rt:
        chat = await rt.session("chat", agent="support")
        turn = await chat.submit("Go.")
        yield rt, chat, turn


async def goes_on(chat: Session) -> None:
    """The session has a valid history, and answers."""
    before = await chat.messages()
    assert dangling(before) == []
    answered = [m.call for m in before if isinstance(m, ToolMessage)]
    asked = [c.id for m in before if isinstance(m, AssistantMessage) for c in m.calls]
    assert answered == asked, "everything was answered once"
    result = await chat.turn("And now?")
    assert result.text == "re: And now?"
    assert dangling(await chat.messages()) == []


def test_a_turn_cancelled_before_it_starts_calls_nobody(store: str) -> None:
    async def story() -> None:
        provider = echo()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("Go.", key="k")
            assert await rt.cancel_turn(turn, "changed my mind")
            assert await rt.cancel_turn(turn, "again")
            result = await chat.wait(turn)
            assert (result.status, result.reason) == ("cancelled", "changed my mind")
            assert provider.requests == []
            assert line(await chat.messages()) == ["user: Go.", "cancelled: changed my mind"]
            assert await chat.turn("Go.", key="k") == result, "the key is spent"
            assert (await chat.turn("And now?")).text == "re: And now?"

    run(story())


def test_a_turn_can_be_cancelled_before_it_is_admitted(store: str) -> None:
    async def story() -> None:
        provider = echo()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            assert await rt.cancel_turn(rt.turn_id("chat", "k"), "no")
            result = await chat.turn("Go.", key="k")
            assert (result.turn, result.status) == (rt.turn_id("chat", "k"), "cancelled")
            assert provider.requests == []

    run(story())


def test_a_queued_turn_is_cancelled_and_the_one_before_it_is_not(store: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            first = asyncio.ensure_future(chat.turn("one"))
            await provider.door.somebody()
            turn = await chat.submit("two")
            second = asyncio.ensure_future(chat.wait(turn))
            third = asyncio.ensure_future(chat.turn("three"))
            await rt.cancel_turn(turn, "no")
            provider.door.open()
            results = await asyncio.gather(first, second, third)
            assert [r.status for r in results] == ["completed", "cancelled", "completed"]
            assert len(provider.requests) == 2
            assert line(await chat.messages())[2:4] == ["user: two", "cancelled: no"]

    run(story())


@pytest.mark.parametrize("done", [0, 1, 2])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_cancelled_with_some_tools_done_every_call_has_its_result(
    shared: str, done: int, elsewhere: bool
) -> None:
    async def story() -> None:
        steps = Steps()
        async with (
            under_way(shared, steps) as (rt, chat, turn),
            runtime(shared, support(echo())) as other,
        ):
            waiting = asyncio.ensure_future(chat.wait(turn))
            for door in steps.doors:
                await door.somebody()
            for n in range(done):
                steps.doors[n].open()
            await until(lambda: recorded(rt, turn, done), "so many are recorded")
            assert await (other if elsewhere else rt).cancel_turn(turn, "enough")
            result = await waiting
            assert (result.status, result.reason) == ("cancelled", "enough")
            told = [m for m in await chat.messages() if isinstance(m, ToolMessage)]
            assert [m.status for m in told] == ["ok"] * done + ["cancelled"] * (3 - done)
            assert [m.content for m in told[:done]] == [f"did {n}" for n in range(done)]
            assert steps.runs == [0, 1, 2]
            await goes_on(chat)

    run(story())


async def recorded(rt: Runtime, turn: str, done: int) -> bool:
    _, journal = await rt.wiring.asking.call(lambda: rt.wiring.store.turn(turn))
    return sum(e.key.startswith("tool") and e.outcome is not None for e in journal) == done


@pytest.mark.parametrize("index", range(18))
def test_a_stream_cancelled_at_every_event_ends_in_order(store: str, index: int) -> None:
    """What is shown depends on the moment; that the history is valid does not."""

    async def story() -> None:
        steps = Steps()
        for door in steps.doors:
            door.open()
        async with runtime(store, support(ScriptedProvider(answers), steps.step)) as rt:
            chat = await rt.session("chat", agent="support")
            events = []
            async for event in chat.stream("Go.", key="k"):
                events.append(event)
                if len(events) == index + 1:
                    await rt.cancel_turn(event.turn, "enough")
            last = events[-1]
            assert isinstance(last, TurnFinished)
            assert last.result == await chat.turn("Go.", key="k")
            assert last.result.status in ("completed", "cancelled")
            assert sum(isinstance(e, TurnFinished) for e in events) == 1
            messages = await chat.messages()
            assert dangling(messages) == []
            assert (await chat.turn("And now?")).completed

    run(story())


def test_what_is_committed_is_not_cancelled_any_more(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            result = await chat.turn("Go.", key="k")
            assert await rt.cancel_turn(result.turn, "too late") is False
            assert await chat.turn("Go.", key="k") == result
            assert (await chat.messages())[-1] == AssistantMessage(text="re: Go.")

    run(story())


def test_the_end_of_an_abandoned_turn_is_asked_for_and_comes(shared: str) -> None:
    """Nobody drives it: its driver is gone, and so is every tool call it had in flight."""

    async def story() -> None:
        steps = Steps()
        async with under_way(shared, steps) as (rt, chat, turn):
            waiting = asyncio.ensure_future(chat.wait(turn))
            for door in steps.doors:
                await door.somebody()
            steps.doors[1].open()
            await until(lambda: recorded(rt, turn, 1), "one is recorded")
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        async with runtime(shared, support(ScriptedProvider(answers), steps.step)) as rt:
            assert await rt.cancel_turn(turn, "enough")
            (result,) = await rt.drive_once()
            assert result.status == "cancelled"
            chat = await rt.session("chat", agent="support")
            told = [m for m in await chat.messages() if isinstance(m, ToolMessage)]
            assert [m.status for m in told] == ["unknown", "ok", "unknown"]
            assert steps.runs == [0, 1, 2]
            await goes_on(chat)

    run(story())


def test_cancelling_at_the_same_time_from_everywhere_is_one_end(shared: str) -> None:
    async def story() -> None:
        steps = Steps()
        async with (
            under_way(shared, steps) as (rt, chat, turn),
            runtime(shared, support(echo())) as other,
        ):
            waiting = asyncio.ensure_future(chat.wait(turn))
            for door in steps.doors:
                await door.somebody()
            said = await asyncio.gather(
                *(each.cancel_turn(turn, f"reason {n}") for n, each in enumerate([rt, other] * 4))
            )
            assert any(said)
            result = await waiting
            assert result.status == "cancelled"
            assert await chat.wait(turn) == result
            await goes_on(chat)

    run(story())
