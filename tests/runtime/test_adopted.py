"""Pydantic AI agents in a runtime: each run is one turn of one session."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import RunContext, ToolOutput
from pydantic_ai.capabilities import Hooks
from pydantic_ai.exceptions import ModelHTTPError, ModelRetry
from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart

from tenure.faces.pydantic_ai import TenureDurability, durable
from tenure.runtime.errors import ReplayMismatch, TurnStopped, WorkConflict
from tenure.runtime.model.event import ModelRetried, TurnFinished
from tests.runtime.adopted import Script, agent, hosted, told
from tests.runtime.scene import Door, run, until


def test_asked_twice_with_one_key_it_runs_once_and_answers_alike() -> None:
    script = Script([("refund", {"order": 7})], "Done.")
    clerk = agent(script)
    refunds: list[int] = []

    @clerk.tool_plain
    def refund(order: int) -> str:
        refunds.append(order)
        return "refunded"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            first = await support.ask(rt, "chat", "Refund it.", key="k")
            again = await support.ask(rt, "chat", "Refund it.", key="k")
            assert first.output == again.output == "Done."
            assert first.all_messages() == again.all_messages()
            assert first.usage == again.usage
            assert (first.usage.requests, first.usage.tool_calls) == (2, 1)
            assert first.conversation_id == "chat"
            with pytest.raises(WorkConflict):
                await support.ask(rt, "chat", "Refund another.", key="k")

    run(story())
    assert refunds == [7]
    assert len(script.asked) == 2


def test_a_session_keeps_what_was_said_for_the_next_run() -> None:
    script = Script([("look", {})], "Seen.", "You asked before.")
    clerk = agent(script)

    @clerk.tool_plain
    def look() -> str:
        return "a door"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            await support.ask(rt, "chat", "Look.")
            chat = await rt.session("chat", agent="clerk")
            assert (await chat.turn("And?")).text == "You asked before."
            assert [type(m).__name__ for m in await chat.messages()] == [
                "UserMessage",
                "AssistantMessage",
            ] * 2

    run(story())
    assert len(script.asked[2]) == 5
    assert told(script.asked[2]) == [("look", "a door", "success")]
    last = script.asked[2][-1]
    assert isinstance(last, ModelRequest)
    assert [part.content for part in last.parts if isinstance(part, UserPromptPart)] == ["And?"]


def test_of_history_as_many_turns_are_shown_as_its_agent_says() -> None:
    script = Script("One.", "Two.", "Three.")

    async def story() -> None:
        support = durable(agent(script), history=1)
        async with hosted(support) as rt:
            for question in ("1?", "2?", "3?"):
                await support.ask(rt, "chat", question)

    run(story())
    assert [len(messages) for messages in script.asked] == [1, 3, 3]


class Refund(BaseModel):
    """A typed answer."""

    euros: int


@pytest.mark.parametrize("output", [Refund, ToolOutput(Refund), [Refund, str]])
def test_a_typed_answer_is_typed_whoever_asks(output: Any) -> None:
    script = Script([("final_result", {"euros": 40})])

    async def story() -> None:
        support = durable(agent(script, output_type=output))
        async with hosted(support) as rt:
            for _ in range(2):
                answer = await support.ask(rt, "chat", "How much?", key="k")
                assert answer.output == Refund(euros=40)

    run(story())


def test_tools_that_run_side_by_side_may_end_in_any_order(tmp_path: Path) -> None:
    """The first drive ends one before the other, and dies; the next one finds each by its name."""
    calls: Any = [("slow", {}), ("fast", {}), ("slow", {})]
    doors = [Door(), Door()]
    ran: list[str] = []

    def made(script: Script) -> Any:
        clerk = agent(script)

        @clerk.tool
        async def slow(ctx: RunContext[None]) -> str:
            ran.append(f"slow {ctx.tool_call_id}")
            await doors[ctx.tool_call_id == "call-3"].wait()
            return f"slow {ctx.tool_call_id}"

        @clerk.tool_plain
        async def fast() -> str:
            ran.append("fast")
            return "fast"

        return durable(clerk)

    async def story() -> None:
        store = f"sqlite:///{tmp_path / 'agents.db'}"
        door = Door()

        async def hangs(_: Any) -> Any:
            await door.wait()

        first = made(Script(calls, "Done."))
        async with hosted(first, store) as rt:
            asking = asyncio.ensure_future(first.ask(rt, "chat", "Go.", key="k"))
            await doors[0].somebody()
            await doors[1].somebody()
            doors[1].open()
            turn = rt.turn_id("chat", "k")
            done = "part:1.clerk.tool.1.call-3.1"

            async def recorded() -> bool:
                _, journal = await rt.wiring.asking.call(lambda: rt.wiring.store.turn(turn))
                return any(entry.key == done and entry.over for entry in journal)

            await until(recorded, "the last call is recorded first")
            doors[0].open()
            await until(lambda: len(ran) == 3, "all ran")
            answer = await asking
        assert told(answer.all_messages()) == [
            ("slow", "slow call-1", "success"),
            ("fast", "fast", "success"),
            ("slow", "slow call-3", "success"),
        ]

    run(story())
    assert sorted(ran) == ["fast", "slow call-1", "slow call-3"]


def test_a_run_that_was_taken_over_records_nothing_more(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'agents.db'}"
    door = Door()
    ran: list[str] = []

    def made(who: str, *, waits: bool) -> Any:
        script = Script([("book", {})], "Done.", recorded=0 if waits else 1)
        clerk = agent(script, durability={"in_doubt": {"book": "rerun"}})

        @clerk.tool_plain
        async def book() -> str:
            ran.append(who)
            if waits:
                await door.wait()
            return f"booked by {who}"

        return durable(clerk)

    async def story() -> None:
        slow, quick = made("slow", waits=True), made("quick", waits=False)
        async with hosted(slow, store) as one, hosted(quick, store) as two:
            asking = asyncio.ensure_future(slow.ask(one, "chat", "Go.", key="k"))
            await door.somebody()
            (lane,) = (await two.drain_status()).lanes
            await two.declare_gone(lane.executor.owner, "it is slow")
            (result,) = await two.drive_once()
            door.open()
            answer = await asking
            assert answer.output == result.text == "Done."
            assert told(answer.all_messages()) == [("book", "booked by quick", "success")]

    run(story())
    assert ran == ["slow", "quick"]


def test_a_run_that_asks_for_something_else_than_was_recorded_is_refused(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'agents.db'}"
    door = Door()

    def made(more: int) -> Any:
        hooks: Hooks[Any] = Hooks()

        @hooks.on.before_tool_execute
        async def changed(ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
            return {"order": args["order"] + more}

        script = Script([("book", {"order": 7}), ("late", {"order": 8})])
        clerk = agent(script, capabilities=[TenureDurability[Any](), hooks])

        @clerk.tool_plain
        async def book(order: int) -> str:
            return f"booked {order}"

        @clerk.tool_plain
        async def late(order: int) -> str:
            await door.wait()
            return f"late {order}"

        return durable(clerk)

    async def story() -> None:
        first, changed = made(0), made(1)
        async with hosted(first, store) as rt:
            asking = asyncio.ensure_future(first.ask(rt, "chat", "Go.", key="k"))
            await door.somebody()
            asking.cancel()
            await asyncio.wait((asking,))
        async with hosted(changed, store) as rt:
            with pytest.raises(ReplayMismatch):
                await changed.ask(rt, "chat", "Go.", key="k")

    run(story())


def test_a_tool_that_raises_ends_the_turn_and_is_not_run_again() -> None:
    clerk = agent(Script([("book", {})]))
    ran: list[int] = []

    @clerk.tool_plain
    def book() -> str:
        ran.append(1)
        raise RuntimeError("no paper")

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            for _ in range(2):
                with pytest.raises(TurnStopped, match="no paper"):
                    await support.ask(rt, "chat", "Go.", key="k")

    run(story())
    assert ran == [1]


def test_a_tool_may_ask_its_model_to_try_again() -> None:
    clerk = agent(script := Script([("book", {"order": 1})], [("book", {"order": 2})], "Done."))

    @clerk.tool_plain
    def book(order: int) -> str:
        if order == 1:
            raise ModelRetry("there is no order 1")
        return "booked"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            assert (await support.ask(rt, "chat", "Go.")).output == "Done."

    run(story())
    assert len(script.asked) == 3


def test_a_model_that_is_busy_is_asked_again_as_the_host_says() -> None:
    def busy(_: Any) -> ModelResponse:
        raise ModelHTTPError(503, "scripted")

    async def story() -> None:
        support = durable(agent(Script(busy, "Hello.", busy, busy)))
        async with hosted(support) as rt:
            chat = await rt.session("chat", agent="clerk")
            events = [event async for event in chat.stream("Hi.")]
            retried = [event for event in events if isinstance(event, ModelRetried)]
            assert [event.tries for event in retried] == [1]
            result = await chat.turn("Hi.")
            assert result.status == "stopped"
            assert "503" in result.reason
            assert "after 2 tries" in result.reason

    run(story())


def test_whoever_watches_sees_its_end() -> None:
    clerk = agent(Script([("look", {})], "Seen."))

    @clerk.tool_plain
    def look() -> str:
        return "a door"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            chat = await rt.session("chat", agent="clerk")
            seen = [event async for event in chat.stream("Look.")]
            assert isinstance(seen[-1], TurnFinished)
            assert seen[-1].result.text == "Seen."

    run(story())


# turns that end early


def test_what_a_run_did_before_its_turn_was_cancelled_is_known_to_the_next() -> None:
    door = Door()
    clerk = agent(script := Script([("book", {}), ("late", {})], "Understood."))

    @clerk.tool_plain
    async def book() -> str:
        return "booked"

    @clerk.tool_plain
    async def late() -> str:
        await door.wait()
        return "late"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            asking = asyncio.ensure_future(support.ask(rt, "chat", "Go.", key="k"))
            await door.somebody()
            await rt.cancel_turn(rt.turn_id("chat", "k"), "never mind")
            with pytest.raises(TurnStopped, match="never mind"):
                await asking
            assert (await support.ask(rt, "chat", "What now?")).output == "Understood."

    run(story())
    assert told(script.asked[1]) == [
        ("book", "booked", "success"),
        (
            "late",
            "The turn ended before this call returned; it may or may not have taken effect.",
            "interrupted",
        ),
    ]


def test_a_turn_that_is_cancelled_while_it_waits_keeps_what_it_did() -> None:
    clerk = agent(script := Script([("book", {})], [("refund", {})], "Understood."))
    ran: list[str] = []

    @clerk.tool_plain
    async def book() -> str:
        ran.append("booked")
        return "booked"

    @clerk.tool_plain(requires_approval=True)
    async def refund() -> str:
        ran.append("refunded")
        return "refunded"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            turn = rt.submit("chat", "Go.", agent="clerk")
            while not await rt.waits():
                await rt.drive_once()
            await rt.cancel_turn(turn, "never mind")
            (result,) = await rt.drive_once()
            assert result.status == "cancelled"
            assert (await support.ask(rt, "chat", "What now?")).output == "Understood."

    run(story())
    assert ran == ["booked"]
    assert told(script.asked[2])[0] == ("book", "booked", "success")
    assert [name for name, _, _ in told(script.asked[2])] == ["book", "refund"]
