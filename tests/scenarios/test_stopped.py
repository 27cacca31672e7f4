"""A run that is stopped for longer than its lease, with nobody else about."""

from pathlib import Path

import pytest

from tests.scenarios.stage import Stage, continue_all
from tests.scenarios.steps import ACTS, Step, play
from tests.waiting import until


@pytest.mark.parametrize("act", ACTS)
def test_a_run_stopped_past_its_lease_at_any_step_passes_with_one_proof(act: str, tmp_path: Path):
    play(stopped_and_continued, ACTS[act], Stage, tmp_path)


def stopped_and_continued(stage: Stage, step: Step) -> None:
    stage.hold(*step.held)
    caller = stage.ask(faults=f"{step.point}=stop")
    runner = caller.runner()
    until(lambda: runner.state == "T", f"the runner stops at {step.point}")
    (run,) = stage.run_ids()
    jobs = stage.jobs_of(run)
    for job in jobs:
        job.stop()
    stage.await_lapse()
    continue_all([runner, *jobs])
    stage.let_go(*step.held)
    caller.expect(0)
    assert caller.answer["outcome"] == "met"
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["passed"]
    assert [row["body"]["run"] for row in books.proofs] == stage.proven_by(run)
    assert sorted(stage.ended) == ["format", "lint", "suite"]
    stage.everybody_is_gone()
