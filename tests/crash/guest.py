"""A run of another framework on a session in a Tenure store, as a process of its own.

guest.py items|items-held STORE      says what became of it, as JSON
"""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tenure import LeaseTimings
from tenure.faces.guests import keep_of, open_store
from tenure.kernel.errors import TenureError
from tenure.kernel.identity import new_id
from tenure.runtime.guests.holding import Holding
from tenure.runtime.guests.item_list import ItemList
from tenure.runtime.guests.keep import OpenStore
from tenure.runtime.guests.threads import Threads
from tenure.runtime.model.checkpoint import ChannelValue, PendingWrite, Snapshot
from tenure.testing.faults import install_from_environment

SESSION = "c"
#: Seconds; short enough for a test to wait for a lapse.
TTL = 0.6
#: What a run of the OpenAI Agents SDK with one call of a tool adds, call by call.
ADDED = (["question"], ["call", "result"], ["answer"])


async def items_run(store: str, held: bool) -> str:
    """Read and add as a run does, in a block that holds the session or without.

    The framework itself is left out: it takes a second to import, and there are many of these.
    """
    with open_store(store, lease_timings=LeaseTimings(ttl=TTL, renew_interval=TTL / 3)) as opened:
        session = ItemList(keep_of(opened), SESSION, "openai-agents")
        if held:
            await session.visit.hold(30)
        await session.read(None)
        for items in ADDED:
            await session.add(items)
        if held:
            await session.visit.leave()
    return "answer"


async def thread_run(store: str, held: bool) -> str:
    """Go on from a thread's last checkpoint as a run of LangGraph does, step by step."""
    with open_store(store, lease_timings=LeaseTimings(ttl=TTL, renew_interval=TTL / 3)) as opened:
        threads = Threads(keep_of(opened))
        holding = Holding(threads, SESSION, 30)
        if held:
            holding.__enter__()
        found = opened.asking.ask(lambda: threads.look(SESSION, "", None))
        parent = None if found is None else found.snapshot.id
        for _ in ADDED:
            parent = step(opened, threads, parent)
        if held:
            holding.__exit__(None, None, None)
    return "answer"


def step(opened: OpenStore, threads: Threads, parent: str | None) -> str:
    """One checkpoint, with a value and a write of a task."""
    name, said = new_id(), ("text", b"said")
    snapshot = Snapshot(
        session=SESSION,
        ns="",
        id=name,
        parent=parent,
        versions={"said": name},
        body=said,
        metadata=said,
    )
    value = ChannelValue(channel="said", version=name, value=said)
    write = PendingWrite(task="task", path="", index=0, channel="said", value=said)
    opened.asking.ask(lambda: threads.put(snapshot, [value]))
    opened.asking.ask(lambda: threads.put_writes(SESSION, "", name, [write], replace=False))
    return name


def main(act: str, store: str) -> None:
    """Run, and say what became of it."""
    try:
        run = thread_run if act.startswith("thread") else items_run
        told = asyncio.run(run(f"sqlite:///{store}", act.endswith("-held")))
        print(json.dumps([{"said": told}]))
    except TenureError as refusal:
        print(
            json.dumps([{"refused": type(refusal).__name__, "fields": refusal.fields}], default=str)
        )


if __name__ == "__main__":
    install_from_environment()
    main(*sys.argv[1:3])
