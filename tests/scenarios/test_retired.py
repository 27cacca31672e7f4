"""A run that is retired by somebody else while it is stopped."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.scenarios.caller import Caller
from tests.scenarios.processes import Process
from tests.scenarios.stage import Stage, continue_all
from tests.scenarios.steps import ACTS, EVERY, Step, play
from tests.waiting import until


def retirable(steps: Iterable[Step]) -> list[Step]:
    """Those of the steps at which there is an attempt to retire and the store can be written."""
    return [
        step for step in steps if step.binds and not step.writing and step.point != "run.settled"
    ]


@pytest.mark.parametrize("act", ACTS)
def test_a_run_retired_at_any_step_by_the_same_question_ends_cancelled(act: str, tmp_path: Path):
    play(retired_by_the_same_question, retirable(ACTS[act]), Stage, tmp_path)


@pytest.mark.parametrize("act", ACTS)
def test_a_run_retired_at_any_step_by_another_question_ends_cancelled(act: str, tmp_path: Path):
    play(retired_by_another_question, retirable(ACTS[act]), Stage, tmp_path)


def test_a_run_stopped_inside_the_store_is_killed_once_its_lease_is_up(tmp_path: Path):
    """It would keep everybody else out of the store, and so could not be retired at all."""
    steps = [step for step in EVERY if step.binds and step.writing]
    play(stopped_inside_the_store, steps, Stage, tmp_path)


def test_a_run_stopped_while_it_binds_is_named_to_whom_it_keeps_out(tmp_path: Path):
    """It has no lease yet that could be up."""
    stage = Stage(tmp_path)
    side = stage.side("side")
    caller, (runner, *_), _ = _stopped_past_its_lease(stage, Step("bind:read"))
    second = stage.ask(cwd=side)
    second.expect(3)
    said = f"is busy with process {runner.pid}, which is stopped; let it go on (kill -CONT "
    assert said in second.answer["report"]["reason"]
    runner.go_on()
    caller.expect(0)
    stage.ask(cwd=side).expect(0)
    stage.check()


def stopped_inside_the_store(stage: Stage, step: Step) -> None:
    side = stage.side("side", change=True)
    caller, _, run = _stopped_past_its_lease(stage, step)
    before = stage.books().receipts_of(run)
    stage.let_go(*step.held)
    second = stage.ask(cwd=side)
    second.expect(0)
    by = second.answer["run"]
    assert caller.wait() in (3, 4), "whether its retirement was recorded when its death was seen"
    books = stage.check()
    attempt = books.of_run(run)
    assert (attempt["outcome"], attempt["retired"]["by"]) == ("cancelled", by)
    assert attempt["retired"]["licence"]["ground"] == "lapsed"
    assert books.runs[run]["body"]["report"]["other"] == by
    assert books.receipts_of(run) == before, "what it was writing is as if it never was"
    stage.everybody_is_gone()


def retired_by_the_same_question(stage: Stage, step: Step) -> None:
    """Another worktree at the same commit: it takes the subject over and runs what is left."""
    side = stage.side("side")
    caller, stopped, run = _stopped_past_its_lease(stage, step)
    before = stage.books().receipts_of(run)
    stage.let_go(*step.held)
    second = stage.ask(cwd=side)
    second.expect(0)
    assert sorted(second.answer["report"]["reused"]) == sorted(before), (
        "what was published is reused"
    )
    continue_all(stopped)
    _ends_cancelled(stage, caller, run, second.answer["run"], before)


def retired_by_another_question(stage: Stage, step: Step) -> None:
    """Another worktree with another candidate: it only recovers, and nobody takes the work over."""
    side = stage.side("side", change=True)
    caller, stopped, run = _stopped_past_its_lease(stage, step)
    before = stage.books().receipts_of(run)
    stage.let_go(*step.held)
    second = stage.ask(cwd=side)
    second.expect(0)
    continue_all(stopped)
    _ends_cancelled(stage, caller, run, second.answer["run"], before)
    again = stage.ask()
    again.expect(0)
    assert sorted(again.answer["report"]["reused"]) == sorted(before), (
        "what was published is reused"
    )
    stage.check()


def _stopped_past_its_lease(stage: Stage, step: Step) -> tuple[Caller, list[Process], str]:
    stage.hold(*step.held)
    caller = stage.ask(faults=f"{step.point}=stop")
    runner = caller.runner()
    until(lambda: runner.state == "T", f"the runner stops at {step.point}")
    (run,) = stage.run_ids()
    jobs = stage.jobs_of(run)
    for job in jobs:
        job.stop()
    stage.await_lapse()
    return caller, [runner, *jobs], run


def _ends_cancelled(stage: Stage, caller: Caller, run: str, by: str, before: list[str]) -> None:
    """It is cancelled, by whom and on what evidence, and nothing else is reported."""
    caller.expect(4)
    told = caller.answer
    assert told["outcome"] == "cancelled"
    assert told["run"] == run
    assert told.get("proof") is None
    report = told["report"]
    assert report["other"] == by
    assert report["failures"] == []
    why = f"retired by run {by} (lapsed: not renewed within 3 s)"
    assert report["reason"].startswith(why)
    stage.everybody_is_gone()  # whoever follows may know of it before the run does
    books = stage.check()
    attempt = books.of_run(run)
    assert (attempt["outcome"], attempt["retired"]["by"]) == ("cancelled", by)
    recorded = books.runs[run]["body"]["report"]
    assert (recorded["outcome"], recorded["exit_code"]) == ("cancelled", 4)
    assert (recorded["other"], recorded["failures"]) == (by, [])
    assert recorded["reason"].startswith(why)
    assert [row for row in books.proofs if row["attempt"] == attempt["id"]] == []
    assert books.receipts_of(run) == before, "the retired publish nothing"
