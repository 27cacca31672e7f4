"""A host whose agent asks for an approval, and refunds once it has it. A process of its own."""

import asyncio
import os
import sys
from pathlib import Path

from tenure import Agent, LeaseTimings, Model, Runtime, ToolContext, tool
from tenure.testing.faults import install_from_environment
from tenure.testing.provider import ScriptedProvider, calls, text


def refunds(store: Path) -> Path:
    """Where every refund that ever happened leaves a line."""
    return Path(f"{store}.refunds")


def clerk(store: Path) -> Agent:
    """Its tool reserves once, waits for a yes, and refunds."""

    def happen(what: str) -> str:
        with refunds(store).open("a", encoding="utf-8") as file:
            file.write(f"{what} {os.getpid()}\n")
        return what

    @tool(in_doubt="rerun")
    async def refund(ctx: ToolContext[None]) -> str:
        """Refund it."""

        async def reserve() -> str:
            return happen("reserved")

        await ctx.once("reserve", reserve)
        return happen("refunded" if await ctx.approve("40 euros?") else "refused")

    provider = ScriptedProvider(calls(("refund", {})), text("Done."))
    return Agent("clerk", instructions="Help.", model=Model(provider, "m"), tools=[refund])


def runtime(store: Path) -> Runtime:
    """A runtime on the store, which nobody is taken over from by a lapse alone."""
    return Runtime(
        store=f"sqlite:///{store}",
        agents=[clerk(store)],
        lease_timings=LeaseTimings(ttl=600, renew_interval=200),
        poll=0.02,
    )


async def main(store: Path) -> None:
    """Have a turn begin, and drive until it waits."""
    async with runtime(store) as rt:
        rt.submit("chat", "Refund order 7?", agent="clerk", key="k")
        while not await rt.waits():
            await rt.drive_once()
        await rt.drive_once()


if __name__ == "__main__":
    install_from_environment()
    asyncio.run(main(Path(sys.argv[1])))
