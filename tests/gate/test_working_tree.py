"""The tree of files as they are is the tree that git makes of them, and nothing of git's is touched."""

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenure.gate.errors import CannotTell, GateError, RepositoryError
from tenure.gate.working_tree import read_working_tree
from tenure.gate.worktree import WorkingTree, start_read
from tests.gate.repos import commit, git, make_repo, submodule, worktree, write


def read(top: Path) -> WorkingTree:
    return read_working_tree(start_read(str(top)).finish())


def as_git_has_it(top: Path) -> tuple[str, list[str]]:
    """The tree and its entries that git makes of everything in a copy of the checkout."""
    copy = top.parent / "copy"
    shutil.copytree(top, copy, symlinks=True)
    git(copy, "add", "-A")
    tree = git(copy, "write-tree")
    return tree, git(copy, "ls-tree", "-r", "-z", "--full-tree", tree).split("\0")[:-1]


def entries(found: WorkingTree) -> list[str]:
    kinds = {"160000": "commit"}
    return [
        f"{mode} {kinds.get(mode, 'blob')} {oid}\t{os.fsdecode(path)}"
        for mode, oid, path in found.entries
    ]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return make_repo(
        tmp_path / "repo",
        {"a.txt": "1\n", "d/b.txt": "2\n", "d.c": "3\n", ".gitignore": "*.log\n"},
    )


def edit(top: Path) -> None:
    write(top, {"a.txt": "other\n", "new/deep/file": "n"}, executable=["d/b.txt"])
    (top / "d.c").unlink()
    (top / "link").symlink_to("nowhere")


def ignored(top: Path) -> None:
    write(top, {"x.log": "no part of it", "d/y.log": "nor this"})


def tracked_though_ignored(top: Path) -> None:
    write(top, {"kept.log": "1"})
    git(top, "add", "-f", "kept.log")
    write(top, {"kept.log": "2"})


def no_longer_tracked(top: Path) -> None:
    write(top, {".gitignore": "*.log\na.txt\n"})
    git(top, "rm", "-q", "--cached", "a.txt")


def staged_and_edited_again(top: Path) -> None:
    write(top, {"a.txt": "staged\n", "b": "staged"})
    git(top, "add", "a.txt", "b")
    write(top, {"a.txt": "edited\n"})
    (top / "b").unlink()


def promised(top: Path) -> None:
    write(top, {"p": "1"})
    git(top, "add", "-N", "p")


def conflicting(top: Path) -> None:
    git(top, "checkout", "-q", "-b", "side")
    commit(top, {"a.txt": "side\n"})
    git(top, "checkout", "-q", "main")
    commit(top, {"a.txt": "main\n"})
    git(top, "merge", "-q", "side", check=False)
    assert "<<<<" in (top / "a.txt").read_text()


def a_folder_for_a_file(top: Path) -> None:
    (top / "a.txt").unlink()
    write(top, {"a.txt/inner": "1"})


def odd_names(top: Path) -> None:
    write(top, {b"\xff\n": "3", '"quoted" name': "4", " ": "5"})


def line_endings(top: Path) -> None:
    git(top, "config", "core.autocrlf", "true")
    write(top, {"a.txt": "1\r\n", "n.txt": "new\r\n", "d/b.txt": "2\r\nmore\r\n"})


def a_filter(top: Path) -> None:
    git(top, "config", "filter.shout.clean", "tr a-z A-Z")
    write(top, {".gitattributes": "*.up filter=shout\n", "x.up": "quiet\n"})


def without_an_index(top: Path) -> None:
    (top / ".git" / "index").unlink()


def split(top: Path) -> None:
    git(top, "config", "core.splitIndex", "true")
    git(top, "update-index", "--split-index")
    write(top, {"a.txt": "other\n"})


@pytest.mark.parametrize(
    "change",
    [
        lambda top: None,
        edit,
        ignored,
        tracked_though_ignored,
        no_longer_tracked,
        staged_and_edited_again,
        promised,
        conflicting,
        a_folder_for_a_file,
        odd_names,
        line_endings,
        a_filter,
        without_an_index,
        split,
    ],
)
def test_it_is_what_git_would_commit(repo: Path, change: Callable[[Path], None]) -> None:
    change(repo)
    found = read(repo)
    assert (found.tree, entries(found)) == as_git_has_it(repo)


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_git_was_told_not_to_look_at_is_read(repo: Path, mark: str) -> None:
    git(repo, "update-index", mark, "a.txt")
    write(repo, {"a.txt": "hidden\n"})
    found = read(repo)
    git(repo, "update-index", mark.replace("--", "--no-"), "a.txt")
    assert found.tree == as_git_has_it(repo)[0]


def test_a_deleted_file_git_was_told_not_to_look_at_is_missed(repo: Path) -> None:
    git(repo, "update-index", "--assume-unchanged", "a.txt")
    (repo / "a.txt").unlink()
    assert b"a.txt" not in [path for _, _, path in read(repo).entries]


