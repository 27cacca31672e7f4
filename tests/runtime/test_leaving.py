"""Whoever awaits a turn goes away: it is handed back at once, stays admitted, and nothing is lost."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tenure import Runtime, Session, TextDelta, ToolStarted, tool
from tenure.runtime.model.message import dangling
from tenure.testing.faults import Faults
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.runtime.scene import Door, DoorProvider, echo, line, run, runtime, support, until


async def leave(task: "asyncio.Future[Any]") -> None:
    """Cancel what awaits a turn, and see that nothing but the cancellation comes of it."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def free(rt: Runtime, session: str = "chat") -> bool:
    """Whether nobody holds the session's lane, and nobody has claimed its open turn."""
    status = await rt.drain_status()
    lane = await rt.wiring.asking.call(lambda: rt.wiring.store.lane(session))
    return (lane is None or not lane.held) and all(t.claim is None for t in status.open_turns)


def test_a_turn_left_in_a_model_call_is_handed_back_and_driven_by_the_next(shared: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with (
            runtime(shared, support(provider)) as rt,
            runtime(shared, support(echo())) as other,
        ):
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
            await provider.door.somebody()
            await leave(asked)
            assert await free(rt)
            (result,) = await other.drive_once()
            assert result.text == "re: Go."
            assert await chat.turn("Go.", key="k") == result
            assert len(provider.requests) == 1

    run(story())


def test_what_arrived_is_recorded_and_not_asked_for_again(shared: str) -> None:
    async def story() -> None:
        door = Door()
        runs: list[str] = []

        async def quick() -> str:
            runs.append("quick")
            return "did it"

        async def slow() -> str:
            runs.append("slow")
            await door.wait()
            return "never"

        def provider() -> ScriptedProvider:
            return ScriptedProvider(
                calls(("quick", {}), ("slow", {})), lambda r: text(" | ".join(results(r)))
            )

        first, second = provider(), provider()
        async with (
            runtime(shared, support(first, quick, slow)) as rt,
            runtime(shared, support(second, quick, slow)) as other,
        ):
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
            await door.somebody()
            await leave(asked)
            (result,) = await other.drive_once()
            told = result.text.split(" | ")
            assert told[0] == "ok: did it"
            assert told[1].startswith("unknown: This call was started")
            assert runs == ["quick", "slow"]
            assert (len(first.requests), len(second.requests)) == (1, 1)
            assert second.requests[0].step == 2, "the first answer was in the journal"

    run(story())


def test_what_a_tool_returns_while_it_is_asked_to_end_is_recorded(shared: str) -> None:
    async def story() -> None:
        door = Door()
        runs = 0

        @tool(in_doubt="rerun")
        async def thorough() -> str:
            nonlocal runs
            runs += 1
            try:
                await door.wait()
            except asyncio.CancelledError:
                return "did it all the same"
            return "never"

        def provider() -> ScriptedProvider:
            return ScriptedProvider(calls(("thorough", {})), lambda r: text(results(r)[0]))

        async with (
            runtime(shared, support(provider(), thorough)) as rt,
            runtime(shared, support(provider(), thorough)) as other,
        ):
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
            await door.somebody()
            await leave(asked)
            (result,) = await other.drive_once()
            assert result.text == "ok: did it all the same"
            assert runs == 1

    run(story())


def test_a_tool_that_may_be_run_again_is(shared: str) -> None:
    async def story() -> None:
        door = Door()
        runs = 0

        @tool(in_doubt="rerun")
        async def look() -> str:
            nonlocal runs
            runs += 1
            if runs == 1:
                await door.wait()
            return f"run {runs}"

        provider = ScriptedProvider(calls(("look", {})), lambda r: text(results(r)[0]))
        async with runtime(shared, support(provider, look)) as rt:
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
            await door.somebody()
            await leave(asked)
            assert (await chat.turn("Go.", key="k")).text == "ok: run 2"

    run(story())


def test_whoever_waits_behind_goes_on_with_the_turn_that_was_left(store: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            first = asyncio.ensure_future(chat.turn("one"))
            await provider.door.somebody()
            second = asyncio.ensure_future(chat.turn("two"))
            await until(lambda: rt.wiring.drivers, "the first is driven")
            await leave(first)
            await provider.door.somebody(2)
            provider.door.open()
            assert (await second).completed
            assert line(await chat.messages()) == [
                "user: one",
                "assistant: Done.",
                "user: two",
                "assistant: Done.",
            ]

    run(story())


def test_whoever_leaves_the_queue_leaves_the_turn_in_it(store: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            first = asyncio.ensure_future(chat.turn("one"))
            await provider.door.somebody()
            turn = await chat.submit("two")
            second = asyncio.ensure_future(chat.wait(turn))
            await asyncio.sleep(0)
            await leave(second)
            provider.door.open()
            assert (await first).completed
            (result,) = await rt.drive_once()
            assert result.turn == turn

    run(story())


async def by_break(chat: Session) -> None:
    async for event in chat.stream("Go.", key="k"):
        if isinstance(event, ToolStarted | TextDelta):
            break


async def by_closing(chat: Session) -> None:
    events = chat.stream("Go.", key="k")
    async for event in events:
        if isinstance(event, ToolStarted | TextDelta):
            await events.aclose()


async def by_cancelling(chat: Session) -> None:
    task = asyncio.ensure_future(chat.stream("Go.", key="k").__anext__())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def by_raising(chat: Session) -> None:
    try:
        async for _ in chat.stream("Go.", key="k"):
            raise ConnectionResetError
    except ConnectionResetError:
        pass


@pytest.mark.parametrize("way", [by_break, by_closing, by_cancelling, by_raising])
def test_a_stream_that_is_left_hands_its_turn_back(
    store: str, way: Callable[[Session], Awaitable[None]]
) -> None:
    async def story() -> None:
        door = Door()

        async def slow() -> str:
            await door.wait()
            return "slow"

        provider = ScriptedProvider(calls(("slow", {})), text("Done."))
        async with runtime(store, support(provider, slow)) as rt:
            chat = await rt.session("chat", agent="support")
            await way(chat)
            await until(lambda: free(rt), "it is handed back")
            door.open()
            assert (await chat.turn("Go.", key="k")).text == "Done."
            assert len(await chat.messages()) == 4
            assert dangling(await chat.messages()) == []
            await chat.close()

    run(story())


MOMENTS = [
    "admit:written",
    "enter:begin",
    "enter:written",
    "assign:begin",
    "assign:written",
    "journal:begin",
    "journal:written",
    "accept:written",
    "commit:begin",
    "commit:read",
    "commit:written",
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_left_inside_any_store_call_the_call_is_done_and_the_lane_is_free(
    shared: str, moment: str
) -> None:
    """A call is done or not, never half; the next driver waits for no lease either way."""

    async def story() -> None:
        async def look() -> str:
            return "seen"

        def provider() -> ScriptedProvider:
            return ScriptedProvider(calls(("look", {})), lambda r: text(results(r)[0]))

        async with runtime(shared, support(provider(), look)) as rt:
            chat = await rt.session("chat", agent="support")
            with Faults() as faults:
                pause = faults.pause(moment)
                asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
                await asyncio.to_thread(pause.await_arrival)
                asked.cancel()
                await asyncio.sleep(0)
                assert not asked.done(), "it waits for the answer"
                pause.resume()
                with pytest.raises(asyncio.CancelledError):
                    await asked
            assert await free(rt)
            async with runtime(shared, support(provider(), look)) as other:
                twin = await other.session("chat", agent="support")
                result = await twin.turn("Go.", key="k")
                assert result.completed
                assert result == await chat.turn("Go.", key="k")
                assert len(await twin.messages()) == 4

    run(story())


def test_a_commit_that_was_under_way_is_found_afterwards(shared: str) -> None:
    async def story() -> None:
        provider = echo()
        async with runtime(shared, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            with Faults() as faults:
                pause = faults.pause("commit:written")
                asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
                await asyncio.to_thread(pause.await_arrival)
                asked.cancel()
                pause.resume()
                await asyncio.gather(asked, return_exceptions=True)
            assert len(await chat.messages()) == 2
            assert (await chat.turn("Go.", key="k")).text == "re: Go."
            assert len(provider.requests) == 1

    run(story())


def test_a_driver_that_is_ended_hands_back_everything_it_drives(shared: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with runtime(shared, support(provider)) as rt:
            for n in range(4):
                await (await rt.session(f"chat-{n}", agent="support")).submit("Go.")
            driving = asyncio.ensure_future(rt.drive(concurrency=3))
            await provider.door.somebody(3)
            await leave(driving)
            assert all([await free(rt, f"chat-{n}") for n in range(4)])
            async with runtime(shared, support(echo())) as other:
                assert len(await other.drive_once(9, concurrency=9)) == 4

    run(story())


def test_cancelled_in_the_very_iteration_it_was_made_a_turn_leaves_nothing(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go."))
            await leave(asked)
            assert await free(rt)
            assert len(asyncio.all_tasks()) == 1, "nothing is left behind"
            await chat.close()

    run(story())


@pytest.mark.parametrize("iterations", range(60))
def test_left_after_any_number_of_iterations_of_the_loop_it_is_handed_back(
    store: str, iterations: int
) -> None:
    async def story() -> None:
        async def look(n: int) -> str:
            await asyncio.sleep(0)
            return f"saw {n}"

        def provider() -> ScriptedProvider:
            asked = calls(("look", {"n": 1}), ("look", {"n": 2}))
            return ScriptedProvider(asked, lambda r: text(" ".join(results(r))))

        async with runtime(store, support(provider(), look)) as rt:
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
            for _ in range(iterations):
                await asyncio.sleep(0)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            assert await free(rt)
            assert len(asyncio.all_tasks()) == 1, "nothing is left behind"
            result = await chat.turn("Go.", key="k")
            assert result.completed
            assert len(await chat.messages()) == 5
            assert dangling(await chat.messages()) == []

    run(story())
