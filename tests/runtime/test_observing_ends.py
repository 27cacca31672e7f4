"""Turns that wait and turns that are cancelled, as observers see them: once each, and in order."""

import asyncio
import contextlib
import random
import subprocess
import sys
from collections.abc import AsyncGenerator

import pytest

from tenure import Agent, Event, Runtime, ToolContext
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.effect import Journaled, Outcome
from tenure.runtime.model.event import TurnFinished, TurnWaiting
from tenure.runtime.model.message import AssistantMessage, ToolMessage, UserMessage, dangling
from tenure.runtime.ports.provider import ModelRequest
from tenure.testing.clock import VirtualClock
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.runtime.scene import Door, run, runtime, support, until
from tests.runtime.watching import happenings, watched

Ctx = ToolContext[None]


async def ask(question: str, ctx: Ctx) -> str:
    """Ask somebody."""
    return "yes" if await ctx.approve(question) else "no"


def three_times() -> Agent:
    """Asks three questions, one after the other."""
    questions = [calls(("ask", {"question": name})) for name in ("a?", "b?", "c?")]
    return support(ScriptedProvider(*questions, text("Asked.")), ask)


WAITING = [
    line
    for step, word in ((1, "value"), (2, "value"), (3, "cancelled"))
    for line in (
        f"step {step}: ",
        "ask c0 begins",
        "waits: approve",
        f"answer: {word}",
        "ask c0 begins",
        "ask c0: ok",
    )
] + ["step 4: Asked.", "completed: Asked."]


async def answer(rt: Runtime, turn: str) -> None:
    """Answer three questions when they are shown; the last one is taken back."""
    number = 0
    async for observed in rt.observe(turn):
        if isinstance(observed.event, TurnWaiting):
            (wait,) = observed.event.waits
            number += 1
            await (rt.resolve(wait.key, True) if number < 3 else rt.revoke_wait(wait.key))


def test_a_turn_that_waits_three_times_is_shown_so_and_its_usage_once(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, three_times()) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn))
            driving = asyncio.ensure_future(rt.drive())
            await answer(rt, turn)
            shown = await watching
            driving.cancel()
            assert happenings(shown) == WAITING
            assert happenings(await watched(rt, turn)) == WAITING
            waits = [o.event for o in shown if isinstance(o.event, TurnWaiting)]
            assert [wait.waits[0].asked for wait in waits] == ["a?", "b?", "c?"]
            (end,) = [o.event for o in shown if isinstance(o.event, TurnFinished)]
            assert end.result.usage.requests == 4

    run(tale())


def test_cut_at_every_event_of_a_turn_that_waits_it_goes_on_elsewhere(shared: str) -> None:
    """Each event is seen by a client that connects anew, to one runtime and then to the other."""

    async def tale() -> None:
        async with runtime(shared, three_times()) as rt, runtime(shared, three_times()) as other:
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive())

            async def client() -> list[str]:
                shown: list[str] = []
                place = None
                while not shown or not shown[-1].startswith("completed"):
                    at = (rt, other)[len(shown) % 2]
                    (observed,) = await watched(at, turn, place, most=1)
                    shown += happenings([observed]) or [""]
                    place = observed.cursor
                return [line for line in shown if line]

            watching = asyncio.ensure_future(client())
            await answer(other, turn)
            assert await watching == WAITING
            driving.cancel()

    run(tale())


def test_what_waits_is_shown_with_keys_that_answer_it_long_after(shared: str) -> None:
    async def tale() -> None:
        async with runtime(shared, three_times()) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            await rt.drive_once()
            first = await watched(rt, turn, most=3)
        async with runtime(shared, three_times()) as again:
            assert await watched(again, turn, most=3) == first
            waits = first[-1].event
            assert isinstance(waits, TurnWaiting)
            assert (await again.resolve(waits.waits[0].key, True)).first
            assert await watched(again, turn, most=3) == first, "that was how it began to wait"
            await again.drive_once()
            (answered,) = await watched(again, turn, first[-1].cursor, most=1)
            assert happenings([answered]) == ["answer: value"]

    run(tale())


def test_a_wait_that_times_out_is_shown_as_ended(store: str) -> None:
    async def sleep(ctx: Ctx) -> str:
        await ctx.sleep(3600)
        return "slept"

    async def tale() -> None:
        clock = VirtualClock()
        agent = support(ScriptedProvider(calls(("sleep", {})), text("Slept.")), sleep)
        async with runtime(store, agent, clock=clock) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive())
            first = await watched(rt, turn, most=3)
            clock.advance(3600)
            rest = await watched(rt, turn, first[-1].cursor)
            driving.cancel()
            assert happenings(first + rest)[2:4] == ["waits: sleep", "answer: timeout"]

    run(tale())