def test_an_edit_within_the_second_whose_time_was_set_back_is_found(repo: Path) -> None:
    os.utime(repo / "a.txt", (1_000_000_000, 1_000_000_000))
    git(repo, "update-index", "--refresh")
    write(repo, {"a.txt": "2\n"})
    os.utime(repo / "a.txt", (1_000_000_000, 1_000_000_000))
    found = read(repo)  # whether git itself notices depends on the second it is
    os.utime(repo / "a.txt")
    assert found.tree == as_git_has_it(repo)[0]


def test_the_policy_files_come_as_git_would_keep_them(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "input")
    write(repo, {"tenure.toml": "x = 1\r\n"})
    assert read(repo).policies == {"tenure.toml": b"x = 1\n", "pyproject.toml": None}


def test_it_is_the_same_in_a_linked_worktree_and_under_an_odd_name(repo: Path) -> None:
    side = worktree(repo, repo.parent / 'a "b"\n\\c', "side")
    edit(repo)
    edit(side)
    assert read(side).tree == read(repo).tree


def test_objects_that_lie_in_an_alternate_are_found(repo: Path) -> None:
    borrower = repo.parent / "borrower"
    git(repo.parent, "clone", "-q", "--shared", str(repo), str(borrower))
    edit(repo)
    edit(borrower)
    assert read(borrower).tree == read(repo).tree


# ── What no tree would show ──────────────────────────────────────────────────────────────


def refused(top: Path, kind: type[GateError], words: str) -> None:
    with pytest.raises(kind, match=words):
        read(top)


def test_a_submodule_counts_as_its_commit_and_has_to_be_one(repo: Path, tmp_path: Path) -> None:
    make_repo(tmp_path / "lib", {"l.py": "1"})
    inner = submodule(repo, tmp_path / "lib", "lib")
    new = commit(inner, {"l.py": "2"})
    assert ("160000", new, b"lib") in read(repo).entries
    write(inner, {"l.py": "3"})
    refused(repo, CannotTell, "changes inside of submodules.*lib")
    commit(inner)
    write(inner, {"new.py": ""})
    refused(repo, CannotTell, "changes inside of submodules.*lib")


def test_a_repository_that_is_no_submodule_is_refused_by_name(repo: Path) -> None:
    make_repo(repo / "vendor" / "other", {"x": "1"})
    refused(repo, RepositoryError, "vendor/other.*\n?.*/vendor/other/ in .gitignore")
    write(repo, {".gitignore": "/vendor/other/\n"})
    assert not [path for _, _, path in read(repo).entries if path.startswith(b"vendor")]


def test_a_sparse_checkout_is_refused(repo: Path) -> None:
    git(repo, "sparse-checkout", "set", "--no-cone", "/a.txt")
    refused(repo, RepositoryError, "sparse checkout, 3 files")


def test_a_filter_that_fails_is_told_in_its_words(repo: Path) -> None:
    git(repo, "config", "filter.broken.clean", "false")
    git(repo, "config", "filter.broken.required", "true")
    write(repo, {".gitattributes": "*.up filter=broken\n", "x.up": "quiet\n"})
    refused(repo, RepositoryError, "clean filter 'broken' failed")


# ── What is left alone ───────────────────────────────────────────────────────────────────


def everything(top: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file below `top`: its mode, when it was last changed in any way, and its content.

    Git notes on an object that it was seen again; nothing else of an object may change.
    """
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = Path(folder, name)
            seen = path.lstat()
            changed = 0 if "/.git/objects/" in str(path) else seen.st_ctime_ns
            content = b"" if stat.S_ISLNK(seen.st_mode) else path.read_bytes()
            found[str(path)] = (seen.st_mode, changed, content)
    return found


def test_index_objects_refs_hooks_and_files_are_left_as_they_are(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    edit(repo)
    write(repo, {"large.bin": os.urandom(1 << 16)})
    git(repo, "config", "core.bigFileThreshold", "1k")
    git(repo, "update-index", "--assume-unchanged", "d/b.txt")
    hook = repo / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    before = everything(repo)
    read(repo)
    assert everything(repo) == before
    assert not (tmp_path / "hooked").exists()
    assert os.listdir(scratch) == []


def test_an_index_that_somebody_else_has_locked_is_no_hindrance(repo: Path) -> None:
    (repo / ".git" / "index.lock").touch()
    edit(repo)
    read(repo)
    assert (repo / ".git" / "index.lock").exists()


def test_many_files_take_no_process_each(repo: Path) -> None:
    started: list[object] = []
    spawn = os.posix_spawnp

    def counted(*how: Any, **more: Any) -> int:
        started.append(how[1])
        return spawn(*how, **more)

    write(repo, {f"many/{n}": str(n) for n in range(300)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "posix_spawnp", counted)
        read(repo)
    assert len(started) <= 8
