"""What turns that wait cost while nobody answers: looking for work beside them, and memory."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, Row, main
from bench.measuring import Samples
from bench.place import ROOT, fresh

sys.path.insert(0, str(ROOT / "src"))

from tenure.faces.host import Runtime
from tenure.runtime.agent import Agent, Model
from tenure.runtime.tools.context import ToolContext
from tenure.testing.clock import VirtualClock
from tenure.testing.provider import ScriptedProvider, calls, text

FEW, MANY, QUICK = 1_000, 100_000, 10_000
AT_ONCE = 256
LOOKS = 200
WEEK = 7 * 86_400.0


def measure(quick: bool) -> list[Claim]:
    """Looks beside a thousand waiting turns, and beside a hundred times as many; with `--quick`
    ten times."""
    return asyncio.run(_measured(fresh("runtime-waits") / "waits.db", QUICK if quick else MANY))


async def _measured(path: Path, many: int) -> list[Claim]:
    clock = VirtualClock()
    async with _runtime(path, clock) as rt:
        await _wait(rt, 0, FEW)
        few, memory = await _looks(rt), _memory()
        begin = time.perf_counter()
        await _wait(rt, FEW, many)
        opened = (time.perf_counter() - begin) / (many - FEW)
        lots, grown = await _looks(rt), _memory() / memory
        assert await rt.drive_once() == [], "nobody has answered"
        clock.advance(WEEK)
        (late,) = await rt.drive_once()
        assert late.text == "timeout", "and a week later the first of them goes on"
    ratio = lots.median / few.median
    limits = (
        Limit("a look for work, medians", 1.5, ratio, "×"),
        Limit("memory of the process", 1.5, grown, "×"),
    )
    table = (Row(f"{FEW:,} turns wait", few, few), Row(f"{many:,} turns wait", lots, few))
    note = f"a turn that is admitted, calls a tool and waits: {opened * 1e3:.2f} ms, {AT_ONCE} at a time"
    return [Claim(f"{many:,} turns wait for a week", limits, table, (note,))]


def _runtime(path: Path, clock: VirtualClock) -> Runtime:
    async def ask(ctx: ToolContext[None]) -> str:
        """Ask somebody, who has a week."""
        return (await ctx.wait("approve", "really?", within=WEEK)).word

    provider = ScriptedProvider(calls(("ask", {})), lambda r: text(str(_said(r.messages[-1]))))
    agent = Agent("clerk", instructions="Ask.", model=Model(provider, "scripted"), tools=[ask])
    return Runtime(store=f"sqlite:///{path}", agents=[agent], clock=clock)


def _said(message: Any) -> str:
    return getattr(message, "content", "")


async def _wait(rt: Runtime, start: int, stop: int) -> None:
    """Have a turn of each of these sessions wait."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with gate, await rt.session(f"chat {number}", agent="clerk") as chat:
            await chat.submit("Go on.")

    await asyncio.gather(*(one(number) for number in range(start, stop)))
    while await rt.wiring.asking.call(lambda: rt.wiring.store.to_drive(1)):
        await rt.drive_once(AT_ONCE, concurrency=AT_ONCE)


async def _looks(rt: Runtime) -> Samples:
    """How long a look for work takes that finds none."""
    taken = []
    for _ in range(LOOKS):
        begin = time.perf_counter()
        assert await rt.drive_once() == []
        taken.append((time.perf_counter() - begin) * 1e3)
    return Samples(tuple(taken))


def _memory() -> int:
    """Bytes that this process has in memory."""
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * 4096


if __name__ == "__main__":
    sys.exit(main(measure))
