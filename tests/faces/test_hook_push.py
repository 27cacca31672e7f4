"""Nothing is pushed that is not proven: by `done` where it is checked out, by the store elsewhere."""

import os
import pty

import pytest

from tests.faces.calls import FAIL, HOLD, gated, job, tenure
from tests.faces.contracts import hook
from tests.gate.repos import commit, git, make_repo, worktree, write
from tests.waiting import until

NONE = "0" * 40

#: Passes or fails as the commit says.
GOOD = job("lint", "grep -q good a.txt")


def push(repo, *refs, **how):
    """What the hook says to a push of these local refs; nothing but git reads standard output."""
    lines = [f"{ref} {git(repo, 'rev-parse', ref)} {ref} {NONE}\n" for ref in refs]
    return push_lines(repo, "".join(lines), **how)


def push_lines(repo, lines, *options, **how):
    """The same for lines as they are."""
    options = ("pre-push", "origin", "file:///elsewhere", *options)
    ending = hook(repo, *options, given=lines.encode(), **how)
    assert ending.out == "", "git keeps standard output for itself"
    return ending


@pytest.fixture
def repo(tmp_path):
    """A proven trunk, and a branch `topic` that is checked out nowhere."""
    repo = gated(tmp_path / "repo", GOOD, {"a.txt": "good\n"})
    git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, {"b.txt": "more\n"})
    git(repo, "checkout", "-q", "main")
    assert tenure(repo, "done").code == 0
    return repo


def test_what_is_checked_out_is_proven_on_the_way(tmp_path):
    repo = gated(tmp_path / "repo")
    first = push(repo, "refs/heads/main")
    assert (first.code, "met: " in first.err) == (0, True), first
    again = push(repo, "refs/heads/main")
    assert (again.code, again.err.count("\n")) == (0, 1)
    assert again.err.startswith("met: "), again
    assert len(tenure(repo, "runs", "--json").object["runs"]) == 1


def test_git_keeps_standard_output_where_it_is_a_terminal_too(tmp_path):
    repo = gated(tmp_path / "repo")
    lines = f"refs/heads/main {git(repo, 'rev-parse', 'main')} refs/heads/main {NONE}\n"
    leader, terminal = pty.openpty()
    try:
        env = {"TERM": "xterm-256color"}
        ending = hook(repo, "pre-push", given=lines.encode(), stdout=terminal, env=env)
        assert (ending.code, "met: " in ending.err) == (0, True)
        os.set_blocking(leader, False)
        with pytest.raises(BlockingIOError):
            os.read(leader, 1)
    finally:
        os.close(leader)
        os.close(terminal)


def test_what_fails_is_not_pushed(tmp_path):
    ending = push(gated(tmp_path / "repo", FAIL), "refs/heads/main")
    assert ending.code == 1
    assert "lint: it exited with 1" in ending.err


