"""A host, as the README's example is one: it opens a store, asks, drives, and says what it got.

Run as a process of its own; everything it knows comes from its arguments and from the store.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

from tenure import Agent, LeaseTimings, Model, Runtime, ToolContext, TurnBudget, TurnResult, tool
from tenure.kernel.points import point
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.message import ToolMessage, dangling
from tenure.runtime.ports.provider import ModelRequest, Say
from tenure.testing.faults import install_from_environment
from tenure.testing.provider import ScriptedProvider, calls, text

QUESTION = "Refund order 7?"
STEP_SECONDS = 0.01
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class Outside:
    """The world outside: a file with a line for everything that ever happened there.

    `hang` names the one moment at which it does not answer until somebody makes a file.
    """

    def __init__(self, store: str, hang: str) -> None:
        self._path = Path(f"{store}.effects")
        self._hang = hang
        self._hanging, self._go_on = Path(f"{store}.hanging"), Path(f"{store}.go")

    async def be(self, moment: str) -> None:
        """Hang here, if this is where it hangs."""
        if moment == self._hang:
            self._hanging.touch()
            while not self._go_on.exists():  # noqa: ASYNC110 - another process makes the file
                await asyncio.sleep(STEP_SECONDS)

    def happen(self, name: str, key: str) -> None:
        """Let something happen, once, whoever asks twice."""
        point(f"{name}:before")
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{name} {key} {os.getpid()}\n")
        point(f"{name}:after")


class Remote(ScriptedProvider):
    """A scripted provider that may hang like any other."""

    def __init__(self, outside: Outside, *script: Callable[[ModelRequest], Answer]) -> None:
        super().__init__(*script)
        self._outside = outside

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """The scripted answer, before and after which it may hang."""
        await self._outside.be(f"before model-{request.step}")
        answer = await super().answer(request, say)
        await self._outside.be(f"after model-{request.step}")
        return answer


def clerk(given: argparse.Namespace, outside: Outside, status: Callable[[], Any]) -> Agent:
    """The agent: its model calls both tools and then answers."""

    def ask(answer: Answer) -> Callable[[ModelRequest], Answer]:
        def asked(request: ModelRequest) -> Answer:
            outside.happen(f"model-{request.step}", request.effect_key)
            return answer

        return asked

    @tool(in_doubt=given.charge)
    async def charge(order: int, ctx: ToolContext[None]) -> str:
        """Take the money back."""
        await outside.be("before charge")
        outside.happen("charge", ctx.effect_key)
        await outside.be("after charge")
        if given.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return f"order {order} charged back"

    @tool(in_doubt=given.mail)
    async def mail(order: int, ctx: ToolContext[None]) -> str:
        """Tell the customer, once everything else is recorded."""
        while len((await status()).in_doubt) > 1:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(STEP_SECONDS)
        await outside.be("before mail")
        outside.happen("mail", ctx.effect_key)
        await outside.be("after mail")
        return f"mail about order {order} sent"

    if given.plain:
        provider = Remote(outside, ask(text("Done.")))
    else:
        both = calls(("charge", {"order": 7}), ("mail", {"order": 7}))
        provider = Remote(outside, ask(both), ask(text("Done.")))
    return Agent(
        "clerk",
        instructions="Help.",
        model=Model(provider, "scripted"),
        tools=[charge, mail],
        budget=TurnBudget(drives=given.drives),
    )


def runtime(given: argparse.Namespace, store: str) -> Runtime:
    """A runtime on one store."""
    opened: list[Runtime] = []
    agent = clerk(given, Outside(store, given.hang), lambda: opened[0].drain_status())  # noqa: PLW0108 - opened later
    opened.append(
        Runtime(
            store=f"sqlite:///{store}",
            agents=[agent],
            lease_timings=LeaseTimings(given.ttl, given.ttl / 3),
            poll=0.05,
            cancel_poll=0.2,
        )
    )
    return opened[0]


async def serve(given: argparse.Namespace, rt: Runtime) -> dict[str, Any]:
    """Be the host of the example: serve one request, and hand over when asked to end."""
    spec = importlib.util.spec_from_file_location("drain", EXAMPLES / "drain.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)

    async def requests() -> AsyncIterator[tuple[str, str, str]]:
        yield given.session, given.question, given.key
        await asyncio.Event().wait()

    providers = [agent.model.provider for agent in rt.wiring.agents.values()]
    tickets = await example.serve(rt, "clerk", requests(), providers=providers, grace=given.grace)
    return {
        "tickets": [ticket.session for ticket in tickets],
        "closed": [provider.closed for provider in providers if isinstance(provider, Remote)],
    }


async def ask(given: argparse.Namespace, rt: Runtime) -> dict[str, Any]:
    """Ask once, or `--turns` times in a row, and wait for every answer."""
    chat = await rt.session(given.session, agent="clerk")
    results: list[TurnResult] = []
    for number in range(given.turns):
        key = given.key if given.turns == 1 else f"{given.key}-{number}"
        results.append(await chat.turn(given.question, key=key))
    return {"results": [shown(result) for result in results]}


async def recover(given: argparse.Namespace, rt: Runtime) -> dict[str, Any]:
    """Drive whatever is due until nothing is, then ask again as the caller would."""
    driven: list[TurnResult] = []
    while True:
        driven += await rt.drive_once(4, concurrency=4)
        left = await rt.drain_status()
        if not left.open_turns and not left.pending:
            break
        await asyncio.sleep(STEP_SECONDS)
    chat = await rt.session(given.session, agent="clerk")
    committed = len(await chat.messages())
    found = "the turn" if driven else "the result" if committed else "nothing"
    first = [shown(result) for result in driven]
    if given.drive_only:
        return {"found": found, "results": first, **await books(rt, given.session)}
    asked = await ask(given, rt)
    again = await ask(given, rt)
    assert asked == again, "asked twice, answered once"
    assert first in ([], asked["results"]), "what was driven is what is answered"
    return {"found": found, **asked, **await books(rt, given.session)}


async def books(rt: Runtime, session: str) -> dict[str, Any]:
    """What is committed, and what is not at rest."""
    chat = await rt.session(session, agent="clerk")
    messages = await chat.messages()
    left = await rt.drain_status()
    tools = [message for message in messages if isinstance(message, ToolMessage)]
    return {
        "dangling": dangling(messages),
        "messages": [type(message).__name__ for message in messages],
        "told": {message.name: message.status for message in tools},
        "at rest": not (left.open_turns or left.pending or left.lanes or left.in_doubt),
    }


def shown(result: TurnResult) -> dict[str, Any]:
    """A result as JSON can say it."""
    return {
        "turn": result.turn,
        "status": result.status,
        "text": result.text,
        "reason": result.reason,
        "requests": result.usage.requests,
    }


async def main(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Do it on every store at once, each with a runtime of its own."""
    act = {"ask": ask, "recover": recover, "serve": serve}[given.act]

    async def one(store: str) -> dict[str, Any]:
        async with runtime(given, store) as rt:
            return await act(given, rt)

    return list(await asyncio.gather(*(one(store) for store in given.stores)))


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """What to do, and on which stores."""
    parser = argparse.ArgumentParser()
    parser.add_argument("act", choices=["ask", "recover", "serve"])
    parser.add_argument("stores", nargs="+")
    parser.add_argument("--session", default="chat")
    parser.add_argument("--question", default=QUESTION)
    parser.add_argument("--key", default="msg-17")
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--ttl", type=float, default=0.9)
    parser.add_argument("--drives", type=int, default=5)
    parser.add_argument("--charge", default="rerun")
    parser.add_argument("--mail", default="report")
    parser.add_argument("--hang", default="", help="before or after which effect")
    parser.add_argument("--grace", type=float, default=0.0)
    parser.add_argument("--plain", action="store_true", help="answer without calling a tool")
    parser.add_argument("--deadly", action="store_true", help="charge kills its process")
    parser.add_argument("--drive-only", action="store_true")
    parser.add_argument("--barrier", action="store_true", help="begin when told to on stdin")
    return parser.parse_args(given)


if __name__ == "__main__":
    wanted = arguments()
    if wanted.barrier:
        print("ready", flush=True)
        sys.stdin.readline()
    install_from_environment()
    print(json.dumps(asyncio.run(main(wanted))), flush=True)
