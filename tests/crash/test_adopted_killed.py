"""Hosts are killed in the middle of a Pydantic AI agent's run, and another finishes the run."""

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

from tenure.runtime.model.program import InDoubt
from tests.crash import adopted

UNKNOWN = "This call was started, and whether it took effect is unknown."
EVERYTHING = ["booked", "model-1", "model-2", "model-3", "refunded"]

#: Where a host dies, and what is done twice for it: a model is asked again, and nothing else.
MOMENTS: dict[str, list[str]] = {
    "model-1:before": [],
    "model-1:after": ["model-1"],
    "model-2:before": [],  # between a tool and the model
    "model-2:after": ["model-2"],
    "model-3:before": [],
    "model-3:after": ["model-3"],
    "suspend:begin": [],
    "suspend:written": [],
    "suspend:written>store:committed": [],  # it waits
    "commit:read": ["model-3"],  # what came last is stored with the commit
    "commit:written": ["model-3"],
    "commit:written>store:committed": [],
}


def killed(where: Path, *moments: str) -> list[Path]:
    """Have a host die at each of these moments; the stores that they leave."""
    stores = [where / f"{number}.db" for number in range(len(moments))]
    hosts = list(zip(map(str, stores), moments, strict=True))
    told = subprocess.run(
        [
            *(sys.executable, "-m", "tests.crash.adopted"),
            json.dumps(hosts),
        ],
        capture_output=True,
        timeout=200,
        check=True,
    )
    assert json.loads(told.stdout) == [-signal.SIGKILL] * len(moments), told.stderr.decode()
    return stores


def finished(store: Path, in_doubt: InDoubt = "report") -> str:
    """What another host answers that asks the same."""

    async def finish() -> str:
        agent = adopted.clerk(store, in_doubt)
        async with adopted.runtime(agent, store) as rt, asyncio.timeout(60):
            for lane in (await rt.drain_status()).lanes:
                await rt.declare_gone(lane.executor.owner, "it was killed")
            text = await adopted.answered(rt, agent)
            left = await rt.drain_status()
            assert (left.open_turns, left.pending, left.lanes) == ((), (), ())
            return text

    return asyncio.run(finish())


def happened(store: Path) -> list[str]:
    """What ever happened outside."""
    return sorted(line.split()[0] for line in adopted.effects(store).read_text().splitlines())


def test_a_run_whose_host_was_killed_is_finished_and_its_tools_ran_once(tmp_path: Path) -> None:
    for moment, store in zip(MOMENTS, killed(tmp_path, *MOMENTS), strict=True):
        assert finished(store) == "booked 7; refunded 40", moment
        assert happened(store) == sorted(EVERYTHING + MOMENTS[moment]), moment


def test_a_tool_in_which_a_host_died_is_in_doubt_and_as_its_agent_says(tmp_path: Path) -> None:
    before, after, rerun, wait = killed(
        tmp_path, "booked:before", "booked:after", "booked:before", "booked:after"
    )
    assert finished(before).startswith(UNKNOWN)
    assert happened(before).count("booked") == 0
    assert finished(after).startswith(UNKNOWN)
    assert happened(after).count("booked") == 1
    assert finished(rerun, "rerun") == "booked 7; refunded 40"
    assert happened(rerun) == EVERYTHING
    assert finished(wait, "wait") == "booked 7; refunded 40"
    assert happened(wait) == EVERYTHING


def test_whoever_drives_finishes_what_nobody_asks_for_again(tmp_path: Path) -> None:
    (store,) = killed(tmp_path, "model-2:before")

    async def drive() -> None:
        agent = adopted.clerk(store)
        async with adopted.runtime(agent, store) as rt, asyncio.timeout(60):
            for lane in (await rt.drain_status()).lanes:
                await rt.declare_gone(lane.executor.owner, "it was killed")
            assert await rt.drive_once() == []
            (wait,) = await rt.waits()
            assert (wait.name, wait.asked["tool"]) == ("approve", "refund")
            assert (await rt.drain_status()).lanes == (), "what waits holds no lane"
            assert (await rt.resolve(wait.key, True)).first
            (result,) = await rt.drive_once()
            assert (result.turn, result.text) == (
                rt.turn_id("chat", "k"),
                "booked 7; refunded 40",
            )

    asyncio.run(drive())
    assert happened(store) == EVERYTHING
