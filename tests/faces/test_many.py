"""What people see of slots, holds and everything else that many worktrees share."""

import os

from tenure.faces.cli.board import Board
from tenure.gate.jobs.slots import Holder, Slot, give_back, take
from tenure.gate.narration import JobBegan, JobWaiting
from tenure.gate.place import Place
from tests.faces.calls import gated, job, tenure


def occupied(directory):
    """A place that somebody else has, as descriptors."""
    slot = Slot(directory=str(directory), name="any", size=1)
    taken = take([slot], Holder(run="20ae356e6d91", job="suite", worktree="/trees/one"))
    assert isinstance(taken, list)
    return taken


def test_doctor_tells_what_is_in_use_and_by_whom(tmp_path):
    repo = gated(tmp_path / "repo")
    assert "in use: none" in tenure(repo, "doctor").out
    taken = occupied(os.path.join(os.environ["TENURE_SLOTS"], "heavy"))
    taken += occupied(Place(str(repo / ".git")).hold("db"))
    try:
        said = tenure(repo, "doctor").out
    finally:
        give_back(taken)
    whose = "suite of run 20ae356e6d91 in /trees/one"
    assert f"in use: slot heavy by {whose}; hold db by {whose}" in said


def test_doctor_tells_a_place_for_slots_that_cannot_be_used(tmp_path):
    repo = gated(tmp_path / "repo")
    (tmp_path / "file").write_text("")
    ending = tenure(repo, "doctor", env={"TENURE_SLOTS": str(tmp_path / "file")})
    assert ending.code == 3
    assert "BAD  slots: there is no place for the machine's slots" in ending.out


def test_a_job_that_cannot_have_its_slot_is_neither_a_pass_nor_a_failure(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "true", slot="heavy"))
    (tmp_path / "file").write_text("")
    ending = tenure(repo, "done", env={"TENURE_SLOTS": str(tmp_path / "file")})
    assert ending.code == 3
    assert "TENURE_SLOTS" in ending.out


def test_whoever_waits_says_for_what_and_for_whom(tmp_path):
    policy = job("lint", "true", slot="heavy", holds=["db"]) + "[slots]\nheavy = 1\n"
    repo = gated(tmp_path / "repo", policy)
    taken = occupied(os.path.join(os.environ["TENURE_SLOTS"], "heavy"))
    try:
        ending = tenure(repo, "done", "--wait", "1s")
        assert ending.code == 75
        (line,) = [each for each in ending.out.splitlines() if each.startswith("  wait")]
        assert "lint  slot heavy is in use: suite of run 20ae356e6d91 in /trees/one" in line
        # The run can be cancelled while it waits, and has nothing then.
        assert tenure(repo, "cancel").code == 0
    finally:
        give_back(taken)
    assert tenure(repo, "done").code == 0


def test_the_board_shows_for_whom_a_job_waits_and_since_when():
    def waiting(holder, wall_ns):
        return JobWaiting(
            requirement="suite",
            wanted="hold db",
            places=1,
            holders=(holder,),
            runs=("20ae356e6d91",),
            wall_ns=wall_ns,
        )

    board = Board()
    board.take(waiting("one", 5))
    board.take(waiting("two", 9))
    (task,) = board.of_state("waiting")
    assert (task.name, task.waits_for, task.since_wall_ns) == ("suite", "hold db: two", 5)
    board.take(JobBegan(requirement="suite", wall_ns=11))
    (task,) = board.of_state("running")
    assert task.since_wall_ns == 11


def test_a_flaky_pass_is_told_while_it_runs_and_whenever_its_proof_is(tmp_path):
    second = f"[ -e {tmp_path}/tried ] || {{ touch {tmp_path}/tried; exit 7; }}"
    repo = gated(tmp_path / "repo", job("suite", second, retries=1))
    ending = tenure(repo, "done")
    assert "  again   suite  failed in " in ending.out
    assert "it exited with 7; try 2 of 2" in ending.out
    assert "flaky: it passed at try 2" in ending.out
    (told,) = [line for line in ending.out.splitlines() if line.startswith("met: ")]
    assert "; flaky: suite)" in told
    assert tenure(repo, "done").out == f"{told}\n", "the shortcut says the same"
    (evidence,) = tenure(repo, "done", "--json").object["proof"]["evidence"]
    assert evidence["flaky"] is True
