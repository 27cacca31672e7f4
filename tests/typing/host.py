"""A service as one would write it over the runtime. It is type-checked from outside, not run."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import assert_type

import tenure
from tenure import (
    Agent,
    Attachment,
    CommitBudget,
    JsonlTraceSink,
    LeaseTimings,
    Model,
    ParkedSession,
    Plugin,
    PluginFactory,
    Provider,
    RetryPolicy,
    Runtime,
    Session,
    TenureError,
    TextDelta,
    Tool,
    ToolContext,
    ToolFinished,
    TurnBudget,
    TurnFinished,
    TurnResult,
    tool,
)


class Orders:
    """What the tools work with, made anew in whatever process they run."""

    async def refund(self, order: int, key: str) -> str:
        return f"refunded {order} ({key})"


@tool
async def refund(order: int, ctx: ToolContext[Orders]) -> str:
    """Refund an order."""
    return await ctx.deps.refund(order, ctx.effect_key)


@tool(in_doubt="rerun", timeout=5.0, output_bytes=10_000)
def search(words: str, limit: int = 10) -> list[str]:
    """Search the orders."""
    return [words] * limit


async def clock() -> str:
    """A plain function is a tool as well."""
    return "noon"


class House(Plugin):
    def instructions(self, agent: str) -> str:
        return "Be brief."

    def tools(self, agent: str) -> Sequence[Tool]:
        return [Tool(clock, name="time")]

    async def after_commit(self, result: TurnResult) -> None:
        print(result.status)


class HouseFactory(PluginFactory):
    def make(self) -> Plugin:
        return House()


def build(provider: Provider) -> Runtime:
    agent = Agent(
        "support",
        instructions="Help people with their orders.",
        model=Model(provider, "m1", temperature=0),
        tools=[refund, search, clock],
        history=20,
        budget=TurnBudget(steps=20, drives=5),
        commit_budget=CommitBudget(bytes=1_000_000, rows=100),
    )
    return Runtime(
        store="sqlite:///agents.db",
        agents=[agent],
        lease_timings=LeaseTimings(ttl=30, renew_interval=10),
        trace_sink=JsonlTraceSink("trace.jsonl"),
        plugins=[HouseFactory()],
        deps=Orders,
        retry=RetryPolicy(attempts=3),
    )


async def serve(runtime: Runtime, picture: bytes) -> ParkedSession:
    async with runtime as rt:
        chat = await rt.session("chat-1", agent="support")
        assert_type(chat, Session)
        result = await chat.turn("Refund order 7?", key="msg-17")
        assert_type(result, TurnResult)
        attached = await chat.attach(picture, media_type="image/png")
        assert_type(attached, Attachment)
        async with aclosing(chat.stream("and this one?", attachments=(attached,))) as events:
            async for event in events:
                assert_type(event, tenure.Event)
                if isinstance(event, TextDelta):
                    print(event.text)
                elif isinstance(event, ToolFinished):
                    print(event.name, event.status)
                elif isinstance(event, TurnFinished):
                    print(event.result.usage.input_tokens)
        await chat.say("quickly, please", to=result.turn, at="before_completion")
        assert_type(await rt.cancel_turn(result.turn, "no longer wanted"), bool)
        assert_type(await rt.drive_once(10, concurrency=4), list[TurnResult])
        assert_type((await rt.drain_status()).next, str | None)
        await rt.drive(concurrency=8)
        await rt.shutdown()
        return await chat.park()


def serve_threads(runtime: Runtime, connection: object) -> str:
    with runtime as rt:
        try:
            assert_type(rt.turn_sync("chat-1", "hello", agent="support"), TurnResult)
        except TenureError as error:
            print(error)
        return rt.submit("chat-1", "hello", agent="support", connection=connection)
