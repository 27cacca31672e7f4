"""Which ref is the trunk."""

import os
import shlex
import subprocess

import pytest

from tenure.gate.errors import RepositoryError
from tenure.gate.trunk import Trunk, proposed_trunk, resolve_trunk
from tenure.gate.worktree import start_read
from tests.gate.repos import clone, commit, git, make_repo, worktree


def trunk(top, *, configured=None, pinned=None) -> Trunk:
    return resolve_trunk(start_read(str(top)).finish().repo, configured=configured, pinned=pinned)


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "repo", {"a": "1"})


@pytest.fixture
def cloned(repo, tmp_path):
    git(repo, "branch", "develop")
    return clone(repo, tmp_path / "clone")


def test_the_default_branch_of_the_remote(cloned):
    found = trunk(cloned, configured="develop", pinned="develop")
    assert found.ref == "refs/remotes/origin/HEAD"
    assert found.local_name is None


def test_in_a_linked_worktree_too(cloned, tmp_path):
    assert trunk(worktree(cloned, tmp_path / "w", "x")).ref == "refs/remotes/origin/HEAD"


def test_the_default_branch_moves_with_the_remote(cloned):
    git(cloned, "remote", "set-head", "origin", "develop")
    develop = git(cloned, "rev-parse", "origin/develop")
    snapshot = start_read(str(cloned), trunk(cloned).ref).finish()
    assert snapshot.trunk_tip == develop


@pytest.mark.parametrize(
    ("pinned", "configured", "ref"),
    [
        (None, None, "refs/remotes/origin/main"),
        (None, "develop", "refs/remotes/origin/develop"),
        ("develop", "main", "refs/remotes/origin/develop"),
        ("gone", None, "refs/remotes/origin/main"),
    ],
)
def test_an_unknown_default_branch_of_the_remote(cloned, pinned, configured, ref):
    git(cloned, "remote", "set-head", "origin", "--delete")
    assert trunk(cloned, pinned=pinned, configured=configured).ref == ref


