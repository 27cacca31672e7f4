"""A turn waits for somebody outside: no process is kept for it, and the answer counts once."""

import asyncio
import contextlib
import math
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from tenure import Runtime, TurnBudget, tool
from tenure.runtime.errors import PartInDoubt, WaitKeyUnknown, WiringError
from tenure.runtime.model.event import TurnFinished, TurnWaiting, WaitEnded
from tenure.runtime.model.message import dangling
from tenure.runtime.model.wait import OpenWait, Resolution
from tenure.testing.clock import VirtualClock
from tests.runtime.asking import Ctx, agent, asked, begun
from tests.runtime.scene import Door, line, run, runtime, until


def test_an_approval_is_answered_long_after_its_process_is_gone(shared: str) -> None:
    happened: Counter[str] = Counter()

    async def refund(ctx: Ctx) -> str:
        """Refund it, once somebody agrees."""

        async def reserve() -> str:
            happened["reserve"] += 1
            return f"reservation {happened['reserve']}"

        held = await ctx.once("reserve", reserve)
        if not await ctx.approve("refund 40 euros?"):
            return "refused"
        happened["refund"] += 1
        return f"refunded with {held}"

    async def story() -> None:
        async with runtime(shared, agent(refund)) as rt:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            assert (wait.name, wait.asked, wait.session) == ("approve", "refund 40 euros?", "chat")
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)
        async with runtime(shared, agent(refund)) as other:
            assert await other.drive_once() == [], "nobody has answered"
            answered = await other.resolve(wait.key, True)
            assert (answered.first, answered.resolution.approved) == (True, True)
            (result,) = await other.drive_once()
            assert result.text == "refunded with reservation 1"
            assert happened == {"reserve": 1, "refund": 1}
            chat = await other.session("chat", agent="support")
            assert dangling(await chat.messages()) == []

    run(story())


@pytest.mark.parametrize(
    ("answer", "says"),
    [(True, "refunded"), (False, "refused"), (None, "refused"), ("yes", "refused")],
)
def test_only_a_plain_yes_approves(store: str, answer: object, says: str) -> None:
    async def refund(ctx: Ctx) -> str:
        return "refunded" if await ctx.approve("refund?") else "refused"

    async def story() -> None:
        async with runtime(store, agent(refund)) as rt:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            await rt.resolve(wait.key, answer)
            assert (await turn).text == says

    run(story())


def test_calls_that_wait_are_answered_in_any_order_and_told_in_their_own(store: str) -> None:
    def waits(name: str) -> Callable[[Ctx], Coroutine[Any, Any, str]]:
        async def made(ctx: Ctx) -> str:
            return f"{name}={(await ctx.wait(name)).value}"

        made.__name__ = name
        return made

    async def works(ctx: Ctx) -> str:
        return "works=at once"

    async def story() -> None:
        bot = agent(waits("one"), works, waits("two"), arguments=({}, {}, {}))
        async with runtime(store, bot) as rt:
            _, turn = await begun(rt)
            keys = {wait.name: wait.key for wait in await asked(rt, 2)}
            await rt.resolve(keys["two"], 2)
            await until(lambda: _names(rt, ["one"]), "one is left")
            await rt.resolve(keys["one"], 1)
            assert (await turn).text == "one=1, works=at once, two=2"

    run(story())


async def _names(rt: Runtime, names: list[str]) -> bool:
    return [wait.name for wait in await rt.waits()] == names


def test_null_is_an_answer_and_a_timeout_is_none(shared: str) -> None:
    clock = VirtualClock()

    async def ask(ctx: Ctx) -> str:
        words = []
        for number in range(3):
            got = await ctx.wait("again", number, within=10)
            words.append(f"{got.word}:{got.value}")
        return " ".join(words)

    async def story() -> None:
        async with runtime(shared, agent(ask), clock=clock) as rt:
            _, turn = await begun(rt)
            for number in range(3):
                (wait,) = await asked(rt)
                assert wait.asked == number
                if number == 1:
                    clock.advance(10)
                else:
                    await rt.resolve(wait.key)
            assert (await turn).text == "value:None timeout:nobody answered in time value:None"

    run(story())


def test_more_waits_than_pick_ups_are_no_lack_of_progress(store: str) -> None:
    async def ask(ctx: Ctx) -> str:
        return str([(await ctx.wait("next", number)).value for number in range(8)])

    async def story() -> None:
        async with runtime(store, agent(ask, budget=TurnBudget(drives=2))) as rt:
            _, turn = await begun(rt)
            for number in range(8):
                (wait,) = await asked(rt)
                assert wait.asked == number
                await rt.resolve(wait.key, number)
            assert (await turn).text == "[0, 1, 2, 3, 4, 5, 6, 7]"

    run(story())


