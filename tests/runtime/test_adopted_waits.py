"""What a Pydantic AI agent's run waits for: approvals, calls carried out elsewhere, and events."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from pydantic_ai.capabilities import RequestInput
from pydantic_ai.exceptions import CallDeferred
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from tenure import Runtime
from tenure.faces.pydantic_ai import TenureDurability, durable
from tests.runtime.adopted import Script, agent, hosted, told
from tests.runtime.scene import Door, run, until


def approving(script: Script) -> Any:
    """An agent with a tool that needs an approval, and one that others carry out."""
    clerk = agent(script)

    @clerk.tool_plain(requires_approval=True)
    def refund(euros: int) -> str:
        return f"refunded {euros}"

    @clerk.tool_plain
    def send(to: str) -> str:
        raise CallDeferred(metadata={"queue": to})

    return durable(clerk)


@pytest.mark.parametrize(
    ("answer", "returned"),
    [
        (True, ("refund", "refunded 40", "success")),
        (False, ("refund", "The tool call was denied.", "denied")),
        ("yes", ("refund", "The tool call was denied.", "denied")),
        ({"kind": "tool-denied", "message": "Too much."}, ("refund", "Too much.", "denied")),
        (
            {"kind": "tool-approved", "override_args": {"euros": 20}},
            ("refund", "refunded 20", "success"),
        ),
    ],
)
def test_an_approval_is_a_wait_that_anybody_answers(answer: Any, returned: Any) -> None:
    async def story() -> None:
        support = approving(Script([("refund", {"euros": 40})], "Done."))
        async with hosted(support) as rt:
            asking = asyncio.ensure_future(support.ask(rt, "chat", "Refund it."))
            (wait,) = await until(rt.waits, "it waits")
            assert wait.asked == {"tool": "refund", "arguments": {"euros": 40}, "call": "call-1"}
            await until(lambda: _free(rt), "nobody drives it")
            await rt.resolve(wait.key, answer)
            assert told((await asking).all_messages()) == [returned]

    run(story())


async def _free(rt: Runtime) -> bool:
    return not (await rt.drain_status()).lanes


def test_calls_of_one_answer_wait_together_and_are_answered_in_any_order() -> None:
    async def story() -> None:
        calls: Any = [("refund", {"euros": 40}), ("send", {"to": "post"}), ("refund", {"euros": 2})]
        support = approving(Script(calls, "Done."))
        async with hosted(support) as rt:
            asking = asyncio.ensure_future(support.ask(rt, "chat", "Refund it."))

            async def all_of_them() -> Any:
                waits = await rt.waits()
                return len(waits) == 3 and {wait.asked["call"]: wait for wait in waits}

            waits = await until(all_of_them, "all wait")
            assert waits["call-2"].name == "call"
            assert waits["call-2"].asked["metadata"] == {"queue": "post"}
            await rt.resolve(waits["call-3"].key, True)
            await rt.resolve(waits["call-2"].key, {"tracking": 1})
            await rt.resolve(waits["call-1"].key, False)
            assert sorted(told((await asking).all_messages())) == [
                ("refund", "The tool call was denied.", "denied"),
                ("refund", "refunded 2", "success"),
                ("send", {"tracking": 1}, "success"),
            ]

    run(story())


def test_a_tool_that_runs_beside_one_that_waits_is_finished_first() -> None:
    ran: list[str] = []
    door = Door()
    clerk = agent(Script([("book", {}), ("refund", {})], "Done."))

    @clerk.tool_plain
    async def book() -> str:
        ran.append("booked")
        await door.wait()
        return "booked"

    @clerk.tool_plain(requires_approval=True)
    async def refund() -> str:
        return "refunded"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            asking = asyncio.ensure_future(support.ask(rt, "chat", "Go."))
            await door.somebody()
            for _ in range(100):
                await asyncio.sleep(0)
            door.open()
            (wait,) = await until(rt.waits, "it waits")
            await rt.resolve(wait.key, True)
            assert [what for _, what, _ in told((await asking).all_messages())] == [
                "booked",
                "refunded",
            ]

    run(story())
    assert ran == ["booked"]


def test_events_from_outside_are_waits_and_their_tokens_are_keys() -> None:
    tokens: list[str] = []

    async def ask(_: Any, requests: DeferredToolRequests, token: str) -> DeferredToolResults | None:
        tokens.append(token)
        return None

    durability: TenureDurability[Any] = TenureDurability()
    inputs: RequestInput[Any] = RequestInput(ask, timeout=timedelta(days=1))
    clerk = agent(Script([("refund", {})], "Done."), capabilities=[durability, inputs])

    @clerk.tool_plain(requires_approval=True)
    def refund() -> str:
        return "refunded"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support) as rt:
            asking = asyncio.ensure_future(support.ask(rt, "chat", "Go."))
            (wait,) = await until(rt.waits, "it waits")
            await until(lambda: tokens, "somebody is asked")
            assert tokens == [wait.key]
            await until(lambda: _free(rt), "nobody drives it")
            await rt.resolve(wait.key, {"approvals": {"call-1": True}})
            assert told((await asking).all_messages()) == [("refund", "refunded", "success")]

    run(story())
    assert len(tokens) == 1