def test_a_default_branch_that_is_gone_is_unknown(cloned):
    git(cloned, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/deleted")
    assert trunk(cloned).ref == "refs/remotes/origin/main"


def test_a_remote_that_was_never_fetched_does_not_free_a_branch_from_the_local_trunk(repo):
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    git(repo, "checkout", "-q", "-b", "feature")
    assert trunk(repo).ref == "refs/heads/main"


def test_the_only_remote_under_another_name(cloned):
    git(cloned, "remote", "rename", "origin", "team/upstream")
    git(cloned, "remote", "set-head", "team/upstream", "main")
    assert trunk(cloned).ref == "refs/remotes/team/upstream/HEAD"


def test_origin_among_several(cloned):
    git(cloned, "remote", "add", "another", "https://example.invalid/x.git")
    assert trunk(cloned).ref == "refs/remotes/origin/HEAD"


def test_several_without_origin_are_an_error_that_says_how_to_choose(cloned):
    git(cloned, "remote", "rename", "origin", "upstream")
    git(cloned, "remote", "add", "fork", "https://example.invalid/x.git")
    with pytest.raises(RepositoryError, match=r"\(fork, upstream\).*checkout\.defaultRemote"):
        trunk(cloned)
    git(cloned, "config", "checkout.defaultRemote", "upstream")
    assert trunk(cloned).ref == "refs/remotes/upstream/HEAD"


@pytest.mark.parametrize(
    ("branches", "pinned", "configured", "ref"),
    [
        (["main", "master", "develop", "old"], "old", "develop", "refs/heads/old"),
        (["main", "master", "develop"], None, "develop", "refs/heads/develop"),
        (["main", "master"], None, None, "refs/heads/main"),
        (["master"], None, None, "refs/heads/master"),
        ([], None, None, "refs/heads/feature"),
    ],
)
def test_without_a_remote(tmp_path, branches, pinned, configured, ref):
    repo = make_repo(tmp_path / "r", {"a": "1"}, branch="feature")
    for branch in branches:
        git(repo, "branch", branch)
    found = trunk(repo, pinned=pinned, configured=configured)
    assert found.ref == ref
    assert found.local_name == ref.removeprefix("refs/heads/")


@pytest.mark.parametrize("branches", [[], ["master"]])
def test_a_pinned_trunk_that_is_gone_is_an_error_and_no_other_branch(tmp_path, branches):
    repo = make_repo(tmp_path / "r", {"a": "1"}, branch="feature")
    for branch in branches:
        git(repo, "branch", branch)
    with pytest.raises(RepositoryError, match=r"was gone, .* make the branch gone again"):
        trunk(repo, pinned="gone", configured="feature")


def test_a_remote_whose_trunk_was_not_fetched_is_an_error(repo, tmp_path):
    git(repo, "branch", "feature")
    single = clone(repo, tmp_path / "single", "--single-branch", "-b", "feature")
    with pytest.raises(RepositoryError, match=r"trunk of origin is not known here"):
        trunk(single)


def test_a_remote_that_was_never_fetched_leaves_the_local_branches(repo):
    git(repo, "remote", "add", "origin", "https://example.invalid/x.git")
    assert trunk(repo).ref == "refs/heads/main"


def test_nothing_at_all(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"}, branch="feature")
    git(repo, "checkout", "-q", "--detach")
    found = trunk(repo)
    assert (found.ref, found.local_name) == (None, None)
    assert "detached" in found.reason


def test_a_name_that_begins_like_another_is_another(repo):
    git(repo, "branch", "-m", "main", "main/sub")
    git(repo, "branch", "mainline")
    assert trunk(repo, configured="main").ref == "refs/heads/main/sub"  # the one checked out
    git(repo, "checkout", "-q", "--detach")
    assert trunk(repo, configured="main").ref is None


def test_what_decided_is_named_so_that_it_can_be_watched(cloned, repo):
    watched = trunk(cloned).watched
    assert watched == (f"{cloned}/.git/config", f"{cloned}/.git/refs/remotes/origin/HEAD")
    assert all(os.path.exists(path) for path in watched)
    assert trunk(repo).watched == (f"{repo}/.git/config",)


def test_the_trunk_of_a_clone_judges_what_was_not_pushed(cloned):
    pushed = git(cloned, "rev-parse", "HEAD")
    commit(cloned, {"a": "2"})
    commit(cloned, {"a": "3"})
    snapshot = start_read(str(cloned), trunk(cloned).ref).finish()
    assert snapshot.base == pushed


# ── What a first policy names ────────────────────────────────────────────────────────────


def proposed(top) -> tuple[str, str]:
    snapshot = start_read(str(top)).finish()
    return proposed_trunk(snapshot.repo, snapshot.branch)


GUESS = "the branch that is checked out: is it the one that others merge into?"


def test_a_policy_that_is_proposed_on_a_branch_names_the_trunk(repo):
    git(repo, "checkout", "-q", "-b", "feature")
    assert proposed(repo) == ("main", "")
    git(repo, "branch", "-m", "main", "master")
    assert proposed(repo) == ("master", "")
    git(repo, "checkout", "-q", "--detach")
    assert proposed(repo) == ("master", "")


def test_it_names_the_default_branch_of_the_remote(cloned):
    git(cloned, "remote", "set-head", "origin", "develop")
    git(cloned, "checkout", "-q", "-b", "feature")
    assert proposed(cloned) == ("develop", "")
    git(cloned, "remote", "set-head", "origin", "--delete")
    assert proposed(cloned) == ("main", ""), "main of the remote"


def test_it_names_the_branch_that_is_checked_out_only_where_there_is_no_other(repo, tmp_path):
    git(repo, "branch", "feature")
    alone = clone(repo, tmp_path / "alone", "--single-branch", "-b", "feature")
    assert proposed(alone) == ("feature", GUESS)
    git(alone, "branch", "master")
    assert proposed(alone) == ("master", "")
    git(repo, "checkout", "-q", "feature")
    git(repo, "branch", "-D", "main")
    assert proposed(repo) == ("feature", GUESS)
    git(repo, "checkout", "-q", "--detach")
    git(repo, "branch", "-D", "feature")
    assert proposed(repo)[0] == "main"


# ── A clone that knows one branch ────────────────────────────────────────────────────────


def test_what_is_said_to_do_where_only_a_branch_was_fetched_makes_the_trunk_known(repo, tmp_path):
    git(repo, "branch", "feature")
    git(repo, "branch", "-m", "main", "develop")
    alone = clone(repo, tmp_path / "alone", "--depth", "1", "-b", "feature")
    with pytest.raises(RepositoryError) as raised:
        trunk(alone)
    for command in str(raised.value).split("`")[1::2]:
        subprocess.run(shlex.split(command), check=True, cwd=alone, capture_output=True)
    assert trunk(alone).ref == "refs/remotes/origin/HEAD"
    assert git(alone, "symbolic-ref", "refs/remotes/origin/HEAD").endswith("/develop")
