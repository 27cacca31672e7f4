"""A host is killed on the way into a wait, and another process answers and goes on."""

import asyncio
import os
import signal
import subprocess
import sys
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
