"""What others do in the same repository meanwhile: nobody is blocked, and nobody is mixed up."""

import os

import pytest

from tests.faces.calls import HOLD, ended, failures, gated, job, start, store, tenure
from tests.gate.repos import commit, git, worktree
from tests.waiting import until


def held(repo):
    """A call whose run waits in its job until `out/go` is there."""
    call = start(repo, "done", "--json")
    until((repo / "out" / "began").exists, "the job runs")
    return call


def released(repo, call):
    """The end of a held call."""
    (repo / "out" / "go").touch()
    return ended(call)


def test_an_index_lock_that_somebody_holds_is_not_waited_for(tmp_path):
    repo = gated(tmp_path / "repo")
    (repo / ".git" / "index.lock").touch()
    assert tenure(repo, "done").code == 0
    assert (repo / ".git" / "index.lock").exists()


def test_the_index_is_read_and_never_written(tmp_path):
    """Not even refreshed, which would take its lock away from somebody's commit."""
    repo = gated(tmp_path / "repo")
    (repo / "a.txt").touch()  # so that git would like to refresh it
    before = (repo / ".git" / "index").stat()
    for verb in ("done", "status", "doctor", "proof"):
        assert tenure(repo, verb).code == 0
    after = (repo / ".git" / "index").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_file_that_is_staged_during_a_run_is_no_part_of_what_it_proves(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    call = held(repo)
    (repo / "foreign.py").write_text("x\n")
    git(repo, "add", "foreign.py")
    ending = released(repo, call)
    assert (ending.code, ending.object["proof"]) == (3, None), ending
    assert "foreign.py" in str(ending.object["report"]["failures"])
    git(repo, "reset", "-q", "--hard")
    assert tenure(repo, "done", "--json").object["outcome"] == "met"


def test_an_edit_by_somebody_else_is_not_blamed_on_a_job(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    call = held(repo)
    (repo / "a.txt").write_text("an editor saved\n")
    ending = released(repo, call)
    assert ending.code == 3
    assert {kind for _, kind in failures(ending)} == {"inputs_moved"}
    assert (repo / "a.txt").read_text() == "an editor saved\n"


def test_a_commit_made_during_a_run_is_another_candidate(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    call = held(repo)
    commit(repo, {"b.txt": "b\n"})
    ending = released(repo, call)
    assert (ending.code, ending.object["proof"]) == (3, None)
    assert tenure(repo, "done", "--json").object["outcome"] == "met"


def test_a_run_in_one_repository_waits_for_none_in_another(tmp_path):
    slow = gated(tmp_path / "slow", job("lint", HOLD))
    call = held(slow)
    for number in range(3):
        assert tenure(gated(tmp_path / f"other-{number}"), "done").code == 0
    assert released(slow, call).code == 0


def test_a_run_in_one_worktree_waits_for_none_in_another(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    side = worktree(repo, tmp_path / "side", "side")
    commit(side, {"tenure.toml": job("lint", "true"), "b.txt": "b\n"})
    call = held(repo)
    ending = tenure(side, "done", "--json", "--accept-policy-change", "lint")
    assert ending.code == 0, ending
    assert released(repo, call).code == 0


def test_each_checkout_has_a_name_that_its_jobs_see(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "mkdir -p out; echo $TENURE_CHECKOUT > out/name"))
    side = worktree(repo, tmp_path / "side", "side")
    commit(side, {"b.txt": "b\n"})
    names = []
    for place in (repo, side, repo):
        assert tenure(place, "done", "--rerun").code == 0
        names.append((place / "out" / "name").read_text())
    assert names[0] == names[2] != names[1]


def test_a_monitor_of_the_file_system_that_never_answers_holds_nobody_up(tmp_path):
    repo = gated(tmp_path / "repo")
    hook = tmp_path / "monitor"
    hook.write_text("#!/bin/sh\nexec sleep 600\n")
    hook.chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(hook))
    assert tenure(repo, "done").code == 0


@pytest.mark.parametrize("filtering", ["false", "no-such-filter"])
def test_a_filter_that_fails_is_no_proof(tmp_path, filtering):
    """What the files mean is not known then."""
    repo = gated(tmp_path / "repo", files={".gitattributes": "*.bin filter=x\n", "a.bin": "x\n"})
    git(repo, "config", "filter.x.clean", filtering)
    git(repo, "config", "filter.x.required", "true")
    os.utime(repo / "a.bin", (1, 1))  # git has to look at its content
    ending = tenure(repo, "done")
    assert ending.code == 3, ending
    assert "a.bin" in ending.said or "filter" in ending.said


def test_a_filter_is_applied_as_git_would(tmp_path):
    """A pointer in the commit and its content in the tree are the same file."""
    repo = gated(tmp_path / "repo", job("test", "grep -q LARGE a.bin"))
    git(repo, "config", "filter.x.clean", "sed s/LARGE/pointer/")
    git(repo, "config", "filter.x.smudge", "sed s/pointer/LARGE/")
    commit(repo, {".gitattributes": "*.bin filter=x\n", "a.bin": "LARGE\n"})
    assert git(repo, "show", "HEAD:a.bin") == "pointer"
    assert tenure(repo, "done").code == 0


def test_a_scratch_directory_of_a_dead_worktree_is_no_obstacle(tmp_path):
    repo = gated(tmp_path / "repo")
    worktree(repo, tmp_path / "side", "side")
    os.rename(tmp_path / "side", tmp_path / "gone")
    assert tenure(repo, "done").code == 0
    assert (store(repo) / "tenure.db").exists()
