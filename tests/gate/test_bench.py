"""What a run believes of a job: nothing that was touched meanwhile, and no output it did not write."""

from pathlib import Path

import msgspec
import pytest

from tenure.gate.jobs import slots
from tenure.gate.report import Report
from tenure.kernel.clock import Instant, SystemClock
from tenure.testing.faults import Faults
from tests.faces.calls import PASS, gated, job
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit, git, write


def kinds(report: Report) -> list[tuple[str, str]]:
    return [(failure.requirement, failure.kind) for failure in report.failures]


def edited(path: Path) -> None:
    """An edit that is put back at once: only the file's change time tells."""
    before = path.read_bytes()
    path.write_bytes(b"something else\n")
    path.write_bytes(before)


def test_a_job_whose_inputs_were_touched_is_not_started(tmp_path: Path) -> None:
    policy = job("lint", f"touch {tmp_path}/ran", inputs=["a.txt"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    with Faults() as faults:
        faults.at("run.begin:lint", lambda: edited(rehearsal.top / "a.txt"))
        report = rehearsal.conduct()
    assert not (tmp_path / "ran").exists()
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    assert ("lint", "inputs_moved") in kinds(report)
    assert report.failures[0].paths == ("a.txt",)


def test_what_passed_on_inputs_that_were_touched_meanwhile_is_never_published(
    tmp_path: Path,
) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "true", inputs=["a.txt"])))
    with Faults() as faults:
        faults.at("run.finish:lint", lambda: edited(rehearsal.top / "a.txt"))
        report = rehearsal.conduct()
    assert report.exit_code == 3
    assert ("lint", "inputs_moved") in kinds(report)
    assert rehearsal.receipts() == {}


def test_a_look_that_served_one_job_serves_none_that_ran_on(tmp_path: Path) -> None:
    """The long one edits once the short one was looked after, and is over later."""
    wait = "i=0; until [ -e {0} ]; do i=$((i+1)); [ $i -lt 1000 ] || exit 9; sleep 0.01; done"
    touched = "cp a.txt {1}; echo else >a.txt; cp {1} a.txt"
    long = f"{wait}; {touched}".format(tmp_path / "go", tmp_path / "kept")
    policy = job("short", "true") + job("long", long) + job("next", "true", needs=["short"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    with Faults() as faults:
        faults.at("run.begin:next", (tmp_path / "go").touch)
        report = rehearsal.conduct()
    assert ("long", "inputs_moved") in kinds(report)
    assert "long" not in rehearsal.receipts()
    assert rehearsal.receipts()["short"].passed, "it was over before"


def test_what_nobody_read_counts_at_the_end(tmp_path: Path) -> None:
    """No job has `b.txt` among its inputs, and yet the tree was not the candidate's all the time."""
    policy = job("lint", "true", inputs=["a.txt"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy, {"b.txt": "b\n"}))
    with Faults() as faults:
        faults.at("run.closing", lambda: edited(rehearsal.top / "b.txt"))
        report = rehearsal.conduct()
    assert kinds(report) == [("", "inputs_moved")]
    assert report.failures[0].paths == ("b.txt",)
    assert rehearsal.receipts()["lint"].passed, "what it read was not touched"
    assert not rehearsal.proven()


class StoppedWall(SystemClock):
    """This machine's clocks, but for the wall clock, which stands at `wall_ns`."""

    def __init__(self, wall_ns: int) -> None:
        super().__init__()
        self.wall_ns = wall_ns

    def now(self) -> Instant:
        return msgspec.structs.replace(super().now(), wall_ns=self.wall_ns)


@pytest.mark.parametrize(("later", "told"), [(0, "1"), (1, "")])
@pytest.mark.parametrize("stage", ["fix", "test"])
def test_python_compiles_no_source_that_is_not_a_second_old(
    tmp_path: Path, stage: str, later: int, told: str
) -> None:
    """An edit of the same length in that second would not be seen: the old code would pass for it."""
    policy = job("test", f'echo "$PYTHONDONTWRITEBYTECODE" > {tmp_path}/told', stage=stage)
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy, {"m.py": "x = 1\n"}))
    written = (rehearsal.top / "m.py").stat().st_ctime_ns
    rehearsal.clock = StoppedWall(written + later * 1_000_000_000)
    rehearsal.conduct()
    assert (tmp_path / "told").read_text() == f"{told}\n"


def test_a_checkout_that_went_to_another_commit_proves_nothing(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "true", inputs=["a.txt"])))

    def commit_nothing_but_a_new_file() -> None:
        commit(rehearsal.top, {"c.txt": "new\n"})

    with Faults() as faults:
        faults.at("run.closing", commit_nothing_but_a_new_file)
        report = rehearsal.conduct()
    assert kinds(report) == [("", "inputs_moved")]
    assert "was moved to commit" in report.failures[0].detail


def test_a_file_that_a_job_leaves_is_not_met_and_named(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("lint", "touch left.txt")))
    report = rehearsal.conduct()
    assert (report.exit_code, kinds(report)) == (1, [("", "left_files")])
    assert report.failures[0].paths == ("left.txt",)
    assert "add to .gitignore: /left.txt" in report.failures[0].detail