def test_the_same_question_twice_in_one_call_is_two_waits(store: str) -> None:
    async def ask(ctx: Ctx) -> str:
        first = await ctx.open_wait("same")
        second = await ctx.open_wait("same")
        return f"{(await ctx.answer(first)).value} {(await ctx.answer(second)).value}"

    async def story() -> None:
        async with runtime(store, agent(ask)) as rt:
            _, turn = await begun(rt)
            for value, wait in enumerate(await asked(rt, 2)):
                await rt.resolve(wait.key, value)
            assert sorted((await turn).text.split()) == ["0", "1"]

    run(story())


def test_a_changed_question_is_not_answered_by_the_old_answer(shared: str) -> None:
    amount = [40]

    async def refund(ctx: Ctx) -> str:
        euros = amount[0]
        return f"refunded {euros}" if await ctx.approve(f"refund {euros}?") else "refused"

    async def story() -> None:
        async with runtime(shared, agent(refund)) as rt:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            amount[0] = 4000
            await rt.resolve(wait.key, True)
            (other,) = await asked(rt)
            assert other.asked == "refund 4000?"
            await rt.resolve(other.key, False)
            assert (await turn).text == "refused"

    run(story())


@pytest.mark.parametrize(
    ("how", "status", "says"),
    [
        ("value", "ok", "four parcels"),
        ("number", "ok", '{"parcels":4}'),
        ("error", "error", "the depot is closed"),
        ("revoked", "cancelled", "revoked"),
    ],
)
def test_whoever_answers_a_wait_that_is_returned_answers_for_the_call(
    store: str, how: str, status: str, says: str
) -> None:
    async def count(ctx: Ctx) -> OpenWait:
        return await ctx.open_wait("depot", "how many?")

    async def story() -> None:
        async with runtime(store, agent(count)) as rt:
            chat, turn = await begun(rt)
            (wait,) = await asked(rt)
            if how == "value":
                await rt.resolve(wait.key, "four parcels")
            elif how == "number":
                await rt.resolve(wait.key, {"parcels": 4})
            elif how == "error":
                await rt.resolve_error(wait.key, "the depot is closed")
            else:
                await rt.revoke_wait(wait.key)
            await turn
            assert line(await chat.messages())[2] == f"count: {status}: {says}"

    run(story())


def test_what_is_in_doubt_waits_for_evidence_from_outside(shared: str) -> None:
    door, happened = Door(), Counter[str]()

    @tool(in_doubt="wait")
    async def charge(ctx: Ctx) -> str:
        happened["charge"] += 1
        await door.wait()
        return "charged"

    async def story() -> None:
        async with runtime(shared, agent(charge)) as rt, runtime(shared, agent(charge)) as other:
            _, turn = await begun(rt)
            await door.somebody()
            await other.declare_gone(rt.owner, "the machine is off")
            assert await other.drive_once() == []
            (wait,) = await asked(other)
            assert wait.asked["in_doubt"]["name"] == "charge"
            await other.resolve(wait.key, "it was charged, said the bank")
            (result,) = await other.drive_once()
            assert result.text == "it was charged, said the bank"
            assert happened == {"charge": 1}
            door.open()
            assert (await turn) == result

    run(story())


def test_a_turn_that_waits_is_cancelled_from_anywhere(store: str) -> None:
    async def ask(ctx: Ctx) -> str:
        return str(await ctx.approve("really?"))

    async def story() -> None:
        async with runtime(store, agent(ask)) as rt:
            chat, turn = await begun(rt)
            (wait,) = await asked(rt)
            await rt.cancel_turn(wait.turn, "enough")
            assert (await turn).status == "cancelled"
            late = await rt.resolve(wait.key, True)
            assert (late.first, late.resolution.word) == (False, "cancelled")
            history = await chat.messages()
            assert dangling(history) == []
            assert "ask: cancelled" in line(history)[2]
            assert await rt.waits() == []

    run(story())