@pytest.mark.parametrize("seed", range(12))
def test_what_is_shown_while_it_happens_is_what_is_shown_later(store: str, seed: int) -> None:
    """Tools that end in any order, some after an answer, with input in between."""

    async def tale() -> None:
        chance = random.Random(seed)

        async def work(n: int, ctx: Ctx) -> str:
            for _ in range(chance.randrange(6)):
                await asyncio.sleep(0)
            if n % 3 == 2 and not await ctx.approve(f"{n}?"):
                raise ValueError("no")
            return f"did {n}"

        def model(request: ModelRequest) -> Answer:
            if request.step > 3:
                return text("Done.")
            wanted = [("work", {"n": chance.randrange(9)}) for _ in range(chance.randrange(4))]
            wanted += [("nothing", {})] * chance.randrange(2)
            return calls(*wanted) if wanted else text("Nothing more.")

        async with runtime(store, support(ScriptedProvider(model), work)) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("Go.")
            watching = asyncio.ensure_future(watched(rt, turn))
            driving = asyncio.ensure_future(rt.drive())
            if chance.random() < 0.5:
                await chat.say("And this.", to=turn, at="before_completion")
            while not watching.done():
                for wait in await rt.waits():
                    await rt.resolve(wait.key, chance.random() < 0.7)
                await asyncio.sleep(0.001)
            driving.cancel()
            shown = [o for o in await watching if happenings([o])]
            assert [o for o in await watched(rt, turn) if happenings([o])] == shown
            for index in range(len(shown)):
                rest = await watched(rt, turn, shown[index].cursor)
                assert [o for o in rest if happenings([o])] == shown[index + 1 :]

    run(tale())


# ── Cancelled at every event ─────────────────────────────────────────────────────────────────


class Steps:
    """A tool whose calls wait, each at its own door."""

    def __init__(self, opened: int) -> None:
        self.doors = [Door(), Door(), Door()]
        self.runs: list[int] = []
        for door in self.doors[:opened]:
            door.open()

    async def step(self, n: int) -> str:
        """Step."""
        self.runs.append(n)
        await self.doors[n].wait()
        return f"did {n}"

    def agent(self) -> Agent:
        return support(ScriptedProvider(model_of_steps), self.step)


def model_of_steps(request: ModelRequest) -> Answer:
    """Says so and calls three for `Go.`; for everything else what was said last."""
    last = request.messages[-1]
    if isinstance(last, UserMessage) and last.text != "Go.":
        return text(f"re: {last.text}")
    if isinstance(last, ToolMessage):
        return text("; ".join(results(request)))
    asking = calls(("step", {"n": 0}), ("step", {"n": 1}), ("step", {"n": 2}))
    return Answer(text="At once.", calls=asking.calls, usage=asking.usage)


#: Two pieces, the answer, three calls that begin, and those that end.
POINTS = [(done, index) for done in range(3) for index in range(1, 7 + done)]


@pytest.mark.parametrize(("done", "index"), POINTS)
@pytest.mark.parametrize("left", [False, True], ids=["driven", "left"])
def test_cancelled_at_every_event_the_history_is_valid_and_nothing_answered_twice(
    store: str, done: int, index: int, left: bool
) -> None:
    """With none, one or two of three tools done, by whoever drives, or after everybody left."""

    async def tale() -> None:
        steps = Steps(done)
        async with runtime(store, steps.agent()) as rt:
            chat = await rt.session("chat", agent="support")
            turn = rt.turn_id("chat", "k")
            if left:
                await leave_at(index, chat.stream("Go.", key="k"))
                assert await rt.cancel_turn(turn, "enough")
                result = await chat.wait(turn)
            else:
                driving = asyncio.ensure_future(chat.turn("Go.", key="k"))
                await until(lambda: rt.wiring.drivers, "it is driven")
                await watched(rt, turn, most=index)
                assert await rt.cancel_turn(turn, "enough")
                result = await driving
            assert (result.status, result.reason) == ("cancelled", "enough")
            messages = await chat.messages()
            assert dangling(messages) == []
            wanted = [c.id for m in messages if isinstance(m, AssistantMessage) for c in m.calls]
            assert [m.call for m in messages if isinstance(m, ToolMessage)] == wanted
            shown = happenings(await watched(rt, turn))
            ended = [line for line in shown if line.startswith("step c")]
            assert len(ended) == len(set(ended))
            assert shown[-1] == "cancelled: "
            assert sorted(steps.runs) == sorted(set(steps.runs)), "no call was made twice"
            assert (await chat.turn("And now?")).text == "re: And now?"
            assert dangling(await chat.messages()) == []

    run(tale())


async def leave_at(index: int, stream: AsyncGenerator[Event, None]) -> None:
    """Leave a stream after so many events."""
    async with contextlib.aclosing(stream) as events:
        for _ in range(index):
            await anext(events)


# ── Driven by another process ────────────────────────────────────────────────────────────────


def test_what_another_process_drives_is_seen_from_here(shared: str) -> None:
    async def tale() -> None:
        async with runtime(shared, Steps(0).agent()) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn))
            other = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "tests.runtime.elsewhere", shared, stdin=subprocess.PIPE
            )
            try:
                seen = await watched(rt, turn, most=1)
                while "step c2 begins" not in happenings(seen):
                    seen += await watched(rt, turn, seen[-1].cursor, most=1)
                assert not watching.done(), "it is under way"
                await other.communicate(b"\n")
            finally:
                with contextlib.suppress(ProcessLookupError):
                    other.kill()
                await other.wait()
            shown = happenings(await watching)
            assert shown == happenings(await watched(rt, turn))
            assert shown[0] == "step 1: At once."
            assert shown[-1] == "completed: ok: did 0; ok: did 1; ok: did 2"
            assert sorted(shown[4:7]) == [f"step c{n}: ok" for n in range(3)]

    run(tale())


def test_to_wait_is_no_progress() -> None:
    noted = Journaled(
        key="waiting:1",
        request_hash="",
        generation=1,
        token="t",
        outcome=Outcome(status="ok", value=["w"]),
    )
    assert noted.over
    assert not noted.counts
