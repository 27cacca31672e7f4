"""One question, answered by eight processes at once: how often what it allows is done.

Run alone: `python bench/runtime_answers.py`. It measures no time. Needs `langgraph` and
`langgraph-checkpoint-sqlite`.
"""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, TypedDict

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.place import ROOT, fresh

sys.path.insert(0, str(ROOT / "src"))

from tenure import Agent, LeaseTimings, Model, Runtime, ToolContext, tool
from tenure.faces.guests import open_store
from tenure.testing.provider import ScriptedProvider, calls, text

ANSWERERS = 8
WAYS = {
    "langgraph": "LangGraph, its own SqliteSaver",
    "saver": "LangGraph, TenureSaver",
    "held": "LangGraph, TenureSaver, each in saver.holding(…)",
    "tenure": "Tenure's own ctx.approve",
}
TIMINGS = LeaseTimings(ttl=600, renew_interval=200)


def happen(store: Path) -> None:
    """What was allowed is done, once more."""
    with Path(f"{store}.effects").open("a", encoding="utf-8") as file:
        file.write("refunded\n")


class State(TypedDict, total=False):
    """What the graph is about."""

    told: str


def graph(store: Path, saver: Any) -> Any:
    """A graph that asks before it refunds."""
    from langgraph.graph import START, StateGraph
    from langgraph.types import interrupt

    def refund(state: State) -> State:
        told = interrupt({"refund?": state})
        happen(store)
        return {"told": str(told)}

    builder = StateGraph(State)
    builder.add_node("refund", refund)
    builder.add_edge(START, "refund")
    return builder.compile(checkpointer=saver)


THREAD: Any = {"configurable": {"thread_id": "t"}}
Held = Callable[[], AbstractContextManager[None]]


def opened(way: str, store: Path) -> tuple[Any, Held]:
    """A graph on a store, and what to be in while it runs."""
    if way == "langgraph":
        import sqlite3

        from langgraph.checkpoint.sqlite import SqliteSaver

        connection = sqlite3.connect(store, check_same_thread=False)
        return graph(store, SqliteSaver(connection)), nullcontext
    from tenure.faces.langgraph import TenureSaver

    saver = TenureSaver(open_store(f"sqlite:///{store}", lease_timings=TIMINGS))
    held: Held = (lambda: saver.holding("t")) if way == "held" else nullcontext
    return graph(store, saver), held


def runtime(store: Path) -> Runtime:
    """The same with a tool of Tenure's."""

    @tool(in_doubt="report")
    async def refund(ctx: ToolContext[None]) -> str:
        """Refund it."""
        if await ctx.approve("refund?"):
            happen(store)
        return "refunded"

    model = Model(ScriptedProvider(calls(("refund", {})), text("Done.")), "m")
    agents = [Agent("clerk", instructions="Help.", model=model, tools=[refund])]
    return Runtime(store=f"sqlite:///{store}", agents=agents, lease_timings=TIMINGS)


async def ask(way: str, store: Path) -> str:
    """Have it ask; the key to answer by, if there is one."""
    if way != "tenure":
        opened(way, store)[0].invoke({"told": ""}, THREAD)
        return ""
    async with runtime(store) as rt:
        rt.submit("chat", "Refund it.", agent="clerk", key="k")
        while not (waits := await rt.waits()):
            await rt.drive_once()
        return waits[0].key


async def drive(store: Path) -> None:
    """Go on with what was answered."""
    async with runtime(store) as rt:
        while not await rt.drive_once():
            pass


def answer() -> None:
    """An answerer: a way, a store and a key a line in, and what came of it a line out."""
    for line in sys.stdin:
        way, store, key = json.loads(line)
        place = Path(store)
        act = answering(place, key) if way == "tenure" else resuming(way, place)
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            came = act()
        except Exception as error:
            came = f"is refused with {type(error).__name__}"
        print(json.dumps(came), flush=True)


def answering(store: Path, key: str) -> Callable[[], str]:
    """Answer a wait of Tenure's."""
    rt = runtime(store)

    def act() -> str:
        first = rt.resolve_sync(key, True).first
        return "is heard" if first else "is told the answer that counts"

    return act


def resuming(way: str, store: Path) -> Callable[[], str]:
    """Resume the graph if it still asks."""
    from langgraph.types import Command

    flow, held = opened(way, store)

    def act() -> str:
        with held():
            if not flow.get_state(THREAD).interrupts:
                return "finds it answered"
            flow.invoke(Command(resume=True), THREAD)
            return "returns a result"

    return act


def main() -> None:
    """Each way once, and what became of its eight answers."""
    place = fresh("runtime-answers")
    processes = [
        subprocess.Popen(
            [sys.executable, __file__, "--answerer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(ANSWERERS)
    ]
    try:
        for way, name in WAYS.items():
            store = place / f"{way}.db"
            key = asyncio.run(ask(way, store))
            _say(processes, json.dumps([way, str(store), key]))
            _read(processes)
            _say(processes, "go")
            came = Counter(json.loads(line) for line in _read(processes))
            if way == "tenure":
                asyncio.run(drive(store))
            effects = Path(f"{store}.effects").read_text(encoding="utf-8").count("\n")
            told = ", ".join(f"{count} {what}" for what, count in came.most_common())
            print(f"{name}: {effects} effects of {ANSWERERS} answers; {told}")
    finally:
        for one in processes:
            one.kill()
            one.communicate()


def _say(processes: "list[subprocess.Popen[str]]", line: str) -> None:
    for one in processes:
        assert one.stdin is not None
        one.stdin.write(f"{line}\n")
        one.stdin.flush()


def _read(processes: "list[subprocess.Popen[str]]") -> list[str]:
    return [one.stdout.readline() for one in processes if one.stdout is not None]


if __name__ == "__main__":
    if "--answerer" in sys.argv:
        answer()
    else:
        main()
