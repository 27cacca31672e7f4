"""Somebody asks: answered from a Proof, from what another run says, or by a run of one's own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.gate.errors import UsageError
from tenure.gate.inquiry import Answer, Desk, Inquiry
from tenure.gate.jobs.environment import RUN_MARKER
from tenure.gate.narration import AnyEvent, Ended, RunLog
from tenure.gate.report import Failure, FailureKind, Report
from tenure.gate.signals import Signals
from tenure.gate.situation import Question
from tenure.kernel.lease import LeaseTimings
from tenure.testing.faults import Faults, Planted
from tests.faces.calls import PASS, gated
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit

#: Long enough for anything that happens here. Only a test that is failing waits as long.
PATIENT = 5.0
AT_ONCE = 0.001

SHORT = LeaseTimings(ttl=0.3, renew_interval=0.1)


class Asking:
    """Somebody who asks in the checkout of a rehearsal. A run of their own raises `Planted`."""

    def __init__(self, rehearsal: Rehearsal) -> None:
        self.rehearsal = rehearsal
        self.shown: list[AnyEvent] = []
        self.signals = Signals(())

    def ask(self, question: Question | None = None, *, wait: float = PATIENT) -> Answer:
        rehearsal = self.rehearsal
        desk = Desk(
            cwd=str(rehearsal.top),
            place=rehearsal.place,
            open_store=rehearsal.open_store,
            clock=rehearsal.clock,
            environ=rehearsal.environ,
            signals=self.signals,
            output=None,
            show=self.shown.append,
        )
        with Faults() as faults:
            faults.crash("inquiry.launch")
            return Inquiry(desk, question or Question(), tied=False, wait_seconds=wait).ask()


@pytest.fixture
def asking(tmp_path: Path) -> Iterator[Asking]:
    asking = Asking(Rehearsal(gated(tmp_path / "repo", PASS)))
    yield asking
    asking.signals.close()


def tell_end(asking: Asking, run: str, report: Report) -> None:
    log = RunLog(asking.rehearsal.place.run(run), None)
    log.write(Ended(report=report), 0)


def test_where_nothing_is_known_a_run_of_ones_own_is_started(asking: Asking) -> None:
    with pytest.raises(Planted):
        asking.ask()


def test_a_proof_is_the_answer_unless_it_is_asked_to_run_again(asking: Asking) -> None:
    asking.rehearsal.conduct()
    answer = asking.ask()
    assert (answer.exit_code, answer.outcome, answer.run) == (0, "met", None)
    assert answer.proof is not None
    assert answer.proof.run == asking.rehearsal.run
    with pytest.raises(Planted):
        asking.ask(Question(rerun=True))


def test_a_policy_that_removes_a_job_is_not_met_whatever_was_proven(asking: Asking) -> None:
    commit(asking.rehearsal.top, {"tenure.toml": PASS.replace("lint", "other")})
    asking.rehearsal.conduct()
    answer = asking.ask()
    assert (answer.exit_code, answer.outcome, answer.proof) == (1, "not met", None)
    assert [each.name for each in answer.situation.required.objections] == ["lint"]


def test_a_live_run_of_the_same_question_is_followed(asking: Asking) -> None:
    with asking.rehearsal.rival() as rival:
        answer = asking.ask(wait=AT_ONCE)
    assert (answer.exit_code, answer.outcome, answer.run) == (75, "running", rival.run)


def test_a_followed_run_that_goes_silent_is_followed_no_longer_than_its_lease(
    asking: Asking,
) -> None:
    """Nobody tells its follower: it has to look, every interval."""
    with asking.rehearsal.rival(lease=SHORT), pytest.raises(Planted):
        asking.ask()


def test_a_followed_run_that_is_retired_answers_nothing(asking: Asking) -> None:
    rehearsal = asking.rehearsal
    with rehearsal.rival(lease=LeaseTimings(ttl=3600.0, renew_interval=0.05)):
        rehearsal.retire()
        with pytest.raises(Planted):
            asking.ask()


@pytest.mark.parametrize(
    ("kind", "adopted"),
    [("failed", True), ("no_output", True), ("killed", False), ("timed_out", False)],
)
def test_the_end_of_a_followed_run_is_ours_only_if_it_is_about_the_candidate(
    asking: Asking, kind: FailureKind, adopted: bool
) -> None:
    failure = Failure(requirement="lint", kind=kind, detail="it did")
    with asking.rehearsal.rival() as rival:
        report = Report(outcome="failed", exit_code=1, failures=(failure,))
        tell_end(asking, rival.run, report)
        if not adopted:
            with pytest.raises(Planted):
                asking.ask()
            return
        answer = asking.ask()
    assert (answer.exit_code, answer.run, answer.report) == (1, rival.run, report)
    assert answer.worktree == str(asking.rehearsal.top)


def test_the_end_of_a_followed_run_that_was_cancelled_is_not_ours(asking: Asking) -> None:
    with asking.rehearsal.rival() as rival:
        tell_end(asking, rival.run, Report(outcome="cancelled", exit_code=4))
        with pytest.raises(Planted):
            asking.ask()


@pytest.mark.parametrize("outer", ["{}", "somebody-else:{}", "{}:inner"])
def test_a_job_of_a_run_does_not_ask_about_its_own_repository(asking: Asking, outer: str) -> None:
    with asking.rehearsal.rival(subject="another question") as rival:
        asking.rehearsal.environ[RUN_MARKER] = outer.format(rival.run)
        with pytest.raises(UsageError, match=f"inside a job of run {rival.run}"):
            asking.ask()


def test_a_job_of_a_run_that_is_over_or_of_elsewhere_may_ask(asking: Asking) -> None:
    asking.rehearsal.environ[RUN_MARKER] = "a-run-of-another-repository"
    with pytest.raises(Planted):
        asking.ask()
    with asking.rehearsal.rival() as rival:
        asking.rehearsal.retire()
        asking.rehearsal.environ[RUN_MARKER] = rival.run
        with pytest.raises(Planted):
            asking.ask()
    assert os.path.isdir(asking.rehearsal.place.run(rival.run))
