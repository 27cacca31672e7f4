"""Whoever asked stops asking: what that means to the run, and what they are told."""

import signal
from functools import partial
from pathlib import Path

from tests.scenarios.caller import Caller
from tests.scenarios.stage import HOUR, Stage
from tests.scenarios.terminal import Terminal
from tests.waiting import until

CTRL_C = b"\x03"


def test_an_interrupt_of_the_starter_is_answered_after_the_recorded_end(tmp_path: Path):
    stage, caller = _with_a_running_suite(tmp_path)
    caller.send(signal.SIGINT)
    caller.expect(130)
    _is_recorded_as_cancelled(stage, caller, "cancelled by its starter: interrupted")
    stage.everybody_is_gone()


def test_ctrl_c_at_the_terminal_interrupts_the_command_and_nothing_else(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    with Terminal() as terminal:
        caller = stage.tenure("done", "--json", stdin=terminal.slave, through=("setsid", "--ctty"))
        stage.await_job("suite")
        terminal.press(CTRL_C)
        caller.expect(130)
    _is_recorded_as_cancelled(stage, caller, "cancelled by its starter: interrupted")
    stage.everybody_is_gone()


def test_a_second_interrupt_leaves_the_run_to_itself(tmp_path: Path):
    stage, caller = _with_a_running_suite(tmp_path, faults="run.settle")
    caller.send(signal.SIGINT)
    stage.await_point("run.settle")
    assert not caller.over, "the recorded end is awaited"
    caller.send(signal.SIGINT)
    caller.expect(130)
    assert caller.answer["outcome"] == "left"
    (run,) = stage.recorded()
    assert run.report is None
    stage.resume("run.settle")
    until(lambda: stage.recorded()[0].report, "the run ends by itself")
    _is_recorded_as_cancelled(stage, None, "cancelled by its starter: interrupted")
    stage.everybody_is_gone()


def test_an_interrupt_is_not_lost_before_the_run_can_hear_it(tmp_path: Path):
    for point in ("run.supervise", "run.start"):
        stage = Stage(tmp_path / point, lease=HOUR)
        caller = stage.done(faults=stage.pause(point))
        stage.await_point(point)
        deaf = caller.supervisor() if point == "run.supervise" else caller.runner()
        caller.send(signal.SIGINT)
        until(partial(deaf.has_pending, signal.SIGTERM), "the request waits for it")
        stage.resume(point)
        caller.expect(130)
        assert stage.began == []
        assert caller.answer["outcome"] == "cancelled"
        stage.everybody_is_gone()


def test_an_interrupt_reaches_a_run_without_a_supervisor(tmp_path: Path):
    """And without a renewal that would look at the record."""
    stage = Stage(tmp_path, lease=("3600s", "1200s"))
    stage.hold("suite")
    caller = stage.done()
    stage.await_job("suite")
    caller.supervisor().kill()
    caller.send(signal.SIGINT)
    caller.expect(130)
    _is_recorded_as_cancelled(stage, caller, "cancelled by its starter: interrupted")
    stage.everybody_is_gone()


def test_a_hang_up_or_a_term_of_the_starter_leaves_the_run_to_itself(tmp_path: Path):
    for number in (signal.SIGHUP, signal.SIGTERM):
        stage, caller = _with_a_running_suite(tmp_path / number.name)
        caller.send(number)
        caller.expect(128 + number)
        assert caller.answer["outcome"] == "left"
        _goes_on_and_passes(stage)


def test_a_stopped_command_stops_nothing_but_itself(tmp_path: Path):
    stage, caller = _with_a_running_suite(tmp_path)
    caller.process.stop()
    _goes_on_and_passes(stage)
    assert not caller.over
    caller.process.go_on()
    caller.expect(0)


def test_an_interrupt_of_another_follower_is_its_own_affair(tmp_path: Path):
    stage, first = _with_a_running_suite(tmp_path)
    second = stage.done(cwd=stage.side("side"))
    until(lambda: stage.follows(second), "the second follows")
    second.send(signal.SIGINT)
    second.expect(130)
    assert second.answer["outcome"] == "left"
    assert second.answer["run"] == stage.run_ids()[0]
    _goes_on_and_passes(stage)
    first.expect(0)


def test_a_command_that_waits_no_longer_says_what_is_left_and_can_be_repeated(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    first = stage.done("--wait", "1s")
    first.expect(75)
    assert first.answer["outcome"] == "running"
    stage.await_only("suite")
    second = stage.done("--wait", "1s")
    second.expect(75)
    assert list(second.answer["left"]) == ["suite"]
    assert second.answer["run"] == first.answer["run"]
    third = stage.done()
    until(lambda: stage.follows(third), "the third follows")
    stage.let_go("suite")
    third.expect(0)
    assert stage.run_ids() == [first.answer["run"]]
    assert sorted(stage.began) == ["format", "lint", "suite"]
    stage.check()
    stage.everybody_is_gone()


def test_a_run_ends_when_it_is_cancelled_from_elsewhere(tmp_path: Path):
    stage, caller = _with_a_running_suite(tmp_path)
    (run,) = stage.run_ids()
    cancel = stage.tenure("cancel", "--reason", "too late", run, cwd=stage.side("side"))
    cancel.expect(0)
    caller.expect(4)
    _is_recorded_as_cancelled(stage, caller, "cancelled by root (tenure cancel): too late")
    stage.everybody_is_gone()


def test_a_run_in_the_foreground_ends_with_its_caller(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    caller = stage.done("--foreground")
    stage.await_job("suite")
    caller.kill()
    until(lambda: stage.recorded()[0].report, "the run ends")
    _is_recorded_as_cancelled(stage, None, "cancelled by a signal: it got SIGTERM")
    stage.everybody_is_gone()


def test_following_ends_as_the_run_does_and_an_interrupt_only_ends_the_following(tmp_path: Path):
    stage, caller = _with_a_running_suite(tmp_path)
    (run,) = stage.run_ids()
    follower, quitter = stage.tenure("follow", run), stage.tenure("follow", run[:6])
    for one in (follower, quitter):
        until(partial(_has_shown_the_suite, one), "it follows")
    quitter.send(signal.SIGINT)
    quitter.expect(130)
    caller.kill()
    stage.let_go("suite")
    follower.expect(0)
    assert "ok      suite" in follower.out
    stage.check()
    stage.everybody_is_gone()


def _with_a_running_suite(root: Path, faults: str = "") -> tuple[Stage, Caller]:
    stage = Stage(root, lease=HOUR)
    stage.hold("suite")
    caller = stage.done(faults=stage.pause(faults) if faults else "")
    stage.await_job("suite")
    return stage, caller


def _has_shown_the_suite(follower: Caller) -> bool:
    return "start   suite" in follower.out


def _goes_on_and_passes(stage: Stage) -> None:
    stage.let_go("suite")
    until(lambda: stage.books().proofs, "the run goes on to its Proof")
    stage.check()
    stage.everybody_is_gone()


def _is_recorded_as_cancelled(stage: Stage, caller: Caller | None, reason: str) -> None:
    books = stage.check()
    ((_, run),) = books.runs.items()
    report = run["body"]["report"]
    assert (report["outcome"], report["failures"]) == ("cancelled", [])
    assert report["reason"] == reason
    assert [row["outcome"] for row in books.attempts] == ["cancelled"]
    assert books.proofs == []
    assert "suite" not in stage.ended
    if caller is not None:
        assert caller.answer["outcome"] == "cancelled"
        assert caller.answer["report"] == report
