"""How a run ends: by its own verdict, by somebody's wish, or by a retirement and nothing else."""

import fcntl
import os
from pathlib import Path

import pytest

from tenure.gate.kind import STANDARDS
from tenure.gate.situation import Question
from tenure.testing.faults import Faults, Planted
from tests.faces.calls import FAIL, PASS, gated, job
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit, worktree

FORMAT = job("format", "true", stage="fix")
TWO = FORMAT + job("lint", "touch out/lint-ran", stage="check", outputs=["out"])


def locks(rehearsal: Rehearsal) -> list[str]:
    return os.listdir(os.path.join(rehearsal.place.root, "locks"))


def test_a_run_that_meets_everything_settles_with_a_proof(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", TWO.replace("touch", "mkdir out; touch")))
    report = rehearsal.conduct()
    assert (report.outcome, report.exit_code, report.executed) == ("passed", 0, ("format", "lint"))
    assert rehearsal.attempt().outcome == "passed"
    assert rehearsal.proven()
    assert locks(rehearsal) == [], "the run lock goes with the attempt"


MEASURED = job("lint", "echo TENURE_METRIC size 3") + (
    '[standards.size]\nfrom = "lint"\nmetric = { line = "size" }\ndirection = "down"\nlimit = 3\n'
)


def test_a_run_that_proves_nothing_settles_with_its_receipts_alone(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", MEASURED))
    report = rehearsal.conduct(Question(kind=STANDARDS, requested=frozenset({"size"})))
    assert (report.outcome, report.proof, report.executed) == ("passed", None, ("lint",))
    assert (rehearsal.attempt().outcome, rehearsal.attempt().kind) == ("passed", "standards")
    assert not rehearsal.proven()
    assert rehearsal.conduct().reused == ("lint",)
    assert rehearsal.proven()
    again = rehearsal.conduct(Question(kind=STANDARDS))
    assert (again.outcome, again.reused) == ("passed", ("lint",)), "a Proof is no answer to it"


def test_what_is_requested_is_part_of_the_question(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", MEASURED))
    asked = [
        Question(),
        Question(kind=STANDARDS),
        Question(kind=STANDARDS, requested=frozenset({"size"})),
    ]
    assert len({rehearsal.read(question).subject for question in asked}) == len(asked)


def test_a_run_that_misses_something_settles_as_failed(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", FORMAT + FAIL))
    report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("failed", 1)
    assert [(f.requirement, f.kind) for f in report.failures] == [("lint", "failed")]
    assert rehearsal.attempt().outcome == "failed"
    assert not rehearsal.proven()
    assert locks(rehearsal) == []


@pytest.mark.parametrize(
    "point",
    [
        "run.bound",
        "run.fix",
        "run.begin:format",
        "run.finish:format",
        "run.baseline",
        "run.jobs",
        "run.begin:lint",
        "run.finish:lint",
        "run.publish",
        "run.closing",
        "run.settle",
    ],
)
def test_a_run_that_finds_itself_retired_reports_that_and_nothing_else(
    tmp_path: Path, point: str
) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", FORMAT + FAIL))
    with Faults() as faults:
        faults.at(point, rehearsal.retire)
        report = rehearsal.conduct()
    assert faults.passed[point] > 0
    assert (report.outcome, report.exit_code, report.other) == ("cancelled", 4, "other")
    assert "retired by run other (gone: somebody says so)" in report.reason
    assert report.failures == ()
    attempt = rehearsal.attempt()
    assert attempt.outcome == "cancelled"
    assert attempt.retired is not None
    assert locks(rehearsal) == []


def test_a_run_that_breaks_after_it_was_retired_reports_the_retirement(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    with Faults() as faults:
        faults.at("run.finish:lint", rehearsal.retire)
        faults.crash("run.publish")
        report = rehearsal.conduct()
    assert (report.outcome, report.exit_code, report.other) == ("cancelled", 4, "other")


def test_a_run_that_breaks_is_settled_and_its_fault_gets_out(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    with Faults() as faults:
        faults.crash("run.closing")
        with pytest.raises(Planted):
            rehearsal.conduct()
    assert rehearsal.attempt().outcome == "failed"
    assert not rehearsal.proven()


def test_a_retired_run_starts_no_further_job(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", f"touch {tmp_path}/ran")))
    with Faults() as faults:
        faults.at("run.begin:lint", rehearsal.retire)
        rehearsal.conduct()
    assert not (tmp_path / "ran").exists()


def test_a_receipt_in_doubt_is_published_with_the_settlement(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    with Faults() as faults:
        faults.at("run.publish", lambda: faults.at("hold:read", _busy))
        report = rehearsal.conduct()
    assert report.outcome == "passed"
    assert rehearsal.receipts()["lint"].passed
    assert rehearsal.proven()


def test_a_receipt_dropped_before_the_settlement_yields_no_proof(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))

    def drop() -> None:
        store = rehearsal.open_store()
        store.drop(rehearsal.receipts()["lint"].id, "wrong machine")
        store.close()

    with Faults() as faults:
        faults.at("run.settle", drop)
        report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    assert "was dropped or cleared away" in report.reason
    assert rehearsal.attempt().outcome == "failed"
    assert not rehearsal.proven()
    report = rehearsal.conduct()
    assert (report.outcome, report.executed) == ("passed", ("lint",))


def _busy() -> None:
    from tenure.kernel.errors import StoreBusy

    raise StoreBusy(store="it")


@pytest.mark.parametrize("point", ["run.bound", "run.begin:lint", "run.jobs"])
def test_a_run_that_was_asked_to_end_is_cancelled_by_whom_it_was(
    tmp_path: Path, point: str
) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS + "\n[gate]\nrenew_interval = '1ms'\n"))
    with Faults() as faults:
        faults.at(point, rehearsal.cancel)
        report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("cancelled", 4)
    assert report.reason == "cancelled by somebody: enough"
    attempt = rehearsal.attempt()
    assert (attempt.outcome, attempt.retired) == ("cancelled", None)
    assert not rehearsal.proven()


def test_a_job_that_was_cut_short_has_no_receipt(tmp_path: Path) -> None:
    """It would be a failure that says nothing about the candidate."""
    policy = job("lint", "sleep 600") + "\n[gate]\nrenew_interval = '20ms'\n"
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    with Faults() as faults:
        faults.at("jobs.spawned", rehearsal.cancel)
        report = rehearsal.conduct()
    assert report.outcome == "cancelled"
    assert rehearsal.receipts() == {}


def test_a_run_whose_subject_is_held_joins_and_holds_nothing(tmp_path: Path) -> None:
    top = gated(tmp_path / "repo", PASS)
    first, second = Rehearsal(top), Rehearsal(worktree(top, tmp_path / "side", "side"))
    ended = []
    with Faults() as faults:
        faults.at("run.begin:lint", lambda: ended.append((second.conduct(), locks(second))))
        report = first.conduct()
    ((joined, held),) = ended
    assert report.outcome == "passed"
    assert (joined.outcome, joined.exit_code, joined.other) == ("joined", 75, first.run)
    assert second.attempt().joined == first.attempt().id
    assert held == [first.attempt().id], "only the first one's lock is there"


def test_a_run_that_was_proven_before_it_bound_binds_nothing(tmp_path: Path) -> None:
    top = gated(tmp_path / "repo", PASS)
    first, second = Rehearsal(top), Rehearsal(worktree(top, tmp_path / "side", "side"))
    with Faults() as faults:
        faults.at("run.bind", lambda: None if second.conduct().outcome == "passed" else _busy())
        report = first.conduct()
    assert (report.outcome, report.reason) == ("again", "it was proven meanwhile")
    assert locks(first) == []


def test_after_a_wait_for_the_checkout_everything_is_looked_at_anew(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", PASS))
    holder = os.open(rehearsal.top / ".git", os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)

    def commit_and_free() -> None:
        commit(rehearsal.top, {"a.txt": "another\n"})
        os.close(holder)

    with Faults() as faults:
        faults.at("checkout.busy", commit_and_free)
        report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("again", 75)


def test_a_job_inherits_the_checkout_and_nothing_else_of_the_run(tmp_path: Path) -> None:
    """The checkout is free when the last job is gone, and the run lock when the runner is."""
    listing = f"for fd in /proc/$$/fd/*; do readlink $fd; done > {tmp_path}/open; true"
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", listing)))
    assert rehearsal.conduct().outcome == "passed"
    opened = (tmp_path / "open").read_text().splitlines()
    own = [path for path in opened if path.startswith(str(tmp_path / "repo"))]
    log = rehearsal.place.run(rehearsal.run) + "/lint.out"
    assert sorted(set(own)) == sorted([str(rehearsal.top / ".git"), log])
