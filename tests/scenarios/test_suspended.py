"""Time that goes by while the machine sleeps, and time that only seems to have gone by."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tenure.faces.embed import open_gate_store
from tenure.gate.place import Place
from tenure.gate.record import ProcessMark, RunRecord
from tenure.gate.recovery import recover
from tenure.gate.store import GateStore
from tenure.kernel.attempt import AttemptRecord, BindRequest
from tenure.kernel.coordinator import Coordinator
from tenure.kernel.identity import LeaseOwnerIdentity, mint_token
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.liveness import take_run_lock
from tenure.testing.clock import VirtualClock
from tests.scenarios.stage import Stage

TIMINGS = LeaseTimings(3.0, 1.0)

#: A namespace in which the machine seems to have been up for a day longer.
LATER = ("unshare", "--time", "--boottime", "90000", "--monotonic", "90000", "--fork")


class Held:
    """An attempt in a real store, on a clock that the test moves."""

    def __init__(self, root: Path) -> None:
        self.clock = VirtualClock()
        place = Place(str(root))
        place.prepare()
        self.store: GateStore = open_gate_store(place, self.clock)
        boot = self.clock.now().boot
        self.lock, evidence = take_run_lock(place.lock("a" * 32), boot)
        request = BindRequest(
            attempt="a" * 32,
            run="first",
            repository=self.store.repository,
            subject="subject",
            kind="done",
            owner=LeaseOwnerIdentity(owner_id="first", incarnation_id="1"),
            evidence=evidence,
            token=mint_token(),
            timings=TIMINGS,
        )
        mark = ProcessMark(pid=1, start_ticks=1, boot=boot, pid_namespace=1)
        run = RunRecord(
            id="first",
            repository=self.store.repository,
            checkout="here",
            worktree="/here",
            git_dir="/here/.git",
            branch=None,
            commit="c",
            tree="t",
            candidate="candidate",
            subject="subject",
            started_wall_ns=0,
            supervisor=mark,
            runner=mark,
        )
        bound = self.store.bind(request, run, unless_proven=True)
        assert isinstance(bound, AttemptRecord)
        self.attempt = bound
        self.keeper = Coordinator[AttemptRecord](
            renew=lambda: self.store.renew(self.attempt.fence),
            timings=TIMINGS,
            started=self.clock.monotonic(),
            jitter=lambda: 0.0,
        )

    def close(self) -> None:
        self.store.close()
        os.close(self.lock)

    def licence(self) -> str | None:
        """On what ground somebody else might retire the attempt now."""
        (record,) = self.store.unfinished()
        found = self.store.licence(record)
        return None if found is None else found.ground

    def retire(self) -> None:
        """Do what any other run does about it, if anything licenses that."""
        recover(self.store, "second", self.clock.now().boot)

    def outcomes(self) -> list[str | None]:
        """What became of the attempt, in the record."""
        record = self.store.attempt(self.attempt.id)
        return [] if record is None else [record.outcome]


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Held]:
    with closing(Held(tmp_path)) as found:
        yield found


def test_a_holder_that_wakes_up_renews_before_anybody_may_take_over(held: Held):
    held.clock.suspend(3600)
    assert held.licence() is None, "it has not been awake for one interval"
    held.clock.advance(0.9)
    held.retire()
    held.keeper.check(held.clock.monotonic())
    held.clock.advance(2.9)
    held.retire()
    assert held.outcomes() == [None]
    settled = held.store.renew(held.attempt.fence)
    assert settled.bound


def test_a_holder_that_nobody_retired_keeps_its_hold_however_long_it_slept(held: Held):
    held.clock.suspend(30 * 24 * 3600)
    held.clock.advance(600)
    assert held.licence() == "lapsed"
    held.keeper.check(held.clock.monotonic())
    assert held.keeper.lost is None
    assert held.licence() is None


def test_a_holder_that_sleeps_on_is_retired_and_finds_out(held: Held):
    held.clock.suspend(3600)
    held.clock.advance(1.0)
    held.retire()
    held.keeper.check(held.clock.monotonic())
    assert held.keeper.lost is not None
    assert held.keeper.lost.by == "second"
    assert held.outcomes() == ["cancelled"]


def test_the_wall_clock_ends_nothing(held: Held):
    held.clock.step_wall(10 * 365 * 24 * 3600)
    held.retire()
    held.clock.step_wall(-20 * 365 * 24 * 3600)
    held.retire()
    held.keeper.check(held.clock.monotonic())
    assert held.outcomes() == [None]


@pytest.fixture
def namespaces() -> None:
    """The right to make time namespaces."""
    asked = subprocess.run([*LATER, "true"], capture_output=True)
    if asked.returncode != 0:
        pytest.skip(f"no time namespaces here: {asked.stderr.decode(errors='replace').strip()}")


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("shifted", ["holder", "rival"])
def test_a_time_namespace_lets_no_lease_lapse(shifted: str, tmp_path: Path):
    """Two worktrees, one of them in a container that seems to have booted a day earlier."""
    stage = Stage(tmp_path)
    side = stage.side("side")
    mine, theirs = (LATER, ()) if shifted == "holder" else ((), LATER)
    stage.hold("suite")
    first = stage.tenure("done", "--json", through=mine)
    stage.await_only("suite")
    recover_now = stage.tenure("recover", cwd=side, through=theirs)
    recover_now.expect(0)
    assert recover_now.out == "nothing to recover\n"
    second = stage.tenure("done", "--json", "--wait", "1s", cwd=side, through=theirs)
    second.expect(75)
    stage.let_go("suite")
    first.expect(0)
    assert second.answer["run"] == first.answer["run"], "the second followed the first"
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["passed"]
    stage.everybody_is_gone()
