"""A turn: asked once, driven once, answered alike for ever."""

import asyncio
from typing import Any

import msgspec
import pytest

from tenure import Agent, Model, Runtime, TurnBudget
from tenure.runtime.errors import SessionBusy, TurnMissing, WorkConflict
from tenure.runtime.model.message import AssistantMessage, UserMessage
from tenure.runtime.model.turn import CommitBudget
from tenure.runtime.model.usage import Usage
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.runtime.scene import DoorProvider, echo, line, run, runtime, support, until


def test_the_same_key_and_content_is_one_turn_and_one_model_call(store: str) -> None:
    async def story() -> None:
        provider = echo()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            first = await chat.turn("Refund order 7?", key="msg-17")
            assert first.text == "re: Refund order 7?"
            assert await chat.turn("Refund order 7?", key="msg-17") == first
            again = await rt.session("chat", agent="support")
            assert await again.turn("Refund order 7?", key="msg-17") == first
            assert len(provider.requests) == 1
            assert len(await chat.messages()) == 2

    run(story())


def test_the_same_key_asked_at_the_same_time_is_one_turn(store: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider)) as rt:
            handles = [await rt.session("chat", agent="support") for _ in range(3)]
            asked = [
                asyncio.ensure_future(handle.turn("Refund?", key="k"))
                for handle in handles
                for _ in range(2)
            ]
            await provider.door.somebody()
            provider.door.open()
            answers = await asyncio.gather(*asked)
            assert {answer.turn for answer in answers} == {answers[0].turn}
            assert len(provider.requests) == 1

    run(story())


