"""From an answer to the tool that goes on with it: in the same process, and from another one."""

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import uniform
from typing import Self

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import apsw

from bench.claims import Claim, Limit, Row, main
from bench.measuring import Samples, clean_environment
from bench.place import ROOT, fresh
from bench.runtime_parts import RawCommits
from bench.runtime_peers import resumed_by_peers
from tenure.faces.host import Runtime
from tenure.runtime.agent import Agent, Model
from tenure.runtime.tools.context import ToolContext
from tenure.testing.provider import ScriptedProvider, calls, text

POLL = 0.02  #: seconds between looks of whoever drives
BODY = 200  #: bytes of a raw commit
WARM = 5

#: Has a line of text acted on in another process.
Say = Callable[[str], None]


def measure(quick: bool) -> list[Claim]:
    """Answer after answer, each beside its floor."""
    rounds, place = 40 if quick else 200, fresh("runtime-resumes")
    here, floor, there, far = asyncio.run(_taken(place, rounds))
    peers, missing = resumed_by_peers(place, rounds)
    near = "An answer in the process that drives, to the tool that goes on with it"
    away = f"The same from another process, where the driver looks every {POLL * 1e3:.0f} ms"
    return [_claim(near, 6, here, floor, peers, missing), _claim(away, 2, there, far, {}, ())]


def _claim(
    title: str,
    most: float,
    mine: Samples,
    floor: Samples,
    peers: Mapping[str, Samples],
    missing: Sequence[str],
) -> Claim:
    taken = {"a raw commit that is seen": floor, "an answer": mine, **peers}
    limit = Limit("against a raw commit, medians", most, mine.median / floor.median, "×")
    said = [
        f"{name}: p50 {one.median:.2f} ms, p95 {_p95(one):.2f} ms" for name, one in taken.items()
    ]
    table = tuple(Row(name, one, floor) for name, one in taken.items())
    return Claim(title, (limit,), table, (*said, *missing))


def _p95(samples: Samples) -> float:
    return statistics.quantiles(samples.milliseconds, n=20)[-1]


async def _taken(place: Path, rounds: int) -> tuple[Samples, ...]:
    """An answer here and its floor, an answer from elsewhere and its floor; in turns."""
    taken: tuple[list[float], ...] = ([], [], [], [])
    raw = Raw(place / "raw.db")
    async with Answers(place / "answers.db") as answers:
        with (
            _elsewhere("answer_lines", answers.path) as answer,
            _elsewhere("commit_lines", raw.path) as commit,
        ):
            for number in range(WARM + rounds):
                spent = (
                    await answers.here(f"here {number}"),
                    await raw.here(),
                    await answers.from_elsewhere(f"there {number}", answer),
                    await raw.from_elsewhere(commit),
                )
                for samples, seconds in zip(taken, spent, strict=True):
                    samples.append(seconds * 1e3)
    return tuple(Samples(tuple(samples[WARM:])) for samples in taken)


class Answers:
    """A host whose turns wait for an answer, driven as a host drives."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._went_on: asyncio.Future[float] = asyncio.Future()
        self._rt = host(path, self._note)

    def _note(self) -> None:
        self._went_on.set_result(time.perf_counter())

    async def __aenter__(self) -> Self:
        self._driving = asyncio.ensure_future(self._rt.drive())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._driving.cancel()
        await self._rt.aclose()

    async def here(self, session: str) -> float:
        """Seconds from an answer to the tool that goes on."""
        key = await self._waiting(session)
        begin = time.perf_counter()
        await self._rt.resolve(key, True)
        return await self._went_on - begin

    async def from_elsewhere(self, session: str, answer: Say) -> float:
        """The same, where another process is told to answer."""
        key = await self._waiting(session)
        begin = time.perf_counter()
        answer(key)
        return await self._went_on - begin

    async def _waiting(self, session: str) -> str:
        """The key of what a new session's turn waits for."""
        self._went_on = asyncio.Future()
        async with await self._rt.session(session, agent="clerk") as chat:
            await chat.submit("Go on.")
        store = self._rt.wiring.store
        await _until(lambda: self._rt.wiring.asking.call(lambda: store.rests(session)), 0.001)
        (wait,) = await self._rt.waits(session)
        await asyncio.sleep(uniform(0, POLL))  # at no fixed moment between two looks
        return wait.key


class Raw:
    """What no answer can do without: a commit, and somebody who learns of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._commits = RawCommits(path)
        self._reading = apsw.Connection(str(path))

    async def here(self) -> float:
        """Seconds from the beginning of a commit in a thread to whoever awaits it."""
        begin = time.perf_counter()
        await asyncio.to_thread(self._commits.commit, 1, BODY)
        return time.perf_counter() - begin

    async def from_elsewhere(self, commit: Say) -> float:
        """Seconds until a commit of another process is seen, looking as often as a driver does."""
        before = self._count()
        begin = time.perf_counter()
        commit("")
        await _until(lambda: self._differs(before), POLL)
        return time.perf_counter() - begin

    async def _differs(self, before: int) -> bool:
        return self._count() != before

    def _count(self) -> int:
        for (count,) in self._reading.execute("SELECT max(id) FROM raw"):
            return int(count or 0)
        raise AssertionError


async def _until(question: Callable[[], Awaitable[bool]], seconds: float) -> None:
    """Ask again and again, with pauses of this length as a driver makes them."""
    while True:
        if await question():
            return
        await asyncio.sleep(seconds * uniform(0.5, 1.0))


def host(path: Path, going_on: Callable[[], None]) -> Runtime:
    """A runtime whose agent asks somebody and then goes on."""

    async def ask(ctx: ToolContext[None]) -> str:
        """Ask somebody."""
        said = await ctx.wait("approve", "really?")
        going_on()
        return said.word

    provider = ScriptedProvider(calls(("ask", {})), text("Done."))
    agent = Agent("clerk", instructions="Ask.", model=Model(provider, "scripted"), tools=[ask])
    return Runtime(store=f"sqlite:///{path}", agents=[agent], poll=POLL)


def answer_lines(path: str) -> None:
    """Answer the waits whose keys come in as lines. A process of its own."""
    with host(Path(path), lambda: None) as rt:
        print("ready", flush=True)
        for key in sys.stdin:
            rt.resolve_sync(key.strip(), True)


def commit_lines(path: str) -> None:
    """Commit once for each line that comes in. A process of its own."""
    raw = RawCommits(Path(path))
    print("ready", flush=True)
    for _ in sys.stdin:
        raw.commit(1, BODY)


@contextmanager
def _elsewhere(function: str, path: Path) -> Iterator[Say]:
    """One of these functions in another process."""
    program = f"import sys; from bench.runtime_resumes import {function}; {function}(sys.argv[1])"
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        cwd=ROOT,
        env=clean_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    into = process.stdin

    def say(line: str) -> None:
        print(line, file=into, flush=True)

    try:
        assert process.stdout.readline() == "ready\n"
        yield say
    finally:
        process.communicate()


if __name__ == "__main__":
    sys.exit(main(measure))
