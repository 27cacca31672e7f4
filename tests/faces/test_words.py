"""What people read: one line for each thing that happened, and the last line says it all."""

import pytest

from tenure.faces.cli import words
from tenure.gate.measurement import Measurement, told
from tenure.gate.narration import JobEnded, Measured, Planned, Recovered, Waiting
from tenure.gate.report import Failure, Report
from tests.faces.calls import gated, job, tenure
from tests.gate.repos import commit, git


@pytest.mark.parametrize(
    ("event", "lines"),
    [
        (
            JobEnded(requirement="test", outcome="passed", seconds=0.04),
            ["  ok      test  passed in 0.0 s"],
        ),
        (
            JobEnded(
                requirement="test", outcome="timed_out", seconds=60.2, detail="it took longer"
            ),
            ["  XX      test  timed out in 60 s  it took longer"],
        ),
        (
            JobEnded(requirement="b", outcome="unrun", seconds=0.0, detail="a did not pass"),
            ["  --      b  unrun  a did not pass"],
        ),
        (
            JobEnded(requirement="a", outcome="inputs_moved", seconds=1.0),
            ["  ??      a  inputs moved in 1.0 s"],
        ),
        (Waiting(reason="the checkout is in use"), ["  waiting: the checkout is in use"]),
        (
            Recovered(attempt="x", run="r", evidence="gone", killed=("7 sleep",)),
            ["  retired run r (gone); killed 7 sleep"],
        ),
        (
            Planned(reused={"a": "r"}, execute={"b": ("x changed",)}, estimate={"b": 130.0}),
            ["  reuse   a  (run r)", "  run     b  (x changed, took 2 min last time)"],
        ),
    ],
)
def test_an_event_is_told_in_a_line(event, lines):
    assert words.event_lines(event) == lines


def test_a_failure_without_output_has_no_log_to_show():
    silent = Failure(requirement="a", kind="failed", detail="it exited with 1", log="/l")
    assert words.failure_lines(silent) == ["a: it exited with 1"]
    loud = Failure(
        requirement="a",
        kind="failed",
        detail="it exited with 1",
        tail="x\ny",
        log="/l",
        reproduce="(cd / && a)",
    )
    assert words.failure_lines(loud) == [
        "a: it exited with 1",
        "    | x",
        "    | y",
        "    log: /l",
        "    reproduce: (cd / && a)",
    ]


def test_failing_tests_are_named_before_the_last_lines_and_counted():
    failure = Failure(
        requirement="test",
        kind="failed",
        detail="it exited with 1",
        failing_tests=("a::b", "c"),
        failing_count=9,
        tail="x",
        log="/l",
    )
    assert words.failure_lines(failure) == [
        "test: it exited with 1",
        "    failed: a::b",
        "    failed: c",
        "    and 7 more",
        "    | x",
        "    log: /l",
    ]


def test_a_failed_job_names_its_failing_tests_to_people_and_machines(tmp_path):
    report = '<testsuite><testcase classname="t" name="one"><failure/></testcase></testsuite>'
    shell = f"echo '{report}' > report.xml; exit 1"
    repo = gated(tmp_path / "repo", job("test", shell, stage="test", outputs=["report.xml"]))
    assert "test: it exited with 1\n    failed: t::one\n" in tenure(repo, "done").out
    (failure,) = tenure(repo, "done", "--json").object["report"]["failures"]
    assert (failure["failing_tests"], failure["failing_count"]) == (["t::one"], 1)


def test_a_failure_of_the_whole_run_is_named_by_its_kind():
    left = Failure(requirement="", kind="left_files", detail="jobs left x")
    assert words.report_lines(Report(outcome="failed", exit_code=1, failures=(left,)), None) == [
        "left files: jobs left x"
    ]


def test_the_last_line_says_what_it_was_about(tmp_path):
    policy = job("lint", "exit 1") + job("test", "true", needs=["lint"]) + job("b", "true")
    repo = gated(tmp_path / "repo", policy)
    git(repo, "checkout", "-q", "-b", "side")
    ending = tenure(repo, "done")
    head = git(repo, "rev-parse", "HEAD")[:12]
    assert ending.out.splitlines()[-1] == f"not met: {head} on side (lint, test)"
    assert "test: it did not run: lint, which it needs, did not pass" in ending.out
    commit(repo, {"tenure.toml": job("b", "true")})
    git(repo, "checkout", "-q", "--detach")
    last = tenure(repo, "done").out.splitlines()[-1]
    assert last == f"not met: {git(repo, 'rev-parse', 'HEAD')[:12]} (lint, test)"


def test_nothing_is_said_on_standard_error_unless_there_is_no_answer(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "exit $CODE", env=["CODE"]))
    for code in ("1", "0", "0"):
        ending = tenure(repo, "done", env={"CODE": code})
        assert (ending.code, ending.err) == (int(code), "")


def test_each_line_of_a_dirty_answer_fits_the_terminal_of_whoever_has_many_files(tmp_path):
    """Ten are named and the rest is counted; the object has them all."""
    repo = gated(tmp_path / "repo")
    for number in range(25):
        (repo / f"new-{number:02}.txt").touch()
    ending = tenure(repo, "done")
    assert "new-09.txt (untracked) and 15 more" in ending.err
    assert len(tenure(repo, "done", "--json").object["error"]["paths"]) == 25


def test_what_was_judged_is_told_apart_from_what_is_to_blame():
    line = words.end_line(
        "not met", "a" * 40, "refs/heads/x", ["b", "c"], remark="merged onto main"
    )
    assert line == "not met: aaaaaaaaaaaa on x, merged onto main (b, c)"


def test_whoever_interrupted_is_told_how_to_ask_again():
    line = words.end_line("cancelled", "a" * 40, None, [], verb="check")
    assert line == "cancelled: aaaaaaaaaaaa; `tenure check` asks again"


def test_a_missed_standard_is_told_at_length_once():
    found = Measurement(
        standard="size",
        verdict="missed",
        value="9",
        limit="5",
        margin="0",
        direction="down",
        job="build",
        source="a line of its output",
        receipt="r",
    )
    assert words.event_lines(Measured(measurement=found)) == [
        "  XX      size  9 is above the limit 5"
    ]
    assert told(found).endswith("; read from a line of its output of build)")


def test_a_check_promises_nothing_that_done_objects_to(tmp_path):
    policy = job("lint", "true") + job("test", "true")
    repo = gated(tmp_path / "repo", policy)
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": job("lint", "true")})
    assert tenure(repo, "check").out.splitlines()[-1].endswith("; `tenure done` objects to it")
