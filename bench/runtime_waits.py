"""What turns that wait cost: a look for work beside them, memory, opening one, and waking them all."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Self

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, Row, main
from bench.measuring import Samples
from bench.place import ROOT, fresh

sys.path.insert(0, str(ROOT / "src"))

from tenure.faces.host import Runtime
from tenure.runtime.agent import Agent, Model
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.work import work_of
from tenure.runtime.ports.provider import ModelRequest
from tenure.runtime.tools.context import ToolContext
from tenure.testing.clock import VirtualClock
from tenure.testing.provider import ScriptedProvider, calls, results, text

FEW, MANY, QUICK = 1_000, 100_000, 10_000
AT_ONCE = 256  #: turns that are admitted, driven or woken at a time
LOOKS = 200
HERDS = 20
WAKES = 3  #: looks whose turns are driven to their ends
WEEK = 7 * 86_400.0


class Crowd:
    """So many turns in a store of their own that wait for a week, and what is seen of them."""

    def __init__(self, path: Path, number: int) -> None:
        self.clock = VirtualClock()
        self.number = number
        self.size = 0.0  #: bytes on the disk for each turn, once it is closed
        self.memory = 0  #: of the process, when all of them wait
        self.woken = 0.0  #: ms for each turn that was woken, the looks included
        self._path = path
        self._provider = ScriptedProvider(calls(("ask", {})), _what_it_heard)
        self._rt = _runtime(path, self.clock, self._provider)
        self._looks: list[float] = []
        self._idle: list[float] = []
        self._opened: list[float] = []
        self._herds: list[float] = []

    @classmethod
    async def opened(cls, path: Path, number: int) -> Self:
        """A store with so many turns that wait."""
        crowd = cls(path, number)
        for start in range(0, number, FEW):
            crowd._opened.append(await crowd._open(start, start + FEW))
        crowd.memory = _memory()
        return crowd

    @property
    def lots(self) -> Samples:
        """Processor time for each turn that was admitted, driven and made to wait, a thousand at a time."""
        return Samples(tuple(self._opened))

    @property
    def looks(self) -> Samples:
        """What a look took that found nothing."""
        return Samples(tuple(self._looks))

    @property
    def idle(self) -> Samples:
        """The processor time of each of them."""
        return Samples(tuple(self._idle))

    @property
    def herds(self) -> Samples:
        """What a look took when all of them were due."""
        return Samples(tuple(self._herds))

    async def _open(self, start: int, stop: int) -> float:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with gate, await self._rt.session(f"chat {number}", agent="clerk") as chat:
                await chat.submit("Go on.")

        begin = time.process_time()
        await asyncio.gather(*(one(number) for number in range(start, stop)))
        while await self._rt.wiring.asking.call(lambda: self._rt.wiring.store.to_drive(1)):
            await self._drive()
        self._provider.requests.clear()  # it keeps what it was asked, which is no part of Tenure
        return (time.process_time() - begin) / (stop - start) * 1e3

    async def _drive(self) -> list[TurnResult]:
        return await self._rt.drive_once(AT_ONCE, concurrency=AT_ONCE)

    async def look(self) -> None:
        """Look for work, and find none."""
        begin, cpu = time.perf_counter(), time.process_time()
        assert await self._rt.drive_once() == []
        self._looks.append((time.perf_counter() - begin) * 1e3)
        self._idle.append((time.process_time() - cpu) * 1e3)

    async def look_at_all(self) -> None:
        """Find the first of all those that are due."""
        store, begin = self._rt.wiring.store, time.perf_counter()
        found = await self._rt.wiring.asking.call(
            lambda: store.to_drive(AT_ONCE, ("clerk",), "sqlite")
        )
        assert len(found) == AT_ONCE
        self._herds.append((time.perf_counter() - begin) * 1e3)

    async def wake(self) -> None:
        """Drive some looks' turns to their ends: the oldest, in their order, and none left out."""
        begin = time.perf_counter()
        woken = [result for _ in range(WAKES) for result in await self._drive()]
        self.woken = (time.perf_counter() - begin) / len(woken) * 1e3
        rows = [self._rt.wiring.store.work(work_of(result.turn)) for result in woken]
        found = [row.sequence for row in rows if row is not None]
        assert found == list(range(1, WAKES * AT_ONCE + 1)), "out of order"
        assert {result.text for result in woken} == {"timeout"}

    async def close(self) -> None:
        """Close the store, and see how large it is."""
        await self._rt.aclose()
        self.size = self._path.stat().st_size / self.number


