"""A check judges files as they are, by what will judge them once they are committed."""

from pathlib import Path

import pytest

from tenure.gate.errors import UsageError
from tenure.gate.kind import CHECK, FIX
from tenure.gate.receipt import Receipt
from tenure.gate.report import Report
from tenure.gate.situation import Question
from tenure.testing.faults import Faults
from tests.faces.calls import FAIL, PASS, gated, job
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit, git, write

#: One job of each stage; the fix job writes only what it changes.
TRIM = "for f in *.txt; do if grep -q ' $' $f; then sed -i 's/ *$//' $f; fi; done"
JOBS = (
    job("format", TRIM, stage="fix", inputs=["*.txt"])
    + job("build", "cat *.txt > out/all; touch out/$RANDOM", stage="build", outputs=["out"])
    + job("lint", "! grep -n ' $' *.txt", env=["LEVEL"])
    + job("test", "test -s out/all", stage="test", needs=["build"])
).replace("cat *.txt", "mkdir out; cat *.txt")

ALL = ["build", "lint", "test"]


def check(rehearsal: Rehearsal, *jobs: str, rerun: bool = False) -> Report:
    return rehearsal.conduct(Question(kind=CHECK, requested=frozenset(jobs), rerun=rerun))


def fix(rehearsal: Rehearsal, *jobs: str) -> Report:
    return rehearsal.conduct(Question(kind=FIX, requested=frozenset(jobs)))


def receipts(rehearsal: Rehearsal) -> dict[str, Receipt]:
    """The newest receipt of each of these requirements."""
    store = rehearsal.open_store()
    try:
        return store.nearest(["format", "lint", "one", "two", "flip", "grow", "idle"])
    finally:
        store.close()


@pytest.fixture
def rehearsal(tmp_path: Path) -> Rehearsal:
    return Rehearsal(gated(tmp_path / "repo", JOBS))


def test_what_passed_before_the_commit_is_not_run_after_it(rehearsal: Rehearsal) -> None:
    top = rehearsal.top
    write(top, {"a.txt": "edited  \n", "new.txt": "new\n", "deep/er.txt": "1"})
    assert fix(rehearsal).fixed == ("a.txt",)
    assert sorted(check(rehearsal).executed) == ALL
    assert sorted(check(rehearsal).reused) == ALL
    commit(top)
    report = rehearsal.conduct()
    assert (report.outcome, report.executed) == ("passed", ())
    assert sorted(report.reused) == ["build", "format", "lint", "test"]
    assert rehearsal.proven()


def test_a_check_settles_as_one_and_proves_nothing(rehearsal: Rehearsal) -> None:
    report = check(rehearsal)
    assert (report.outcome, report.exit_code, report.proof) == ("passed", 0, None)
    assert (rehearsal.attempt().kind, rehearsal.attempt().outcome) == ("check", "passed")
    fix(rehearsal)
    check(rehearsal)
    assert not rehearsal.proven(), "also where all that is required has passed"


def test_every_check_is_a_question_of_its_own(rehearsal: Rehearsal) -> None:
    asked = Question(kind=CHECK)
    first, second = rehearsal.read(asked), rehearsal.read(asked)
    assert first.candidate_id == second.candidate_id
    assert first.subject != second.subject


def test_a_failure_is_told_and_tried_again_when_it_is_asked_for(rehearsal: Rehearsal) -> None:
    write(rehearsal.top, {"a.txt": "bad \n"})
    for _ in range(2):
        report = check(rehearsal, "lint")
        assert (report.outcome, report.exit_code) == ("failed", 1)
        assert [(f.requirement, f.kind) for f in report.failures] == [("lint", "failed")]
    write(rehearsal.top, {"a.txt": "good\n"})
    assert check(rehearsal, "lint").executed == ("lint",)
    assert check(rehearsal, "lint", rerun=True).executed == ("lint",)


def test_named_jobs_run_with_what_they_need_and_nothing_else(rehearsal: Rehearsal) -> None:
    assert check(rehearsal, "test").executed == ("build", "test")
    assert check(rehearsal, "lint", "test").executed == ("lint",)
    with pytest.raises(UsageError, match=r"'tset' is none of these jobs; did you mean 'test'"):
        check(rehearsal, "tset")
    with pytest.raises(UsageError, match=r"'lint' is none of these jobs; known here: format"):
        fix(rehearsal, "lint")


# ── Whose policy judges ──────────────────────────────────────────────────────────────────


