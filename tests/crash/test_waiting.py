"""A host is killed on the way into a wait; and many processes answer one at once."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.crash import waiter

#: Where it dies. Its reservation is recorded by then, and never made again.
MOMENTS = (
    "open_wait:begin",
    "open_wait:read",
    "open_wait:written",
    "suspend:begin",
    "suspend:read",
    "suspend:written",
    "suspend:written>store:committed",
)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_host_killed_on_the_way_into_a_wait_loses_nothing(moment: str, tmp_path: Path) -> None:
    store = tmp_path / "agents.db"
    dead = subprocess.run(
        [sys.executable, "-m", "tests.crash.waiter", str(store)],
        env={**os.environ, "TENURE_FAULTS": f"{moment}=kill"},
        stderr=subprocess.PIPE,
        timeout=100,
    )
    assert dead.returncode == -signal.SIGKILL, dead.stderr.decode()
    asyncio.run(_approved(store))
    lines = waiter.refunds(store).read_text(encoding="utf-8").splitlines()
    happened = [line.split()[0] for line in lines]
    assert happened == ["reserved", "refunded"]
    assert lines[-1].split()[1] == str(os.getpid()), "the survivor refunded"


async def _approved(store: Path) -> None:
    """Another process takes over what is left, answers twice, and drives to the end."""
    async with waiter.runtime(store) as rt, asyncio.timeout(60):
        for lane in (await rt.drain_status()).lanes:
            await rt.declare_gone(lane.executor.owner, "it was killed")
        while not (waits := await rt.waits()):
            await rt.drive_once()
        (wait,) = waits
        assert (await rt.resolve(wait.key, True)).first
        assert not (await rt.resolve(wait.key, False)).first
        results = await rt.drive_once()
        while not results:
            results = await rt.drive_once()
        assert [result.text for result in results] == ["Done."]
        assert await rt.waits() == []


RESOLVERS = 8


@pytest.mark.timeout(900)
@pytest.mark.parametrize("rounds", [12, pytest.param(100, marks=pytest.mark.soak)])
def test_eight_processes_answer_one_wait_and_one_of_them_does(rounds: int, tmp_path: Path) -> None:
    store = tmp_path / "agents.db"
    asyncio.run(_rounds(store, 0))  # the store is there
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.crash.resolver", str(store), f"r{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(RESOLVERS)
    ]
    try:
        for one in processes:
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        winners = asyncio.run(_rounds(store, rounds, processes))
    finally:
        for one in processes:
            one.kill()
            one.communicate()
    lines = waiter.refunds(store).read_text(encoding="utf-8").splitlines()
    happened = Counter(line.split()[0] for line in lines)
    assert happened == {"reserved": rounds, "refused": rounds}
    print(f"{rounds} rounds, won by {dict(sorted(Counter(winners).items()))}")


async def _rounds(
    store: Path, rounds: int, processes: Sequence["subprocess.Popen[str]"] = ()
) -> list[str]:
    """So many turns that wait, each answered by all at once; who was heard."""
    winners = []
    async with waiter.runtime(store) as rt:
        for number in range(rounds):
            rt.submit("chat", "Refund it.", agent="clerk", key=str(number))
            while not (waits := await rt.waits()):
                await rt.drive_once()
            for one in processes:
                assert one.stdin is not None
                one.stdin.write(f"{waits[0].key}\n")
            first = number % max(1, len(processes))  # another one is woken first each time
            for one in (*processes[first:], *processes[:first]):
                assert one.stdin is not None
                one.stdin.flush()
            told = [json.loads(one.stdout.readline()) for one in processes if one.stdout]
            assert sum(heard for heard, _, _ in told) == 1, told
            assert {word for _, word, _ in told} == {"value"}
            (value,) = {answer["by"] for _, _, answer in told}
            winners.append(value)
            while not (results := await rt.drive_once()):
                pass
            assert [result.text for result in results] == ["Done."]
    return winners
