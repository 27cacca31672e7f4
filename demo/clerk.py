"""A service in one file: an agent that refunds orders. The demo runs it, kills it and runs it again.

python demo/clerk.py KEY QUESTION [--hang TOOL …]

The store, the trace and the bank's book are files in the directory it is run in. The model is a
script, unless TENURE_MODEL_URL names an endpoint that speaks OpenAI's API (and TENURE_MODEL_NAME
one of its models).
"""

import argparse
import asyncio
import os
from contextlib import aclosing

from tenure import (
    Agent,
    JsonlTraceSink,
    LeaseTimings,
    Model,
    Runtime,
    StepFinished,
    TextDelta,
    ToolContext,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    tool,
)
from tenure.runtime.ports.tracing import Span
from tenure.testing.provider import Answer, ModelRequest, ScriptedProvider, calls, results, text

hanging: set[str] = set()


def write_down(name: str, ctx: ToolContext[None]) -> None:
    """Something happens outside."""
    with open("outside.txt", "a") as book:
        book.write(f"{name} {os.getpid()} {ctx.effect_key[:12]}\n")
    print(f"  begun   {name}", flush=True)


async def outside(name: str, ctx: ToolContext[None]) -> None:
    """It happens, and then the answer may be slow to come."""
    write_down(name, ctx)
    if name in hanging:
        await asyncio.Event().wait()


@tool(in_doubt="rerun")
async def find_order(number: int, ctx: ToolContext[None]) -> str:
    """Look an order up."""
    await outside("find_order", ctx)
    return f"order {number}: one kettle, 40 €, paid"


@tool  # in_doubt="report": whether money moved is nothing to guess about
async def refund(number: int, ctx: ToolContext[None]) -> str:
    """Pay an order back."""
    await outside("refund", ctx)
    return f"order {number}: 40 € paid back"


@tool(in_doubt="rerun")
async def count_stock(article: str, ctx: ToolContext[None]) -> str:
    """Count how many of an article there are."""
    await outside("count_stock", ctx)
    return f"{article}: 3 in stock"


def closing(request: ModelRequest) -> Answer:
    """The script's last answer, by what the tools returned."""
    refunded, stock = results(request)
    money = "I can't see whether it was" if refunded.startswith("unknown") else "It was"
    return text(f"{money} paid back. And yes: {stock.removeprefix('ok: ')}.")


def model() -> Model:
    """The script, or whatever answers at TENURE_MODEL_URL."""
    url = os.environ.get("TENURE_MODEL_URL")
    if not url:
        script = ScriptedProvider(
            calls(("find_order", {"number": 7})),
            calls(("refund", {"number": 7}), ("count_stock", {"article": "kettle"})),
            closing,
        )
        return Model(script, "scripted")
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    from tenure.runtime.providers.pydantic_ai import PydanticAiProvider

    name = os.environ.get("TENURE_MODEL_NAME", "default")
    served = OpenAIChatModel(name, provider=OpenAIProvider(base_url=url))
    return Model(PydanticAiProvider({name: served}), name)


class Trace(JsonlTraceSink):
    """The trace, which knows what was replayed from the journal. Who observes a turn is shown
    what happened, and not in which process."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.replayed: set[str] = set()
        self._steps = 0

    def span(self, span: Span) -> None:
        """Write it down, and remember it if it is a replay."""
        super().span(span)
        self._steps += span.kind == "model"
        name = span.name.removeprefix("execute_tool ")
        if span.replayed:
            self.replayed.add(f"model, step {self._steps}" if span.kind == "model" else name)


async def answer(key: str, question: str) -> None:
    """Ask, and say what happens while it is answered."""
    clerk = Agent(
        "clerk",
        instructions="You serve customers of a shop. Use your tools, then answer in a sentence.",
        model=model(),
        tools=[find_order, refund, count_stock],
    )
    sink = Trace(f"trace-{os.getpid()}.jsonl")
    runtime = Runtime(
        store="sqlite:///agents.db",
        agents=[clerk],
        lease_timings=LeaseTimings(ttl=1.8, renew_interval=0.6),
        trace_sink=sink,
        poll=0.1,
    )
    async with runtime as rt:
        print(f"  this is {rt.owner.owner_id}", flush=True)
        chat = await rt.session("chat-1", agent="clerk")
        async with aclosing(chat.stream(question, key=key)) as events:
            async for event in events:
                tell(event, sink.replayed)
    await clerk.model.provider.close()
    sink.close()


said: set[int] = set()


def tell(event: object, replayed: set[str]) -> None:
    """One line for each thing that a person would want to know."""
    match event:
        case TextDelta() if event.step not in said and "TENURE_MODEL_URL" in os.environ:
            said.add(event.step)
            print(f"  says    {event.text.strip()} …", flush=True)
        case StepFinished():
            what = f"model, step {event.step}"
            print(f"  {how(what in replayed)}{what}", flush=True)
        case ToolStarted():
            pass  # the tools say themselves when they begin
        case ToolFinished():
            print(f"  {how(event.name in replayed)}{event.name}: {event.status}", flush=True)
        case TurnFinished():
            print(f"{event.result.status}: {event.result.text}", flush=True)


def how(replayed: bool) -> str:
    """A word and its column."""
    return "replay  " if replayed else "ran     "


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("key")
    parser.add_argument("question")
    parser.add_argument("--hang", nargs="*", default=[])
    given = parser.parse_args()
    hanging.update(given.hang)
    asyncio.run(answer(given.key, given.question))
