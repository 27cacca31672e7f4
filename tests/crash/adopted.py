"""A host with a Pydantic AI agent: it books, refunds once it is allowed to, and says so.

Run as a process of its own, it is one such host after another, each killed at its moment. What
happens outside leaves a line in a file.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tenure import LeaseTimings, Runtime
from tenure.faces.pydantic_ai import DurableAgent, TenureDurability, durable
from tenure.kernel.points import point
from tenure.runtime.model.program import InDoubt
from tenure.testing.faults import VARIABLE, install_from_environment

QUESTION = "Refund order 7?"


def effects(store: Path) -> Path:
    """Where everything that ever happened leaves a line."""
    return Path(f"{store}.effects")


def clerk(store: Path, in_doubt: InDoubt = "report") -> DurableAgent[None, str]:
    """Its model books, then refunds, which needs an approval, then answers."""

    def happen(what: str) -> None:
        point(f"{what}:before")
        with effects(store).open("a", encoding="utf-8") as file:
            file.write(f"{what} {os.getpid()}\n")
        point(f"{what}:after")

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del info
        told = [part for one in messages for part in one.parts if isinstance(part, ToolReturnPart)]
        happen(f"model-{len(told) + 1}")
        if not told:
            return ModelResponse(parts=[ToolCallPart("book", {"order": 7}, "call-1")])
        if len(told) == 1:
            return ModelResponse(parts=[ToolCallPart("refund", {"euros": 40}, "call-1")])
        return ModelResponse(parts=[TextPart("; ".join(str(part.content) for part in told))])

    durability = TenureDurability[None](in_doubt={"book": in_doubt})
    agent = Agent(FunctionModel(model), name="clerk", capabilities=[durability])

    @agent.tool_plain
    async def book(order: int) -> str:
        """Book it."""
        happen("booked")
        return f"booked {order}"

    @agent.tool_plain(requires_approval=True)
    def refund(euros: int) -> str:
        """Refund it."""
        happen("refunded")
        return f"refunded {euros}"

    return durable(agent)


def runtime(agent: DurableAgent[None, str], store: Path) -> Runtime:
    """A runtime on the store, where nobody is taken over from by a lapse alone."""
    return Runtime(
        store=f"sqlite:///{store}",
        agents=[agent],
        lease_timings=LeaseTimings(ttl=600, renew_interval=200),
        poll=0.02,
    )


async def answered(rt: Runtime, agent: DurableAgent[None, str]) -> str:
    """Ask, and say yes whenever that is asked, until there is an answer."""
    asking = asyncio.ensure_future(agent.ask(rt, "chat", QUESTION, key="k"))
    while not asking.done():
        for wait in await rt.waits():
            await rt.resolve(wait.key, "booked 7" if wait.name == "in doubt" else True)
        await asyncio.wait((asking,), timeout=0.02)
    return (await asking).output


async def host(store: Path) -> None:
    """Be the host that a test kills."""
    agent = clerk(store)
    async with runtime(agent, store) as rt:
        await answered(rt, agent)


def died(store: Path, moment: str) -> int:
    """How a host ended that was to be killed at a moment. It is forked: what it imports is slow."""
    pid = os.fork()
    if pid == 0:
        os.environ[VARIABLE] = f"{moment}=kill"
        install_from_environment()
        asyncio.run(host(store))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    print(json.dumps([died(Path(store), moment) for store, moment in json.loads(sys.argv[1])]))
