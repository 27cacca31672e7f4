"""The shortcut answers where the long way would find the same Proof, and nowhere else."""

import json
import os
from pathlib import Path

import pytest

from tenure.gate.candidate import Judging
from tenure.gate.shortcut import answer
from tenure.gate.situation import Question
from tenure.testing.faults import Faults
from tests.faces.calls import PASS, gated, job
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit, git, worktree


def proven(top: Path) -> Rehearsal:
    """A checkout that has just been proven, and whose shortcut is known to work."""
    rehearsal = Rehearsal(top)
    assert rehearsal.conduct().outcome == "passed"
    assert answers(top)
    return rehearsal


def answers(top: Path) -> bool:
    """Whether the shortcut answers that this checkout is met."""
    found = answer(lambda: str(top), str, json=True)
    if found is None or isinstance(found, int):
        return found == 0
    found.discard()
    return False


def test_it_says_what_the_long_way_says(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rehearsal = proven(gated(tmp_path / "repo", PASS))
    said = json.loads(capfd.readouterr().out)
    assert (said["ok"], said["exit_code"], said["outcome"]) == (True, 0, "met")
    assert said["tree"] == git(rehearsal.top, "rev-parse", "HEAD^{tree}")
    assert said["proof"]["run"] == rehearsal.run


def test_another_worktree_at_the_same_commit_is_answered_too(tmp_path: Path) -> None:
    top = gated(tmp_path / "repo", PASS)
    proven(top)
    assert answers(worktree(top, tmp_path / "side", "side"))


@pytest.mark.parametrize("dirt", ["modified", "untracked", "staged"])
def test_a_dirty_tree_is_not_answered(tmp_path: Path, dirt: str) -> None:
    top = proven(gated(tmp_path / "repo", PASS)).top
    if dirt == "untracked":
        (top / "new.txt").touch()
    else:
        (top / "a.txt").write_text("edited\n")
    if dirt == "staged":
        git(top, "add", "a.txt")
    assert not answers(top)


def test_another_commit_is_not_answered(tmp_path: Path) -> None:
    top = proven(gated(tmp_path / "repo", PASS)).top
    commit(top, {"a.txt": "another\n"})
    assert not answers(top)


def test_a_proof_that_a_newer_failure_voids_is_not_answered(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    rehearsal = proven(gated(tmp_path / "repo", job("test", f"[ ! -e {broken} ]")))
    broken.touch()
    assert rehearsal.conduct(Question(rerun=True)).outcome == "failed"
    assert not answers(rehearsal.top)
    broken.unlink()
    assert rehearsal.conduct(Question(rerun=True)).outcome == "passed"
    assert answers(rehearsal.top)


@pytest.mark.parametrize("again", [False, True])
def test_a_proof_that_rests_on_a_dropped_receipt_is_not_answered(
    tmp_path: Path, again: bool
) -> None:
    rehearsal = proven(gated(tmp_path / "repo", PASS))
    store = rehearsal.open_store()
    store.drop(rehearsal.receipts()["lint"].id, "wrong")
    store.close()
    if again:  # the job passes anew, and another Proof rests on that
        with Faults() as faults:
            faults.at("run.closing", rehearsal.retire)
            assert rehearsal.conduct().outcome == "cancelled"
        assert rehearsal.receipts()["lint"].passed
    assert not answers(rehearsal.top)
    assert rehearsal.conduct().outcome == "passed"
    assert answers(rehearsal.top)


@pytest.mark.parametrize("change", ["front", "value", "empty", "unset"])
def test_another_environment_is_not_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setenv("SERVICE", "one")
    top = proven(gated(tmp_path / "repo", job("test", "true", env=["SERVICE"]))).top
    if change == "front":
        monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    elif change == "value":
        monkeypatch.setenv("SERVICE", "two")
    elif change == "empty":
        monkeypatch.setenv("SERVICE", "")
    else:
        monkeypatch.delenv("SERVICE")
    assert not answers(top)


def test_another_program_of_the_same_name_is_not_answered(tmp_path: Path) -> None:
    linter = tmp_path / "linter"
    linter.write_text("#!/bin/sh\n")
    linter.chmod(0o755)
    top = proven(gated(tmp_path / "repo", f'[jobs.lint]\nrun = "{linter}"\n')).top
    linter.write_text("#!/bin/sh\nexit 0\n")
    assert not answers(top)


def test_a_policy_that_moved_on_with_the_trunk_is_not_answered(tmp_path: Path) -> None:
    """The base has no policy, so the trunk's tip judges; and the trunk moved on."""
    top = gated(tmp_path / "repo", PASS)
    git(top, "rm", "-q", "--cached", "tenure.toml")
    git(top, "commit", "-q", "--amend", "-m", "No policy yet")
    bare = git(top, "rev-parse", "HEAD")
    commit(top, {"tenure.toml": PASS})
    side = worktree(top, tmp_path / "side", "side", start=bare)
    commit(side, {"tenure.toml": PASS, "b.txt": "b\n"})
    assert proven(side).read().candidate.judging is Judging.TIP
    commit(top, {"tenure.toml": PASS + job("more", "false")})
    assert not answers(side)


def test_the_same_tree_on_another_base_is_not_answered(tmp_path: Path) -> None:
    """A changed policy was judged by the old one; from now on it judges."""
    top = gated(tmp_path / "repo", PASS)
    commit(top, {"tenure.toml": PASS + job("more", "true")})
    proven(top)
    commit(top)
    assert not answers(top)


def test_a_trunk_that_is_another_one_now_is_not_answered(tmp_path: Path) -> None:
    top = proven(gated(tmp_path / "repo", PASS)).top
    git(top, "config", "some.setting", "new")
    assert not answers(top)


def test_somewhere_else_it_has_nothing_to_say(tmp_path: Path) -> None:
    assert answer(lambda: str(tmp_path), str, json=False) is None
    top = gated(tmp_path / "repo", PASS)
    assert answer(lambda: str(top), str, json=False) is None
