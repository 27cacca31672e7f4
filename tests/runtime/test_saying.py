"""Something is said to a turn while it is open: taken in once, at its boundary, or by the next turn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal

import pytest

from tenure import Runtime, Session
from tenure.kernel.lease import LeaseTimings
from tenure.runtime.errors import TurnMissing, WorkConflict
from tenure.runtime.model.event import InputAccepted
from tenure.runtime.model.message import UserMessage, dangling
from tenure.runtime.ports.provider import ModelRequest
from tenure.testing.faults import Faults
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import Door, DoorProvider, echo, line, run, runtime, support

Boundary = Literal["after_work", "before_completion"]


def said(request: ModelRequest) -> str:
    return " + ".join(m.text for m in request.messages if isinstance(m, UserMessage))


@asynccontextmanager
async def at_work(
    store: str,
) -> AsyncIterator[tuple[Runtime, Session, str, Door, ScriptedProvider]]:
    """A turn in its only tool call; afterwards it answers with all that people said to it."""
    door = Door()

    async def work() -> str:
        await door.wait()
        return "worked"

    provider = ScriptedProvider(calls(("work", {})), lambda r: text(said(r)))
    async with runtime(store, support(provider, work)) as rt:
        chat = await rt.session("chat", agent="support")
        turn = await chat.submit("order 7")
        yield rt, chat, turn, door, provider


def test_what_is_said_after_work_is_before_the_model_is_asked_again(store: str) -> None:
    async def story() -> None:
        async with at_work(store) as (_, chat, turn, door, provider):
            waiting = asyncio.ensure_future(chat.wait(turn))
            await door.somebody()
            await chat.say("order 8", to=turn)
            await chat.say("order 9", to=turn)
            door.open()
            result = await waiting
            assert result.text == "order 7 + order 8 + order 9"
            assert len(provider.requests) == 2
            assert line(await chat.messages()) == [
                "user: order 7",
                "assistant:  [work]",
                "work: ok: worked",
                "user: order 8",
                "user: order 9",
                "assistant: order 7 + order 8 + order 9",
            ]

    run(story())


def test_what_is_said_before_completion_waits_for_the_answer_and_goes_on(store: str) -> None:
    async def story() -> None:
        async with at_work(store) as (_, chat, turn, door, provider):
            waiting = asyncio.ensure_future(chat.wait(turn))
            await door.somebody()
            await chat.say("order 8", to=turn, at="before_completion")
            door.open()
            result = await waiting
            assert result.text == "order 7 + order 8"
            assert [said(r) for r in provider.requests] == [
                "order 7",
                "order 7",
                "order 7 + order 8",
            ]
            assert line(await chat.messages())[3:] == [
                "assistant: order 7",
                "user: order 8",
                "assistant: order 7 + order 8",
            ]

    run(story())


@pytest.mark.parametrize("at", ["after_work", "before_completion"])
def test_there_is_no_boundary_after_the_last_answer_but_the_last(store: str, at: Boundary) -> None:
    """What comes while the last answer is made is not too late."""

    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("order 7")
            waiting = asyncio.ensure_future(chat.wait(turn))
            await provider.door.somebody()
            await chat.say("order 8", to=turn, at=at)
            provider.door.open()
            await waiting
            assert line(await chat.messages()) == [
                "user: order 7",
                "assistant: Done.",
                "user: order 8",
                "assistant: Done.",
            ]
            assert await rt.drive_once() == []

    run(story())


@pytest.mark.parametrize("at", ["after_work", "before_completion"])
def test_what_is_said_too_late_is_the_next_turn(store: str, at: Boundary) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            over = await chat.turn("order 7")
            work = await chat.say("order 8", to=over.turn, at=at, key="k")
            assert await chat.say("order 8", to=over.turn, at=at, key="k") == work
            result = await chat.wait(f"turn-{work}")
            assert result.text == "re: order 8"
            assert await chat.say("order 8", to=over.turn, at=at, key="k") == work
            assert await rt.drive_once() == []

    run(story())


def test_what_was_said_and_never_taken_in_is_the_next_turn(store: str) -> None:
    """The turn ends before its boundary: it was cancelled."""

    async def story() -> None:
        async with at_work(store) as (rt, chat, turn, door, _):
            waiting = asyncio.ensure_future(chat.wait(turn))
            await door.somebody()
            work = await chat.say("order 8", to=turn)
            await rt.cancel_turn(turn, "enough")
            assert (await waiting).status == "cancelled"
            door.open()
            assert (await chat.wait(f"turn-{work}")).text == "order 7 + order 8"
            assert dangling(await chat.messages()) == []

    run(story())


def test_a_turn_that_waits_its_turn_is_spoken_to_all_the_same(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            await chat.submit("one")
            second = await chat.submit("two")
            await chat.say("and three", to=second)
            result = await chat.wait(second)
            assert result.text == "re: and three"
            assert line(await chat.messages())[2:] == [
                "user: two",
                "assistant: re: two",
                "user: and three",
                "assistant: re: and three",
            ]

    run(story())


def test_input_for_a_turn_that_is_taken_back_is_the_next_turns(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("one")
            await chat.say("two", to=turn)
            back = turn.removeprefix("turn-")
            await rt.wiring.asking.call(lambda: rt.wiring.store.cancel_work(back))
            (result,) = await rt.drive_once()
            assert result.text == "re: two"
            taken_back = await chat.wait(turn)
            assert (taken_back.status, taken_back.text) == ("cancelled", "")

    run(story())


def test_a_turn_that_never_was_is_not_spoken_to(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            other = await rt.session("other", agent="support")
            elsewhere = await other.submit("?")
            for unknown in ("turn-nobody", elsewhere):
                with pytest.raises(TurnMissing):
                    await chat.say("hello", to=unknown)
            assert (await rt.drain_status()).pending[0].session == "other"

    run(story())


def test_a_key_is_for_one_thing_said_to_one_turn(store: str) -> None:
    async def story() -> None:
        async with at_work(store) as (_, chat, turn, door, _provider):
            waiting = asyncio.ensure_future(chat.wait(turn))
            await door.somebody()
            work = await chat.say("order 8", to=turn, key="k")
            assert await chat.say("order 8", to=turn, key="k") == work
            with pytest.raises(WorkConflict):
                await chat.say("order 9", to=turn, key="k")
            with pytest.raises(WorkConflict):
                await chat.turn("order 8", key="k")
            door.open()
            assert (await waiting).text == "order 7 + order 8"

    run(story())


def test_whoever_watches_is_told_what_was_taken_in(store: str) -> None:
    async def story() -> None:
        async with at_work(store) as (rt, chat, turn, door, _provider):
            waiting = asyncio.ensure_future(chat.wait(turn))
            await door.somebody()
            work = await chat.say("order 8", to=turn)
            door.open()
            await waiting
            events = [observed.event async for observed in rt.observe(turn)]
            assert InputAccepted(turn=turn, work=work) in events

    run(story())


@pytest.mark.parametrize("at", ["after_work", "before_completion"])
@pytest.mark.parametrize("moment", ["accept:written", "commit:written", "journal:begin"])
def test_what_is_said_is_taken_in_once_whoever_drives(
    shared: str, at: Boundary, moment: str
) -> None:
    """The driver is gone at a boundary; another finds the input taken in, or still waiting."""

    async def story() -> None:
        async with at_work(shared) as (_, chat, turn, door, _provider):
            with Faults() as faults:
                waiting = asyncio.ensure_future(chat.wait(turn))
                await door.somebody()
                work = await chat.say("order 8", to=turn, at=at)
                pause = faults.pause(moment)
                door.open()
                await asyncio.to_thread(pause.await_arrival)
                waiting.cancel()
                pause.resume()
                await asyncio.gather(waiting, return_exceptions=True)
            provider = ScriptedProvider(calls(("work", {})), lambda r: text(said(r)))
            async with runtime(shared, support(provider, _worked)) as other:
                twin = await other.session("chat", agent="support")
                result = await twin.wait(turn)
                assert result.text == "order 7 + order 8"
                told = [m.text for m in await twin.messages() if isinstance(m, UserMessage)]
                assert told == ["order 7", "order 8"]
                row = await other.wiring.asking.call(lambda: other.wiring.store.work(work))
                assert row is not None
                assert (row.state, row.turn) == ("completed", turn)
                assert await other.drive_once() == []

    run(story())


async def _worked() -> str:
    """Work."""
    return "worked"


def test_input_comes_while_a_commit_is_made_and_is_not_lost(shared: str) -> None:
    """Eight people talk all the time; whatever they say is in the history once."""

    async def story() -> None:
        timings = LeaseTimings(ttl=60, renew_interval=20)
        async with runtime(shared, support(echo()), lease_timings=timings) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("start")
            driving = asyncio.ensure_future(rt.drive(concurrency=2))
            for n in range(40):
                await chat.say(f"s{n}", to=turn, at="after_work" if n % 2 else "before_completion")
            last = await chat.turn("end")
            assert last.completed
            while (await rt.drive_once()) != []:
                pass
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)
            told = [m.text for m in await chat.messages() if isinstance(m, UserMessage)]
            assert sorted(told) == sorted(["start", "end", *(f"s{n}" for n in range(40))])

    run(story())
