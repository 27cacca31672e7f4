"""Whoever finds the checkout taken does what can be done about its holder, and no more."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tenure.gate.processes import mark
from tenure.gate.record import RunRecord
from tenure.gate.report import Report
from tenure.kernel.attempt import AttemptRecord
from tenure.testing.faults import Faults
from tests.faces.calls import PASS, gated
from tests.gate.rehearsal import Rehearsal
from tests.waiting import until

Child = subprocess.Popen[bytes]


@pytest.fixture
def rehearsal(tmp_path: Path) -> Rehearsal:
    return Rehearsal(gated(tmp_path / "repo", PASS))


@pytest.fixture
def child() -> Iterator[Child]:
    """A process that stands for the holder's runner."""
    child = subprocess.Popen(["sleep", "600"])
    yield child
    child.kill()
    child.wait()


def wait_for_the_checkout(rehearsal: Rehearsal, holder: AttemptRecord) -> Report:
    """Conduct a run that finds the checkout taken, until it has looked at the holder twice."""
    lock = os.open(rehearsal.top / ".git", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    record = recorded(rehearsal, holder.run)
    Path(rehearsal.place.holder(record.checkout)).write_bytes(msgspec.json.encode(record))
    with Faults() as faults:
        faults.skip("checkout.busy")
        faults.at("checkout.busy", lambda: os.close(lock))
        report = rehearsal.conduct()
        if faults.passed["checkout.busy"] < 2:
            os.close(lock)
    return report


def recorded(rehearsal: Rehearsal, run: str) -> RunRecord:
    store = rehearsal.open_store()
    try:
        known = store.run(run)
        assert known is not None
        return known
    finally:
        store.close()


def test_a_run_of_an_older_state_is_asked_to_end(rehearsal: Rehearsal, child: Child) -> None:
    """The checkout moved on, so it cannot be proven any more."""
    boot = rehearsal.clock.now().boot
    runner = mark(child.pid, boot)
    with rehearsal.rival(runner=runner, candidate="older", subject="older") as holder:
        report = wait_for_the_checkout(rehearsal, holder)
        assert report.outcome == "passed"
        asked = recorded(rehearsal, holder.run).cancel
    assert asked is not None
    assert asked.by == rehearsal.run
    assert "moved on to" in asked.reason
    assert child.wait(5) == -signal.SIGTERM


def test_another_run_of_the_same_candidate_is_waited_for(
    rehearsal: Rehearsal, child: Child
) -> None:
    boot = rehearsal.clock.now().boot
    with rehearsal.rival(runner=mark(child.pid, boot), subject="again") as holder:
        assert wait_for_the_checkout(rehearsal, holder).outcome == "passed"
        assert recorded(rehearsal, holder.run).cancel is None
    assert child.poll() is None


@pytest.mark.parametrize("older", [True, False])
def test_a_run_of_another_kind_is_waited_for_unless_the_tree_moved_on(
    rehearsal: Rehearsal, child: Child, older: bool
) -> None:
    """It asks something else of the same tree, and may well be answered."""
    runner = mark(child.pid, rehearsal.clock.now().boot)
    differs: dict[str, Any] = {"tree": "older"} if older else {}
    with rehearsal.rival(
        runner=runner, kind="standards", candidate="other", subject="other", **differs
    ) as holder:
        assert wait_for_the_checkout(rehearsal, holder).outcome == "passed"
        assert (recorded(rehearsal, holder.run).cancel is not None) == older
    if older:
        assert child.wait(5) == -signal.SIGTERM
    else:
        assert child.poll() is None


def test_fix_jobs_are_waited_for_whatever_they_change(rehearsal: Rehearsal, child: Child) -> None:
    runner = mark(child.pid, rehearsal.clock.now().boot)
    with rehearsal.rival(
        runner=runner, kind="fix", candidate="other", subject="other", tree="as it was"
    ) as holder:
        assert wait_for_the_checkout(rehearsal, holder).outcome == "passed"
        assert recorded(rehearsal, holder.run).cancel is None
    assert child.poll() is None


def test_a_run_of_the_same_question_is_followed_instead(rehearsal: Rehearsal, child: Child) -> None:
    boot = rehearsal.clock.now().boot
    with rehearsal.rival(runner=mark(child.pid, boot)) as holder:
        report = wait_for_the_checkout(rehearsal, holder)
    assert (report.outcome, report.other) == ("joined", holder.run)
    assert child.poll() is None


@pytest.mark.parametrize("stopped", [True, False])
def test_a_retired_run_is_killed_only_if_it_is_stopped(
    rehearsal: Rehearsal, child: Child, stopped: bool
) -> None:
    """It would hold the checkout as long as it stays stopped; one that runs ends by itself."""
    runner = mark(child.pid, rehearsal.clock.now().boot)
    with rehearsal.rival(runner=runner, subject="again") as holder:
        rehearsal.retire()
        if stopped:
            child.send_signal(signal.SIGSTOP)
            until(lambda: " T " in _stat(child.pid), "it stops")
        assert wait_for_the_checkout(rehearsal, holder).outcome == "passed"
    if stopped:
        assert child.wait(5) == -signal.SIGKILL
    else:
        assert child.poll() is None


def _stat(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text()