def test_what_runs_is_not_pushed_yet(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    lines = f"refs/heads/main {git(repo, 'rev-parse', 'main')} refs/heads/main {NONE}\n"
    ending = push_lines(repo, lines, "--wait", "1ms")
    assert ending.code == 75
    assert "`tenure follow " in ending.err
    until((repo / "out" / "began").exists, "the job runs")
    (repo / "out" / "go").touch()
    assert push(repo, "refs/heads/main").code == 0


def test_a_fault_of_our_own_pushes_nothing(tmp_path):
    ending = push(gated(tmp_path / "repo"), "refs/heads/main", faults="inquiry.launch=raise")
    assert ending.code == 70
    assert "a fault in tenure itself" in ending.err


def test_where_nothing_has_to_be_proven_everything_goes(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n"})
    git(repo, "branch", "topic")
    git(repo, "tag", "file", "HEAD:a.txt")
    write(repo, {"a.txt": "edited\n"})
    ending = push(repo, "refs/heads/main", "refs/heads/topic", "refs/tags/file")
    assert (ending.code, ending.err) == (0, "")


def test_deletions_and_nothing_at_all_go(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    assert push_lines(repo, "").code == 0
    old = git(repo, "rev-parse", "main")
    assert push_lines(repo, f"(delete) {NONE} refs/heads/old {old}\n").code == 0
    mixed = f"(delete) {NONE} refs/heads/old {old}\nrefs/heads/main {old} refs/heads/main {NONE}\n"
    assert push_lines(repo, mixed).code == 1, "the deletion hides nothing"


def test_lines_that_are_not_gits_are_refused(tmp_path):
    repo = gated(tmp_path / "repo")
    for lines in ("refs/heads/main\n", "a b c d\n", f"x {'0' * 39} y {NONE}\n"):
        ending = push_lines(repo, lines)
        assert ending.code == 2
        assert "pre-push gets lines of two refs and two objects" in ending.err


def test_a_proven_commit_goes_whatever_the_working_tree_is(repo):
    write(repo, {"a.txt": "edited\n"})
    ending = push(repo, "refs/heads/main")
    assert ending.code == 0
    assert "what is not committed is not pushed" in ending.err
    commit(repo, {"a.txt": "good again\n"})
    write(repo, {"a.txt": "edited\n"})
    ending = push(repo, "refs/heads/main")
    assert ending.code == 3
    assert "a.txt (modified)" in ending.err


def test_what_is_not_checked_out_needs_a_proof_and_is_told_how(repo, tmp_path):
    ending = push(repo, "refs/heads/main", "refs/heads/topic")
    short = git(repo, "rev-parse", "topic")[:12]
    assert ending.code == 1
    command = f"git worktree add --detach ../{short} {short} && tenure -C ../{short} done"
    assert f"topic: {short} is not checked out here" in ending.err
    assert f"`{command}`" in ending.err
    git(repo, "worktree", "add", "--detach", f"../{short}", short)
    assert tenure(repo, "-C", f"../{short}", "done").code == 0
    assert push(repo, "refs/heads/main", "refs/heads/topic").code == 0


def test_a_tag_is_its_commit(repo):
    git(repo, "tag", "-a", "-m", "One", "v1")
    assert push(repo, "refs/tags/v1").code == 0
    git(repo, "tag", "-a", "-m", "Two", "v2", "topic")
    assert push(repo, "refs/tags/v1", "refs/tags/v2").code == 1
    git(repo, "tag", "file", "HEAD:a.txt")
    ending = push(repo, "refs/tags/file")
    assert ending.code == 1
    assert "it names no commit" in ending.err


def test_a_proof_by_another_policy_does_not_count(repo, tmp_path):
    side = worktree(repo, tmp_path / "side", start="topic")
    assert tenure(side, "done").code == 0
    assert push(repo, "refs/heads/topic").code == 0
    stricter = commit(repo, {"tenure.toml": GOOD + job("other", "true")})
    git(repo, "checkout", "-q", "--detach")
    git(repo, "branch", "-f", "main", "main~1")
    commit(side, {"tenure.toml": GOOD + job("other", "true")})
    assert tenure(side, "done").code == 0
    git(side, "branch", "-f", "topic")
    assert push(repo, "refs/heads/topic").code == 0, "it tightens the policy of its base"
    git(repo, "branch", "-f", "main", stricter)
    git(repo, "branch", "-f", "topic", "topic~1")
    assert push(repo, "refs/heads/topic").code == 0, "the base is the same"
    git(side, "rebase", "-q", "--onto", stricter, "topic~1", "topic")
    assert push(repo, "refs/heads/topic").code == 1


def test_a_proof_that_accepted_a_change_counts_for_whoever_accepts_it_again(repo, tmp_path):
    side = worktree(repo, tmp_path / "side", start="topic")
    commit(side, {"tenure.toml": job("other", "true")})
    git(side, "branch", "-f", "topic")
    assert tenure(side, "done", "--accept-policy-change", "lint").code == 0
    assert push(repo, "refs/heads/topic").code == 1


def test_a_policy_that_is_taken_away_still_judges(repo, tmp_path):
    side = worktree(repo, tmp_path / "side", start="topic")
    commit(side, remove=["tenure.toml"])
    git(side, "branch", "-f", "topic")
    assert push(repo, "refs/heads/topic").code == 1
    assert push(side, "HEAD").code == 2
