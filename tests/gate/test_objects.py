"""Trees, blobs, ignored paths and worktrees, as git has them."""

import os

import pytest

from tenure.gate.errors import RepositoryError
from tenure.gate.objects import check_ignored, read_blobs, tree_entries, worktrees
from tenure.gate.worktree import Repository, start_read
from tests.gate.repos import clone, commit, git, make_repo, submodule, worktree, write

EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
ONE = "56a6051ca2b02b04ef92d5150c9ef600403cb1de"  # of the single byte 1


def repository(top) -> Repository:
    return start_read(str(top)).finish().repo


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "repo", {"a": "1", "d/e": "", "run": "1"})


def test_every_entry_of_a_tree(repo):
    write(repo, {b"\xff\n\t": "1"})
    (repo / "link").symlink_to("a")
    (repo / "run").chmod(0o755)
    head = commit(repo)
    link = git(repo, "rev-parse", "HEAD:link")
    assert tree_entries(repository(repo), head) == [
        ("100644", ONE, b"a"),
        ("100644", EMPTY, b"d/e"),
        ("120000", link, b"link"),
        ("100755", ONE, b"run"),
        ("100644", ONE, b"\xff\n\t"),
    ]


def test_the_whole_tree_from_any_directory_and_of_any_commit(repo):
    first = git(repo, "rev-parse", "HEAD^{tree}")
    commit(repo, {"new": "1"}, remove=["a"])
    found = repository(repo / "d")
    assert [path for _, _, path in tree_entries(found, first)] == [b"a", b"d/e", b"run"]


def test_a_submodule_is_an_entry(repo, tmp_path):
    outer = make_repo(tmp_path / "outer", {"x": "1"})
    submodule(outer, repo, "lib")
    inside = git(repo, "rev-parse", "HEAD")
    assert ("160000", inside, b"lib") in tree_entries(repository(outer), "HEAD")


def test_a_tree_that_is_lost_is_an_error(repo):
    lost = git(repo, "rev-parse", "HEAD:d")
    (repo / ".git/objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(RepositoryError):
        tree_entries(repository(repo), "HEAD")


def test_blobs_of_several_commits_at_once(repo):
    first = git(repo, "rev-parse", "HEAD")
    second = commit(repo, {"a": "two\n\n\0\xff", "sp ace": "x"}, remove=["run"])
    assert read_blobs(
        repository(repo),
        [
            (first, "a"),
            (second, "a"),
            (second, "run"),
            (first, "run"),
            (second, "sp ace"),
            (first, "d/e"),
        ],
    ) == [b"1", "two\n\n\0\xff".encode(), None, b"1", b"x", b""]
    assert read_blobs(repository(repo), []) == []


def test_a_large_blob(repo):
    content = os.urandom(3_000_000)
    head = commit(repo, {"big": content})
    assert read_blobs(repository(repo), [(head, "big"), (head, "a")]) == [content, b"1"]


def test_a_blob_that_is_lost_is_an_error_and_never_an_absent_file(repo):
    (repo / ".git/objects" / ONE[:2] / ONE[2:]).unlink()
    with pytest.raises(RepositoryError, match=r"a of commit .* its content is missing"):
        read_blobs(repository(repo), [(git(repo, "rev-parse", "HEAD"), "a")])


def test_a_commit_that_is_lost_is_an_error(repo):
    with pytest.raises(RepositoryError):
        read_blobs(repository(repo), [("1" * 40, "a")])


def test_a_directory_where_a_file_was_expected_is_an_error(repo):
    with pytest.raises(RepositoryError, match="d is a tree in commit"):
        read_blobs(repository(repo), [(git(repo, "rev-parse", "HEAD"), "d")])


def test_what_is_ignored(repo):
    head = commit(repo, {".gitignore": "*.log\n/build/\n!keep.log\n", "tracked.log": "1"})
    git(repo, "add", "-f", "tracked.log")
    git(repo, "commit", "-qm", "x")
    write(repo, {".git/info/exclude": "local\n"})
    odd = b"\xff\n.log"
    asked = [b"x.log", odd, b"keep.log", b"build/", b"build/x", b"tracked.log", b"a", b"local"]
    assert head
    assert check_ignored(repository(repo), asked) == {
        b"x.log",
        odd,
        b"build/",
        b"build/x",
        b"local",
    }
    assert check_ignored(repository(repo), []) == set()
    assert check_ignored(repository(repo), [b"a"]) == set()


def test_a_path_outside_is_an_error(repo):
    with pytest.raises(RepositoryError):
        check_ignored(repository(repo), [b"../x"])


def test_every_worktree(repo, tmp_path):
    odd = worktree(repo, tmp_path / "line\nbreak", "x")
    other = worktree(repo, tmp_path / "other")
    everything = [str(repo), str(odd), str(other)]
    assert worktrees(repository(repo)) == everything
    assert worktrees(repository(other)) == everything


def test_a_bare_repository_is_no_worktree(repo, tmp_path):
    bare = clone(repo, tmp_path / "bare.git", "--bare")
    linked = worktree(bare, tmp_path / "linked", "x", start="main")
    assert worktrees(repository(linked)) == [str(linked)]


def test_a_git_without_nul_separated_worktrees(repo, tmp_path, monkeypatch):
    other = worktree(repo, tmp_path / "other")
    found = repository(repo)
    real = git(repo, "--exec-path")
    write(
        tmp_path,
        {
            "bin/git": f"""#!/bin/sh
case "$*" in *worktree*-z) exit 129 ;; esac
exec {real}/git "$@"
"""
        },
        executable=["bin/git"],
    )
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    assert worktrees(found) == [str(repo), str(other)]