def measure(quick: bool) -> list[Claim]:
    """A thousand turns that wait, and a hundred times as many; with `--quick` ten times."""
    number = QUICK if quick else MANY
    few, many = asyncio.run(_crowds(fresh("runtime-waits"), number))
    return [_waiting(few, many, number), _waking(few, many, number)]


async def _crowds(place: Path, number: int) -> tuple[Crowd, Crowd]:
    """Both of them, in one process; the looks in turns, so that the machine's moods meet both."""
    crowds = [
        await Crowd.opened(place / "few.db", FEW),
        await Crowd.opened(place / "many.db", number),
    ]
    for _ in range(LOOKS):
        for crowd in crowds:
            await crowd.look()
    for crowd in crowds:
        crowd.clock.advance(WEEK)
    for _ in range(HERDS):
        for crowd in crowds:
            await crowd.look_at_all()
    for crowd in crowds:
        await crowd.wake()
        await crowd.close()
    return crowds[0], crowds[1]


def _waiting(few: Crowd, many: Crowd, number: int) -> Claim:
    first, last = Samples(many.lots.milliseconds[:5]), Samples(many.lots.milliseconds[-5:])
    limits = (
        Limit("a look for work, medians", 1.5, many.looks.median / few.looks.median, "×"),
        Limit("its processor time", 1.5, many.idle.median / few.idle.median, "×"),
        Limit("memory of the process", 1.5, many.memory / few.memory, "×"),
        Limit("processor time to have one more wait", 1.5, last.median / first.median, "×"),
        Limit("bytes on the disk for each", 1.1, many.size / few.size, "×"),
    )
    table = (
        Row(f"{FEW:,} turns wait", few.looks, few.looks),
        Row(f"{number:,} turns wait", many.looks, few.looks),
    )
    note = (
        f"a turn that is admitted, calls a tool and waits: {many.lots.median:.2f} ms of the "
        f"processor, {AT_ONCE} at a time, and {many.size:,.0f} bytes; the process has "
        f"{many.memory / 1e6:.0f} MB beside them, and {few.memory / 1e6:.0f} beside {FEW:,}"
    )
    return Claim(f"{number:,} turns wait for a week", limits, table, (note,))


def _waking(few: Crowd, many: Crowd, number: int) -> Claim:
    share = many.herds.median / (many.woken * AT_ONCE)
    limits = (Limit(f"the look for {AT_ONCE}, of the time to drive them", 0.5, share, ""),)
    table = (
        Row(f"{FEW:,} turns are due", few.herds, few.herds),
        Row(f"{number:,} turns are due", many.herds, few.herds),
    )
    note = f"a turn that is woken and driven to its end: {many.woken:.2f} ms, oldest first"
    return Claim(f"{number:,} turns time out at once", limits, table, (note,))


def _runtime(path: Path, clock: VirtualClock, provider: ScriptedProvider) -> Runtime:
    async def ask(ctx: ToolContext[None]) -> str:
        """Ask somebody, who has a week."""
        return (await ctx.wait("approve", "really?", within=WEEK)).word

    agent = Agent("clerk", instructions="Ask.", model=Model(provider, "scripted"), tools=[ask])
    return Runtime(store=f"sqlite:///{path}", agents=[agent], clock=clock)


def _what_it_heard(request: ModelRequest) -> Answer:
    (result,) = results(request)
    return text(result.partition(": ")[2])


def _memory() -> int:
    """Bytes that this process has in memory."""
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    return int(fields[1]) * 4096


if __name__ == "__main__":
    sys.exit(main(measure))