def test_the_policy_as_it_is_counts_before_it_is_committed(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    git(rehearsal.top, "rm", "-q", "--cached", "tenure.toml")
    git(rehearsal.top, "commit", "-q", "-m", "Forget the policy")
    write(rehearsal.top, {"tenure.toml": job("own", "true")})
    assert check(rehearsal).executed == ("own",)


@pytest.mark.parametrize("on", ["main", "side"])
def test_an_old_definition_is_checked_as_it_will_be_required(tmp_path: Path, on: str) -> None:
    """On the trunk too, where the commit that is not made yet will have this one as its base."""
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "test -e a.txt")))
    top = rehearsal.top
    commit(top, {"b.txt": ""})
    git(top, "checkout", "-q", "-B", on)
    write(top, {"tenure.toml": job("lint", "true")})
    assert sorted(check(rehearsal, "lint").executed) == ["lint", "lint@base"]
    commit(top)
    report = rehearsal.conduct()
    assert (report.outcome, report.executed) == ("passed", ())


def test_a_clean_tree_is_checked_as_the_commit_it_is(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "test -e a.txt")))
    commit(rehearsal.top, {"tenure.toml": job("lint", "true")})
    assert sorted(check(rehearsal).executed) == ["lint", "lint@base"]
    assert rehearsal.conduct().executed == ()


def test_what_done_will_object_to_is_told_and_ends_nothing(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS + job("old", "true")))
    write(rehearsal.top, {"tenure.toml": PASS})
    found = rehearsal.read(Question(kind=CHECK))
    assert [note for note in found.notes if "`tenure done` objects: old: " in note]
    assert check(rehearsal).outcome == "passed"


# ── Files that move ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["a.txt", "untracked.txt"])
def test_inputs_that_move_under_a_job_leave_no_receipt_of_it(tmp_path: Path, name: str) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    write(rehearsal.top, {"untracked.txt": "1"})
    with Faults() as faults:
        faults.at("run.finish:lint", lambda: write(rehearsal.top, {name: "2"}))
        report = check(rehearsal)
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    first = report.failures[0]
    assert (first.requirement, first.kind) == ("lint", "inputs_moved")
    assert name in first.paths
    assert receipts(rehearsal) == {}


def test_files_that_change_before_the_jobs_are_found(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    with Faults() as faults:
        faults.at("run.baseline", lambda: write(rehearsal.top, {"new.txt": "2"}))
        report = check(rehearsal)
    assert (report.outcome, report.executed) == ("unproven", ())
    assert report.failures[0].paths == ("new.txt",)


def test_a_file_that_a_job_leaves_is_told_with_the_line_that_ignores_it(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "touch left.txt")))
    write(rehearsal.top, {"mine.txt": "untracked before, so not left"})
    report = check(rehearsal)
    assert [(f.kind, f.paths) for f in report.failures] == [("left_files", ("left.txt",))]
    assert not receipts(rehearsal)["lint"].passed


def test_a_commit_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    """The files are what they were, and nobody asked about the commit."""
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    write(rehearsal.top, {"a.txt": "2"})

    def commit_it() -> None:
        commit(rehearsal.top)

    with Faults() as faults:
        faults.at("run.finish:lint", commit_it)
        assert check(rehearsal).outcome == "passed"
    assert rehearsal.conduct().executed == ()


def test_an_untracked_output_has_to_be_ignored_all_the_same(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "true", outputs=["r.txt"])))
    write(rehearsal.top, {"r.txt": "an old one"})
    with pytest.raises(Exception, match=r"add the line /r.txt to .gitignore"):
        check(rehearsal)


# ── Fix jobs ─────────────────────────────────────────────────────────────────────────────


def test_a_check_leaves_fix_jobs_out_and_says_which_have_not_passed(rehearsal: Rehearsal) -> None:
    write(rehearsal.top, {"a.txt": "good\n"})
    assert set(rehearsal.read(Question(kind=CHECK)).beside) == {"format"}
    assert sorted(check(rehearsal).executed) == ALL
    log = Path(rehearsal.place.run(rehearsal.run), "log")
    assert "`tenure fix` has not passed these files: format" in log.read_text()
    assert fix(rehearsal).executed == ("format",)
    check(rehearsal)
    log = Path(rehearsal.place.run(rehearsal.run), "log")
    assert "tenure fix" not in log.read_text()


def test_a_fix_job_that_is_named_is_judged_like_in_done(rehearsal: Rehearsal) -> None:
    write(rehearsal.top, {"a.txt": "bad \n", "b.txt": "untracked, and bad \n"})
    report = check(rehearsal, "format")
    assert [(f.kind, f.paths) for f in report.failures] == [("fixed", ("a.txt", "b.txt"))]
    assert check(rehearsal, "format").outcome == "passed"


