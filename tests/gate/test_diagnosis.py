"""Where nothing can be judged, the message says what is wrong and what to do about it."""

import os
import stat
from pathlib import Path

import pytest

from tenure.gate.diagnosis import listed, shown
from tenure.gate.errors import RepositoryError
from tenure.gate.worktree import start_read
from tests.gate.repos import clone, git, make_repo, worktree, write


def refusal(cwd: Path) -> str:
    with pytest.raises(RepositoryError) as caught:
        start_read(str(cwd), "refs/heads/main").finish()
    assert caught.value.exit_code == 3
    message = str(caught.value)
    assert "; " in message, "every refusal names a next step"
    return message


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "repo", {"a": "1"})


def test_no_repository(tmp_path):
    assert "is in no git repository; call from inside a checkout" in refusal(tmp_path)


def test_no_directory(tmp_path):
    assert "is not a directory" in refusal(tmp_path / "nothing")


def test_a_bare_repository(repo, tmp_path):
    bare = clone(repo, tmp_path / "bare.git", "--bare")
    message = refusal(bare)
    assert "bare repository, there is no working tree" in message
    assert "git worktree add" in message


def test_a_checkout_that_calls_itself_bare_is_told_which_file_says_so(repo):
    git(repo, "config", "core.bare", "true")
    message = refusal(repo)
    assert "takes the checkout at" in message
    assert ".git/config says core.bare=true" in message


def test_a_shared_bare_setting_is_told_apart(repo, tmp_path):
    linked = worktree(repo, tmp_path / "linked", "feature")
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "config", "core.bare", "true")
    message = refusal(linked)
    assert f"{repo}/.git/config says core.bare=true" in message
    assert "extensions.worktreeConfig makes every worktree share it" in message
    assert "git config --worktree core.bare false" in message


def test_following_that_advice_helps(repo, tmp_path):
    linked = worktree(repo, tmp_path / "linked", "feature")
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "config", "core.bare", "true")
    git(linked, "config", "--worktree", "core.bare", "false")
    assert start_read(str(linked), "refs/heads/main").finish().clean


def test_a_bare_main_repository_does_not_make_its_worktrees_bare(repo, tmp_path):
    linked = worktree(repo, tmp_path / "linked", "feature")
    git(repo, "config", "core.bare", "true")
    assert start_read(str(linked), "refs/heads/main").finish().repo.top == str(linked)


def test_no_commits(tmp_path):
    repo = make_repo(tmp_path / "repo", branch="topic/new")
    write(repo, {"a": "1"})
    assert "no commits yet on topic/new; commit something first" in refusal(repo)


@pytest.mark.parametrize("inside", [".git", ".git/refs", ".git/worktrees/linked"])
def test_inside_the_git_directory(repo, tmp_path, inside):
    worktree(repo, tmp_path / "linked", "feature")
    assert "inside a git directory" in refusal(repo / inside)


def test_a_worktree_whose_repository_moved_away(repo, tmp_path):
    linked = worktree(repo, tmp_path / "linked", "feature")
    repo.rename(tmp_path / "moved")
    message = refusal(linked)
    assert "lost its repository" in message
    assert "git worktree repair" in message


def test_somebody_elses_repository_is_refused_in_gits_own_words(repo, monkeypatch):
    monkeypatch.setitem(os.environ, "GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setattr(
        "tenure.gate.git._HARMLESS", frozenset({b"GIT_TEST_ASSUME_DIFFERENT_OWNER"})
    )
    message = refusal(repo)
    assert "dubious ownership" in message
    assert f"git config --global --add safe.directory {repo}" in message


def test_a_git_that_is_too_old_is_named(repo, tmp_path, monkeypatch):
    real = next(Path(p, "git") for p in os.environ["PATH"].split(":") if Path(p, "git").exists())
    old = tmp_path / "bin/git"
    write(
        tmp_path,
        {
            "bin/git": f"""#!/bin/sh
case "$*" in
    *version*) echo git version 2.30.2 ;;
    *rev-parse*) echo --path-format=absolute; exec {real} "$1" "$2" rev-parse HEAD ;;
    *) exec {real} "$@" ;;
esac
"""
        },
        executable=["bin/git"],
    )
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    message = refusal(repo)
    assert "git version 2.30.2, which cannot answer" in message
    assert "install git 2.31 or newer" in message


def test_an_unreadable_index(repo):
    (repo / ".git/index").write_bytes(b"garbage" * 10)
    message = refusal(repo)
    assert "git status failed: " in message
    assert "git fsck" in message


def test_a_lost_commit(repo):
    head = git(repo, "rev-parse", "HEAD")
    (repo / ".git/objects" / head[:2] / head[2:]).unlink()
    assert "git fsck" in refusal(repo)


def test_a_lost_tree(repo):
    tree = git(repo, "rev-parse", "HEAD^{tree}")
    (repo / ".git/objects" / tree[:2] / tree[2:]).unlink()
    assert "git fsck" in refusal(repo)


def test_a_lost_head(repo):
    (repo / ".git/HEAD").write_text("nonsense\n")
    refusal(repo)


def test_a_branch_that_does_not_parse_is_not_taken_for_no_commits(repo):
    (repo / ".git/refs/heads/main").write_text("nonsense\n")
    assert "no commits" not in refusal(repo)


def test_a_configuration_that_does_not_parse(repo):
    (repo / ".git/config").write_text("[core\n")
    assert "bad config" in refusal(repo)


def test_a_repository_of_a_format_to_come(repo):
    git(repo, "config", "core.repositoryFormatVersion", "99")
    assert "99" in refusal(repo)


def test_a_git_directory_nobody_may_read(repo):
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    (repo / ".git").chmod(0)
    try:
        refusal(repo)
    finally:
        (repo / ".git").chmod(stat.S_IRWXU)


def test_paths_are_shown_on_one_line_whatever_they_contain():
    assert shown(b"plain") == "plain"
    assert shown("übung".encode()) == "übung"
    assert shown(b"a\nb\x1b[31m\xff") == "a\\nb\\x1b[31m\\xff"


def test_long_lists_are_cut():
    assert listed([b"a", b"b"]) == "a, b"
    assert listed([b"%d" % i for i in range(12)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
