"""One checkout, two questions: jobs of two runs never work in the same tree."""

from functools import partial
from pathlib import Path

from tests.gate import repos
from tests.scenarios.stage import HOUR, Stage, continue_all
from tests.waiting import until


def test_a_new_commit_cancels_the_run_of_an_older_one_in_its_checkout(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    older = stage.done()
    stage.await_only("suite")
    commit = repos.commit(stage.top, {"code.txt": "two\n"})
    newer = stage.done()
    older.expect(4)
    stage.let_go("suite")
    newer.expect(0)
    report = older.answer["report"]
    by = newer.answer["run"]
    assert older.answer["outcome"] == "cancelled"
    assert report["other"] == by
    assert report["failures"] == []
    assert report["reason"] == f"cancelled by {by}: its checkout moved on to {commit[:12]}"
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["cancelled", "passed"]
    assert books.receipts_of(older.answer["run"]) == ["format", "lint"]
    assert stage.ended.count("suite") == 1, "the older suite did not get to its end"
    stage.everybody_is_gone()


def test_a_commit_after_the_last_job_is_seen_before_the_run_settles(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    caller = stage.done(faults=stage.pause("run.closing"))
    stage.await_point("run.closing")
    repos.commit(stage.top, {"code.txt": "two\n"})
    stage.resume("run.closing")
    caller.expect(3)
    assert [f["kind"] for f in caller.answer["report"]["failures"]] == ["inputs_moved"]
    books = stage.check()
    assert books.proofs == []
    assert sorted(books.receipts_of(caller.answer["run"])) == ["format", "lint", "suite"]


def test_a_stopped_run_that_was_retired_is_killed_for_its_checkout(tmp_path: Path):
    stage = Stage(tmp_path)
    stage.hold("suite")
    first = stage.done()
    run = stage.await_only("suite")
    supervisor, runner = first.supervisor(), first.runner()
    stopped = [runner, supervisor, *stage.jobs_of(run)]
    for one in stopped:
        one.stop()
    second = stage.done()
    until(lambda: stage.began.count("suite") == 2, "the second run works in the checkout")
    assert [one for one in stopped if one.alive] == [], "and nothing of the first is left in it"
    first.expect(4)
    stage.let_go("suite")
    second.expect(0)
    by = second.answer["run"]
    assert second.answer["report"]["reused"] == ["format", "lint"]
    assert first.answer["outcome"] == "cancelled"
    assert first.answer["report"]["other"] == by
    assert first.answer["report"]["reason"].startswith(f"retired by run {by} (lapsed: ")
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["cancelled", "passed"]
    assert books.runs[run]["body"]["report"]["outcome"] == "cancelled"
    stage.everybody_is_gone()


def test_a_stopped_run_is_left_alone_until_its_lease_lapses(tmp_path: Path):
    """Whoever wants its checkout waits, says so, and gives way once it goes on."""
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    first = stage.done()
    run = stage.await_only("suite")
    runner = first.runner()
    runner.stop()
    repos.commit(stage.top, {"code.txt": "two\n"})
    second = stage.tenure("done")
    said = f"run {run} judges an older state of this checkout; it is being cancelled"
    until(lambda: said in second.out, "the second says what it waits for")
    assert runner.state == "T"
    continue_all([runner])
    first.expect(4)
    stage.let_go("suite")
    second.expect(0)
    stage.check()
    stage.everybody_is_gone()


def test_a_run_stopped_before_it_holds_anything_gives_its_checkout_up(tmp_path: Path):
    """No lease says how long to leave it alone; it is given as long as one."""
    stage = Stage(tmp_path)
    first = stage.done(faults="run.plan=stop")
    runner = first.runner()
    until(lambda: runner.state == "T", "the first is stopped")
    second = stage.done()
    second.expect(0)
    assert not runner.alive
    first.expect(3)
    assert [row["outcome"] for row in stage.check().attempts] == ["passed"]
    stage.everybody_is_gone()


def test_a_stopped_supervisor_of_a_run_that_is_over_gives_the_checkout_up(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    first = stage.done()
    stage.await_only("suite")
    supervisor = first.supervisor()
    supervisor.stop()
    stage.let_go("suite")
    first.expect(0)
    assert supervisor.state == "T", "it still has the checkout"
    stage.done("--rerun").expect(0)
    assert not supervisor.alive
    assert [row["outcome"] for row in stage.check().attempts] == ["passed", "passed"]
    stage.everybody_is_gone()


def test_a_dead_run_is_repaired_though_its_supervisor_is_stopped(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    first = stage.done()
    run = stage.await_only("suite")
    left = [first.supervisor(), *stage.jobs_of(run)]
    runner = first.runner()
    for one in left:
        one.stop()
    runner.kill()
    second = stage.done()
    until(lambda: not any(one.alive for one in left), "the second ends what is left")
    stage.let_go("suite")
    second.expect(0)
    assert second.answer["report"]["reused"] == ["format", "lint"]
    first.expect(3)
    stage.check()
    stage.everybody_is_gone()


def test_who_waits_for_a_checkout_does_not_cancel_a_newer_question_than_its_own(tmp_path: Path):
    """Two commits while a run is under way, each asked about, and the later takes the checkout."""
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    oldest = stage.done(faults=stage.pause("run.settle"))
    stage.await_only("suite")
    repos.commit(stage.top, {"code.txt": "two\n"})
    older = stage.tenure("done", faults=stage.pause("checkout.busy#2"))
    stage.await_point("checkout.busy#2")
    stage.resume("run.settle")
    oldest.expect(4)
    repos.commit(stage.top, {"code.txt": "three\n"})
    newest = stage.done()
    stage.await_job("suite", times=2)
    stage.resume("checkout.busy#2")
    until(partial(stage.follows, older), "the older question is about the newer state now")
    stage.let_go("suite")
    newest.expect(0)
    older.expect(0)
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["cancelled", "passed"]
    stage.everybody_is_gone()


def test_two_questions_about_one_candidate_in_one_checkout_are_one_run(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    first = stage.done()
    stage.await_job("suite")
    second = stage.tenure("done")
    (run,) = stage.run_ids()
    until(lambda: "start   suite" in second.out, "the second follows from the beginning")
    stage.let_go("suite")
    first.expect(0)
    second.expect(0)
    assert stage.run_ids() == [run]
    assert sorted(stage.began) == ["format", "lint", "suite"]
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["passed"]


def test_six_questions_at_once_about_one_candidate_run_every_job_once(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    side = stage.side("side")
    callers = [stage.done(cwd=cwd) for cwd in (stage.top, side) * 3]
    for caller in callers:
        caller.expect(0)
    assert sorted(stage.began) == ["format", "lint", "suite"]
    books = stage.check()
    assert [row["outcome"] for row in books.attempts].count("passed") == 1
    assert {caller.answer["proof"]["id"] for caller in callers} == {books.proofs[0]["id"]}
    stage.everybody_is_gone()


def test_a_follower_of_a_killed_run_runs_by_itself(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    side = stage.side("side")
    stage.hold("suite")
    first = stage.done()
    stage.await_job("suite")
    second = stage.done(cwd=side)
    follows = partial(stage.follows, second)
    until(follows, "the second follows")
    runner, supervisor = first.runner(), first.supervisor()
    supervisor.kill()
    runner.kill()
    stage.await_job("suite", times=2)
    stage.let_go("suite")
    first.expect(3)
    second.expect(0)
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["cancelled", "passed"]
    stage.everybody_is_gone()
