"""A run of which somebody is killed, under a lease that nobody lives to see lapse."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.scenarios.caller import Caller
from tests.scenarios.processes import Process
from tests.scenarios.stage import HOUR, Stage
from tests.scenarios.steps import ACTS, Step, play
from tests.waiting import until

stage_for_an_hour = partial(Stage, lease=HOUR)

at_every_step = pytest.mark.parametrize("act", ACTS)


@at_every_step
def test_a_killed_runner_is_repaired_by_the_next_run(act: str, tmp_path: Path):
    play(the_runner, ACTS[act], stage_for_an_hour, tmp_path)


@at_every_step
def test_a_run_killed_with_its_supervisor_and_follower_is_repaired_by_the_next(
    act: str, tmp_path: Path
):
    play(all_but_the_jobs, ACTS[act], stage_for_an_hour, tmp_path)


@at_every_step
def test_a_run_survives_the_death_of_its_supervisor(act: str, tmp_path: Path):
    play(_the_supervisor, ACTS[act], stage_for_an_hour, tmp_path)


@at_every_step
def test_a_run_survives_the_death_of_its_follower(act: str, tmp_path: Path):
    play(_the_follower, ACTS[act], stage_for_an_hour, tmp_path)


@pytest.mark.parametrize(("moment", "code"), [("inquiry.launch", -9), ("run.supervise", 3)])
def test_whoever_is_killed_before_there_is_a_run_leaves_nothing(
    moment: str, code: int, tmp_path: Path
):
    stage = stage_for_an_hour(tmp_path)
    stage.done(faults=f"{moment}=kill").expect(code)
    assert stage.recorded() == []
    stage.everybody_is_gone()
    stage.done().expect(0)
    stage.check()


@pytest.mark.parametrize("moment", ["recover.seen", "retire:read", "recover.retired"])
def test_whoever_repairs_may_be_killed_at_it(moment: str, tmp_path: Path):
    stage, run, jobs = _dead_with_a_running_suite(tmp_path)
    stage.done(faults=f"{moment}=kill").expect(3)
    assert all(job.alive for job in jobs)
    third = stage.done()
    until(lambda: not any(job.alive for job in jobs), "the third ends the jobs of the first")
    stage.let_go("suite")
    third.expect(0)
    assert third.answer["report"]["reused"] == ["format", "lint"]
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["cancelled", "passed"]
    assert books.of_run(run)["retired"]["licence"]["ground"] == "gone"
    stage.everybody_is_gone()


def test_a_dead_run_can_be_cleared_away_by_hand(tmp_path: Path):
    stage, run, jobs = _dead_with_a_running_suite(tmp_path)
    repair = stage.tenure("recover")
    repair.expect(0)
    assert repair.out.startswith(f"retired run {run} (process ")
    assert all(f"{job.pid} " in repair.out for job in jobs if job.leads)
    assert not any(job.alive for job in jobs)
    books = stage.check()
    assert books.of_run(run)["outcome"] == "cancelled"
    stage.everybody_is_gone()


def test_a_killed_job_is_said_to_have_been_killed(tmp_path: Path):
    stage = stage_for_an_hour(tmp_path)
    stage.hold("suite")
    caller = stage.done()
    run = stage.await_only("suite")
    (leader,) = [job for job in stage.jobs_of(run) if job.leads]
    leader.kill()
    caller.expect(1)
    told = caller.answer
    assert told["outcome"] == "not met"
    assert [(f["requirement"], f["kind"]) for f in told["report"]["failures"]] == [
        ("suite", "killed")
    ]
    stage.let_go("suite")
    books = stage.check()
    assert [row["outcome"] for row in books.receipts] == ["passed", "passed", "killed"]
    stage.everybody_is_gone()
    again = stage.done()
    again.expect(0)
    assert again.answer["report"]["executed"] == ["suite"]


def _dead_with_a_running_suite(root: Path) -> tuple[Stage, str, list[Process]]:
    """A run that was killed with its supervisor and its follower; its suite does not know."""
    stage = stage_for_an_hour(root)
    stage.hold("suite")
    caller = stage.done()
    run = stage.await_only("suite")
    supervisor, runner = caller.supervisor(), caller.runner()
    supervisor.kill()
    runner.kill()
    caller.kill()
    return stage, run, [job for job in stage.jobs_of(run) if job.leads]


def _held_at(stage: Stage, step: Step) -> tuple[Caller, str]:
    stage.hold(*step.held)
    caller = stage.ask(faults=stage.pause(step.point))
    stage.await_point(step.point)
    (run,) = stage.run_ids()
    return caller, run


def the_runner(stage: Stage, step: Step) -> None:
    caller, run = _held_at(stage, step)
    runner, jobs = caller.runner(), stage.jobs_of(run)
    runner.kill()
    _tells_what_is_recorded(caller, step)
    until(lambda: not any(job.alive for job in jobs), "its supervisor ends the jobs")
    _is_repaired(stage, run, step)


def all_but_the_jobs(stage: Stage, step: Step) -> None:
    caller, run = _held_at(stage, step)
    supervisor, runner = caller.supervisor(), caller.runner()
    jobs = stage.jobs_of(run)
    supervisor.kill()
    runner.kill()
    caller.kill()
    held = [job for job in jobs if step.held and job.leads]
    assert all(job.alive for job in held), "nobody ends the jobs"
    _is_repaired(stage, run, step, held)


def _tells_what_is_recorded(caller: Caller, step: Step) -> None:
    if step.point == "run.settled":
        caller.expect(0)
        return
    caller.expect(3)
    assert caller.answer["outcome"] == "unproven"
    assert "SIGKILL" in caller.answer["report"]["reason"]


def _is_repaired(stage: Stage, run: str, step: Step, left: Sequence[Process] = ()) -> None:
    """The next run waits for nothing, reuses what is published, and leaves nothing of the dead."""
    before = stage.books().receipts_of(run) if step.binds else []
    next_run = stage.ask()
    if step.point != "run.settled":
        until(lambda: next_run.over or len(stage.run_ids()) == 2, "the next run begins")
        until(lambda: not any(job.alive for job in left), "it ends the jobs of the dead run")
        stage.let_go(*step.held)
    next_run.expect(0)
    books = stage.check()
    if step.point == "run.settled":
        again = [] if stage.verb == "done" else ["passed"]  # nothing is known beforehand
        assert [row["outcome"] for row in books.attempts] == ["passed", *again]
        return
    assert sorted(next_run.answer["report"]["reused"]) == sorted(before)
    if step.binds:
        dead = books.of_run(run)
        assert dead["retired"]["by"] == next_run.answer["run"]
        assert dead["retired"]["licence"]["ground"] == "gone"
    stage.everybody_is_gone()


def _the_supervisor(stage: Stage, step: Step) -> None:
    caller, run = _held_at(stage, step)
    caller.supervisor().kill()
    stage.resume(step.point)
    stage.let_go(*step.held)
    caller.expect(0)
    assert caller.answer["run"] == run
    _passed_alone(stage)


def _the_follower(stage: Stage, step: Step) -> None:
    caller, _ = _held_at(stage, step)
    caller.kill()
    stage.resume(step.point)
    stage.let_go(*step.held)
    until(lambda: stage.books().proofs, "the run goes on to its Proof")
    _passed_alone(stage)


def _passed_alone(stage: Stage) -> None:
    stage.everybody_is_gone()
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["passed"]
    assert sorted(stage.ended) == ["format", "lint", "suite"]