def test_fix_goes_on_until_nothing_changes(tmp_path: Path) -> None:
    """Each takes what the other leaves: a to b, b to c, c to d."""
    one = "grep -q a x && echo b > x; grep -q c x && echo d > x; true"
    two = "grep -q b x && echo c > x; true"
    jobs = job("one", one, stage="fix") + job("two", two, stage="fix") + PASS
    rehearsal = Rehearsal(gated(tmp_path / "repo", jobs, {"x": "d\n"}))
    write(rehearsal.top, {"x": "a\n"})
    report = fix(rehearsal)
    assert (report.outcome, report.fixed) == ("passed", ("x",))
    assert (rehearsal.top / "x").read_text() == "d\n"
    assert (rehearsal.attempt().kind, rehearsal.attempt().outcome) == ("check", "passed")
    assert fix(rehearsal).reused == ("one", "two")


@pytest.mark.parametrize(
    ("shells", "told"),
    [
        ({"one": "echo 1 > x", "two": "echo 2 > x"}, "one and two change x back and forth"),
        ({"flip": "[ $(cat x) = 1 ] && echo 2 > x || echo 1 > x"}, "flip changes x back and forth"),
        ({"grow": "echo more >> x", "idle": "true"}, "after 10 rounds grow still changes x"),
    ],
)
def test_fix_jobs_that_do_not_settle_are_named(
    tmp_path: Path, shells: dict[str, str], told: str
) -> None:
    jobs = "".join(job(name, shell, stage="fix") for name, shell in shells.items())
    rehearsal = Rehearsal(gated(tmp_path / "repo", jobs, {"x": "2\n"}))
    report = fix(rehearsal)
    assert (report.outcome, report.exit_code, report.fixed) == ("failed", 1, ("x",))
    (failure,) = report.failures
    assert (failure.kind, failure.paths) == ("unsettled", ("x",))
    assert failure.detail.startswith(told)
    assert receipts(rehearsal) == {}


def test_a_fix_job_that_fails_only_while_it_fixes_passes(tmp_path: Path) -> None:
    """As many say by their exit code that they changed something."""
    jobs = job("one", "grep -q ok x || { echo ok > x; exit 1; }", stage="fix")
    jobs += job("two", "true", stage="fix", needs=["one"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", jobs, {"x": "no\n"}))
    report = fix(rehearsal)
    assert (report.outcome, report.executed, report.fixed) == ("passed", ("one", "two"), ("x",))


def test_a_fix_job_that_goes_on_failing_fails(tmp_path: Path) -> None:
    jobs = job("one", "grep -q ok x || echo ok > x; exit 1", stage="fix")
    rehearsal = Rehearsal(gated(tmp_path / "repo", jobs, {"x": "no\n"}))
    report = fix(rehearsal)
    assert (report.outcome, report.exit_code, report.fixed) == ("failed", 1, ("x",))
    assert [(f.requirement, f.kind) for f in report.failures] == [("one", "failed")]
    assert receipts(rehearsal)["one"].outcome == "failed"


def test_a_fix_job_that_is_killed_ends_it(tmp_path: Path) -> None:
    jobs = job("one", "echo $$ > x; kill -9 $$", stage="fix")
    rehearsal = Rehearsal(gated(tmp_path / "repo", jobs, {"x": "no\n"}))
    report = fix(rehearsal)
    assert [(f.requirement, f.kind) for f in report.failures] == [("one", "killed")]
    assert report.fixed == ("x",)


def test_a_fix_job_that_breaks_the_policy_is_told(tmp_path: Path) -> None:
    jobs = job("one", "echo broken > tenure.toml", stage="fix")
    rehearsal = Rehearsal(gated(tmp_path / "repo", jobs))
    report = fix(rehearsal)
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    assert report.reason.startswith("after the fix jobs: tenure.toml:1: ")


def test_without_a_fix_job_there_is_nothing_to_repeat(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no job of this policy has the stage fix"):
        fix(Rehearsal(gated(tmp_path / "repo", FAIL)))


@pytest.mark.parametrize(
    "point", ["run.bound", "repair.round", "run.finish:format", "run.baseline", "run.settle"]
)
def test_fix_jobs_that_find_themselves_retired_report_that_alone(
    rehearsal: Rehearsal, point: str
) -> None:
    write(rehearsal.top, {"a.txt": "bad \n"})
    with Faults() as faults:
        faults.at(point, rehearsal.retire)
        report = fix(rehearsal)
    assert faults.passed[point] > 0
    assert (report.outcome, report.exit_code, report.other) == ("cancelled", 4, "other")
    assert rehearsal.attempt().outcome == "cancelled"