def test_revoking_lets_every_turn_go_on_and_leaves_the_session_usable(store: str) -> None:
    async def ask(ctx: Ctx) -> str:
        return (await ctx.wait("who")).word

    async def story() -> None:
        async with runtime(store, agent(ask)) as rt:
            chat, turn = await begun(rt)
            await asked(rt)
            assert await rt.revoke_durable_waits("chat", "we move") == 1
            assert await rt.revoke_durable_waits("chat", "we move") == 0
            assert (await turn).text == "cancelled"
            again = asyncio.create_task(chat.turn("And now?"))
            (wait,) = await asked(rt)
            await rt.resolve(wait.key)
            assert (await again).text.endswith("value")

    run(story())


def test_an_answer_wakes_who_waits_here_without_a_look_at_the_store(store: str) -> None:
    """Looks are an hour apart: only being told can bring the answer on."""

    async def ask(ctx: Ctx) -> str:
        return str((await ctx.wait("who")).value)

    async def story() -> None:
        async with runtime(store, agent(ask), poll=3600) as rt:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            got: list[bool] = []
            thread = threading.Thread(
                target=lambda: got.append(rt.resolve_sync(wait.key, "me").first)
            )
            if store.startswith("sqlite"):
                thread.start()
                assert (await turn).text == "me"
                thread.join()
            else:  # a store in memory belongs to its loop
                got.append(rt.resolve_sync(wait.key, "me").first)
                assert (await turn).text == "me"
            assert got == [True]

    run(story())


def test_a_stream_says_that_its_turn_waits_and_goes_on_after_the_answer(store: str) -> None:
    async def ask(ctx: Ctx) -> str:
        return str(await ctx.approve("really?"))

    async def story() -> None:
        async with runtime(store, agent(ask)) as rt:
            chat = await rt.session("chat", agent="support")
            kinds = []
            async with contextlib.aclosing(chat.stream("Go on.")) as events:
                async for event in events:
                    kinds.append(type(event).__name__)
                    if isinstance(event, TurnWaiting):
                        (wait,) = event.waits
                        await rt.resolve(wait.key, True)
                    elif isinstance(event, WaitEnded):
                        assert event.resolution.approved
                    elif isinstance(event, TurnFinished):
                        assert event.result.text == "True"
            assert kinds.count("TurnWaiting") == 1
            assert (
                kinds.index("TurnWaiting") < kinds.index("WaitEnded") < kinds.index("ToolFinished")
            )

    run(story())


def test_a_call_may_catch_every_exception_and_waits_all_the_same(store: str) -> None:
    async def ask(ctx: Ctx) -> str:
        try:
            return f"agreed: {await ctx.approve('really?')}"
        except Exception:
            return "swallowed"

    async def story() -> None:
        async with runtime(store, agent(ask)) as rt:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            await rt.resolve(wait.key, True)
            assert (await turn).text == "agreed: True"

    run(story())


def test_an_inline_turn_waits_where_it_is(store: str) -> None:
    async def ask(ctx: Ctx) -> str:
        async def part() -> int:
            return 7

        return f"{await ctx.approve('really?')} {await ctx.once('part', part)}"

    async def story() -> None:
        with pytest.warns(UserWarning, match="not journaled"):
            rt = runtime(store, agent(ask), effects="inline")
        async with rt:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            await rt.resolve(wait.key, True)
            assert (await turn).text == "True 7"

    run(story())


def test_odd_questions_and_answers_are_refused_and_change_nothing(store: str) -> None:
    seen: list[str] = []

    async def ask(ctx: Ctx) -> str:
        for name, asked_for, within in (("a", None, -1), ("b", object(), None), ("c", 1, math.nan)):
            try:
                await ctx.open_wait(name, asked_for, within=within)
            except WiringError as error:
                seen.append(str(error))
        return str((await ctx.wait("fine")).value)

    async def story() -> None:
        async with runtime(store, agent(ask)) as rt:
            _, turn = await begun(rt)
            (wait,) = await asked(rt)
            with pytest.raises(WiringError):
                await rt.resolve(wait.key, object())
            with pytest.raises(WaitKeyUnknown):
                await rt.resolve("nobody's", True)
            assert [one.key for one in await rt.waits("chat")] == [wait.key]
            await rt.resolve(wait.key, 1)
            assert (await turn).text == "1"
            assert len(seen) >= 3

    run(story())


def test_an_answer_is_a_value_an_error_a_timeout_or_a_cancellation() -> None:
    yes = Resolution(word="value", value=True)
    assert yes.approved
    for word in ("error", "timeout", "cancelled"):
        assert not Resolution(word=word, value=True).approved
    assert PartInDoubt(part="s", turn="t").fields == {"part": "s", "turn": "t"}