def test_the_same_key_with_other_content_conflicts(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            await chat.turn("Refund order 7?", key="k")
            with pytest.raises(WorkConflict):
                await chat.turn("Refund order 8?", key="k")
            other = await rt.session("other", agent="support")
            assert (await other.turn("Refund order 8?", key="k")).completed

    run(story())


def test_without_a_key_the_same_words_are_two_turns(store: str) -> None:
    async def story() -> None:
        provider = echo()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            first, second = await chat.turn("Hello?"), await chat.turn("Hello?")
            assert first.turn != second.turn
            assert len(provider.requests) == 2

    run(story())


def test_fail_on_busy_admits_nothing(store: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            first = asyncio.ensure_future(chat.turn("one", on_busy="fail"))
            await provider.door.somebody()
            with pytest.raises(SessionBusy):
                await chat.turn("two", on_busy="fail", key="two")
            with pytest.raises(SessionBusy):
                [event async for event in chat.stream("three", on_busy="fail")]
            provider.door.open()
            await first
            assert line(await chat.messages()) == ["user: one", "assistant: Done."]
            assert (await rt.drain_status()).pending == ()
            assert (await chat.turn("two", on_busy="fail", key="two")).completed

    run(story())


def test_turns_of_one_session_are_driven_one_at_a_time_in_their_order(store: str) -> None:
    async def story() -> None:
        inside: list[str] = []
        most = 0

        async def note(word: str) -> str:
            nonlocal most
            inside.append(word)
            most = max(most, len(inside))
            await asyncio.sleep(0)
            inside.remove(word)
            return word

        provider = ScriptedProvider(
            lambda r: calls(("note", {"word": _opening(r.messages)})), text("Done.")
        )
        async with runtime(store, support(provider, note)) as rt:
            handles = [await rt.session("chat", agent="support") for _ in range(3)]
            asked = []
            for n in range(9):
                turn = await handles[n % 3].submit(f"q{n}")
                asked.append(asyncio.ensure_future(handles[n % 3].wait(turn)))
            answers = await asyncio.gather(*asked)
            assert all(answer.completed for answer in answers)
            told = [m for m in await handles[0].messages() if isinstance(m, UserMessage)]
            assert [m.text for m in told] == [f"q{n}" for n in range(9)]
            assert most == 1

    run(story())


def _opening(messages: Any) -> str:
    return next(m.text for m in reversed(messages) if isinstance(m, UserMessage))


def test_runtimes_on_one_file_share_its_turns(shared: str) -> None:
    async def story() -> None:
        providers = [echo(), echo()]
        async with (
            runtime(shared, support(providers[0])) as one,
            runtime(shared, support(providers[1])) as two,
        ):
            chats = [await rt.session("chat", agent="support") for rt in (one, two)]
            turns = [chats[n % 2].turn(f"q{n}", key=f"k{n % 4}-{n // 4}") for n in range(8)]
            answers = await asyncio.gather(*turns)
            assert {answer.text for answer in answers} == {f"re: q{n}" for n in range(8)}
            again = await asyncio.gather(
                *(chats[(n + 1) % 2].turn(f"q{n}", key=f"k{n % 4}-{n // 4}") for n in range(8))
            )
            assert again == answers
            assert sum(len(provider.requests) for provider in providers) == 8
            assert len(await chats[0].messages()) == 16

    run(story())


class City(msgspec.Struct):
    name: str
    people: int


def test_a_typed_answer_is_checked_and_told_what_is_wrong(store: str) -> None:
    async def story() -> None:
        provider = ScriptedProvider(
            text("Rome."),
            calls(("final_result", {"name": "Rome"})),
            calls(("final_result", {"name": "Rome", "people": 2_800_000})),
        )
        async with runtime(store, support(provider, output=City)) as rt:
            chat = await rt.session("chat", agent="support")
            answer = await chat.turn("Where?")
            assert answer.output == {"name": "Rome", "people": 2_800_000}
            said = line(await chat.messages())
            assert said[2] == "user: Answer by calling final_result."
            assert said[4].startswith("final_result: error: the answer does not fit")
            final = provider.requests[0].tools[-1]
            assert (final.name, final.schema["required"]) == ("final_result", ["name", "people"])

    run(story())


def test_a_typed_answer_that_is_no_object_is_put_into_one(store: str) -> None:
    async def story() -> None:
        provider = ScriptedProvider(
            calls(("final_result", {"value": ["x"]})), calls(("final_result", {"value": [1, 2]}))
        )
        async with runtime(store, support(provider, output=list[int])) as rt:
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Which?")).output == [1, 2]
            assert provider.requests[0].tools[-1].schema["required"] == ["value"]

    run(story())


@pytest.mark.parametrize(("history", "shown"), [(None, 6), (2, 4), (1, 2), (0, 0), (9, 6)])
def test_the_model_is_shown_as_many_past_turns_as_it_should(
    store: str, history: int | None, shown: int
) -> None:
    async def story() -> None:
        provider = echo()
        async with runtime(store, support(provider, history=history)) as rt:
            chat = await rt.session("chat", agent="support")
            for n in range(4):
                await chat.turn(f"q{n}")
            messages = provider.requests[-1].messages
            assert len(messages) == shown + 1
            assert line(messages)[-1] == "user: q3"
            if shown:
                assert line(messages)[shown - 2 :][:2] == ["user: q2", "assistant: re: q2"]

    run(story())


def test_usage_is_what_every_call_cost_together(store: str) -> None:
    async def story() -> None:
        provider = ScriptedProvider(calls(("look", {}), ("look", {})), text("Two words."))

        async def look() -> str:
            return "seen"

        async with runtime(store, support(provider, look)) as rt:
            chat = await rt.session("chat", agent="support")
            answer = await chat.turn("Look.")
            assert answer.usage == Usage(requests=2, input_tokens=20, output_tokens=7, tool_calls=2)

    run(story())


def test_tools_of_one_answer_run_together_and_are_told_in_its_order(store: str) -> None:
    async def story() -> None:
        here = asyncio.Barrier(3)

        async def meet(name: str) -> str:
            await here.wait()
            return name

        provider = ScriptedProvider(
            calls(*(("meet", {"name": name}) for name in "abc")),
            lambda r: text(" ".join(results(r))),
        )
        async with runtime(store, support(provider, meet)) as rt:
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Meet.")).text == "ok: a ok: b ok: c"

    run(story())


def test_a_turn_that_uses_up_its_steps_is_stopped(store: str) -> None:
    async def story() -> None:
        async def again() -> str:
            return "again"

        provider = ScriptedProvider(calls(("again", {})))
        agent = support(provider, again, budget=TurnBudget(steps=3))
        async with runtime(store, agent) as rt:
            chat = await rt.session("chat", agent="support")
            answer = await chat.turn("Go on.")
            assert (answer.status, answer.reason) == ("stopped", "its budget of 3 steps is used up")
            assert len(provider.requests) == 3
            assert line(await chat.messages())[-1] == "stopped: its budget of 3 steps is used up"
            assert (await chat.turn("Go on.")).status == "stopped", "the session is usable"

    run(story())


@pytest.mark.parametrize("budget", [CommitBudget(bytes=400), CommitBudget(rows=3)])
def test_a_turn_that_is_too_large_is_stopped_with_what_people_said(
    store: str, budget: CommitBudget
) -> None:
    async def story() -> None:
        async def much() -> str:
            return "x" * 1000

        provider = ScriptedProvider(calls(("much", {})), text("Done."))
        agent = support(provider, much, commit_budget=budget)
        async with runtime(store, agent) as rt:
            chat = await rt.session("chat", agent="support")
            answer = await chat.turn("How much?", key="k")
            assert answer.status == "stopped"
            assert "see CommitBudget" in answer.reason
            assert answer.usage.requests == 2, "it cost what it cost"
            said = await chat.messages()
            assert said[0] == UserMessage(text="How much?")
            assert [type(message) for message in said] == [UserMessage, AssistantMessage]
            assert await chat.turn("How much?", key="k") == answer

    run(story())


def test_what_somebody_says_is_kept_however_large_it_is(store: str) -> None:
    async def story() -> None:
        agent = support(echo(), commit_budget=CommitBudget(bytes=100))
        async with runtime(store, agent) as rt:
            chat = await rt.session("chat", agent="support")
            answer = await chat.turn("x" * 1000)
            assert answer.status == "stopped"
            assert line(await chat.messages())[0] == "user: " + "x" * 1000

    run(story())


def test_a_turn_picked_up_in_vain_too_often_is_stopped_without_another_call(shared: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        agent = support(provider, budget=TurnBudget(drives=2))
        async with runtime(shared, agent) as rt:
            chat = await rt.session("chat", agent="support")
            for number in (1, 2):
                waiting = asyncio.ensure_future(chat.turn("Well?", key="k"))
                await provider.door.somebody(number)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
            answer = await chat.turn("Well?", key="k")
            assert (answer.status, answer.reason) == (
                "stopped",
                "no_progress: 2 pick-ups recorded nothing",
            )
            assert provider.door.came == 2
            provider.door.open()
            assert (await chat.turn("And now?")).completed

    run(story())


def test_a_turn_that_is_not_this_sessions_is_not_waited_for(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            other = await rt.session("other", agent="support")
            turn = await other.submit("?")
            for unknown in (turn, "turn-nobody"):
                with pytest.raises(TurnMissing):
                    await chat.wait(unknown)
            assert (await other.wait(turn)).completed

    run(story())


def test_what_is_due_is_driven_by_whoever_looks(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chats = [await rt.session(f"chat-{n}", agent="support") for n in range(3)]
            for chat in chats:
                await chat.submit("one")
                await chat.submit("two")
            assert [r.session for r in await rt.drive_once(2, concurrency=2)] == [
                "chat-0",
                "chat-1",
            ]
            driving = asyncio.ensure_future(rt.drive(concurrency=2))
            await until(lambda: rt.wiring.drivers == {}, "nobody drives")
            await until(lambda: at_rest(rt), "everything is driven")
            late = await chats[0].submit("three")
            answer = await chats[0].wait(late)
            assert answer.text == "re: three"
            driving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await driving
            assert await rt.drive_once(5) == []

    run(story())


async def at_rest(rt: Runtime) -> bool:
    status = await rt.drain_status()
    return (status.open_turns, status.pending) == ((), ())


async def nothing_waits(rt: Runtime) -> bool:
    return (await rt.drain_status()).pending == ()


def test_a_long_turn_keeps_no_slot_of_the_others(store: str) -> None:
    async def story() -> None:
        slow = DoorProvider()
        quick = Agent("quick", instructions="", model=Model(echo(), "m"))
        async with runtime(store, support(slow), quick) as rt:
            chat = await rt.session("slow", agent="support")
            await chat.submit("?")
            driving = asyncio.ensure_future(rt.drive(concurrency=2))
            await slow.door.somebody()
            for n in range(5):
                other = await rt.session(f"quick-{n}", agent="quick")
                turn = await other.submit("?")
                await until(lambda: nothing_waits(rt), "it is driven")
                assert (await other.wait(turn)).completed
            slow.door.open()
            assert (await chat.wait(await chat.submit("again"))).completed
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)

    run(story())