def test_a_fix_job_that_changes_a_file_ends_the_run_and_has_no_receipt(tmp_path: Path) -> None:
    policy = job("format", "echo fixed > a.txt", stage="fix") + PASS
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    report = rehearsal.conduct()
    assert (report.exit_code, kinds(report)) == (1, [("", "fixed")])
    assert report.failures[0].paths == ("a.txt",)
    assert (rehearsal.top / "a.txt").read_text() == "fixed\n", "left to the author"
    git(rehearsal.top, "checkout", "-q", "a.txt")
    assert rehearsal.receipts() == {}


def test_what_changed_before_the_baseline_proves_nothing(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("format", "true", stage="fix") + PASS))
    with Faults() as faults:
        faults.at("run.baseline", lambda: write(rehearsal.top, {"a.txt": "edited\n"}))
        report = rehearsal.conduct()
    assert (report.exit_code, kinds(report)) == (3, [("", "inputs_moved")])
    git(rehearsal.top, "checkout", "-q", "a.txt")
    assert rehearsal.receipts() == {}, "what the fix job saw may have been the edit"


def test_an_output_from_before_is_not_taken_for_the_jobs_own(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("test", "true", outputs=["r.xml"])))
    (rehearsal.top / "r.xml").write_text("stale\n")
    report = rehearsal.conduct()
    assert (report.exit_code, kinds(report)) == (1, [("test", "no_output")])
    assert not rehearsal.receipts()["test"].passed


@pytest.mark.parametrize("meanwhile", ["gone", "overwritten"])
def test_outputs_are_put_back_on_reuse(tmp_path: Path, meanwhile: str) -> None:
    policy = job("test", "echo ok > r.xml", outputs=["r.xml"], inputs=["a.txt"]) + PASS
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    rehearsal.conduct()
    output = rehearsal.top / "r.xml"
    if meanwhile == "gone":
        output.unlink()
    else:
        output.write_text("somebody's own\n")
    commit(rehearsal.top, {"b.txt": "another commit\n"})
    report = rehearsal.conduct()
    assert (report.executed, report.reused) == (("lint",), ("test",))
    assert output.read_text() == "ok\n"


def damage(rehearsal: Rehearsal) -> None:
    """Damage what is kept of the one output of `test`, and take the output itself away."""
    (output,) = rehearsal.receipts()["test"].outputs
    (Path(rehearsal.place.outputs) / output.digest).write_bytes(b"no\n")  # of the same size
    (rehearsal.top / output.path).unlink()


def test_an_output_whose_copy_is_damaged_is_made_again(tmp_path: Path) -> None:
    policy = job("test", "echo ok > r.xml", outputs=["r.xml"], inputs=["a.txt"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    rehearsal.conduct()
    damage(rehearsal)
    commit(rehearsal.top, {"b.txt": "another commit\n"})
    report = rehearsal.conduct()
    assert (report.outcome, report.executed) == ("passed", ("test",))
    assert (rehearsal.top / "r.xml").read_text() == "ok\n"


def test_an_output_whose_copy_is_damaged_by_now_is_not_put_back(tmp_path: Path) -> None:
    policy = job("test", "echo ok > r.xml", outputs=["r.xml"], inputs=["a.txt"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    rehearsal.conduct()
    commit(rehearsal.top, {"b.txt": "another commit\n"})
    with Faults() as faults:
        faults.at("run.jobs", lambda: damage(rehearsal))
        report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    assert "test cannot be reused" in report.reason
    assert not (rehearsal.top / "r.xml").exists()


def test_a_receipt_tells_how_the_job_ended_and_who_outlived_it(tmp_path: Path) -> None:
    rehearsal = Rehearsal(gated(tmp_path / "repo", job("test", "setsid sleep 600 & exit 0")))
    report = rehearsal.conduct()
    assert report.outcome == "passed"
    (survivor,) = rehearsal.receipts()["test"].survivors
    assert survivor.endswith(" sleep 600")


class LeapingClock(SystemClock):
    """This machine's clocks, `ahead` of it by as many seconds."""

    ahead = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead


def test_waiting_for_a_hold_is_no_part_of_a_jobs_time(tmp_path: Path) -> None:
    policy = job("lint", "true", holds=["db"], timeout="10m")
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    rehearsal.clock = clock = LeapingClock()
    place = slots.Slot(directory=rehearsal.place.hold("db"), name="hold db", size=1)
    taken = slots.take([place], slots.Holder(run="other", job="theirs", worktree="there"))
    assert isinstance(taken, list)

    def an_hour_later() -> None:
        clock.ahead = 3600.0
        slots.give_back(taken)

    with Faults() as faults:
        faults.at("permits.waiting", an_hour_later)
        report = rehearsal.conduct()
    assert report.outcome == "passed"
    assert rehearsal.receipts()["lint"].seconds < 600


def test_a_job_inherits_what_it_has(tmp_path: Path) -> None:
    """So that others wait for what a killed run left behind, until that is gone too."""
    told = tmp_path / "told"
    policy = job("lint", f"ls -l /proc/$$/fd > {told}", holds=["db"], slot="heavy")
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy))
    assert rehearsal.conduct().outcome == "passed"
    assert f"{rehearsal.place.hold('db')}/1\n" in told.read_text()
    assert "/slots/heavy/1\n" in told.read_text()
