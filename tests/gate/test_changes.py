"""What a reading says differs from the commit, and how a dirty tree is refused."""

import os
from pathlib import Path

import pytest

from tenure.gate.errors import DirtyTree, RepositoryError
from tenure.gate.worktree import Snapshot, require_clean, start_read
from tests.gate.repos import commit, git, make_repo, submodule, write

MAIN = "refs/heads/main"


def read(cwd: Path, trunk: str | None = MAIN) -> Snapshot:
    return start_read(str(cwd), trunk).finish()


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "repo", {"a": "1", "sub/b": "2"})


# ── What differs ─────────────────────────────────────────────────────────────────────────


def test_every_kind_of_difference_is_named(repo):
    commit(repo, {"gone": "1", "typed": "1", "staged": "1", "moved": "1", ".gitignore": "*.log\n"})
    write(repo, {"a": "changed", "new": "1", "x.log": "1", "dir/deep/file": "1", "staged": "2"})
    (repo / "gone").unlink()
    (repo / "typed").unlink()
    (repo / "typed").symlink_to("a")
    git(repo, "add", "staged")
    git(repo, "mv", "moved", "renamed")
    (repo / "sub/b").chmod(0o755)
    assert set(read(repo).changes) == {
        ("modified", b"a"),
        ("untracked", b"new"),
        ("untracked", b"dir/"),
        ("deleted", b"gone"),
        ("type changed", b"typed"),
        ("modified", b"staged"),
        ("deleted", b"moved"),
        ("added", b"renamed"),
        ("modified", b"sub/b"),
    }


def test_an_intent_to_add_counts(repo):
    write(repo, {"later": "1"})
    git(repo, "add", "-N", "later")
    assert read(repo).changes == (("added", b"later"),)


def test_no_configuration_hides_untracked_files_or_adds_lines(repo):
    for key, value in {
        "status.showUntrackedFiles": "no",
        "status.showStash": "true",
        "status.branch": "true",
        "status.relativePaths": "true",
        "status.renames": "copies",
        "core.quotePath": "true",
        "diff.ignoreSubmodules": "all",
        "color.ui": "always",
    }.items():
        git(repo, "config", key, value)
    write(repo, {"a": "2"})
    git(repo, "stash", "-q")
    write(repo, {"ü\n": "1"})
    assert read(repo / "sub").changes == (("untracked", "ü\n".encode()),)


@pytest.mark.parametrize(
    "name", [b"\xff\xfe", b"a\nb", b"tab\there", b'"quoted"', b" lead", b"a -> b", b"back\\"]
)
def test_a_path_of_any_bytes_is_given_as_it_is(repo, name):
    commit(repo, {name: "1", b"dir-" + name + b"/x": "1"})
    assert read(repo).clean
    write(repo, {name: "2", b"dir-" + name + b"/y": "1"})
    assert set(read(repo).changes) == {
        ("modified", name),
        ("untracked", b"dir-" + name + b"/y"),
    }


def test_a_dirty_tree_is_refused_with_its_paths(repo):
    write(repo, {"a": "2", b"\xff\n": "1"})
    with pytest.raises(DirtyTree) as caught:
        require_clean(read(repo))
    assert caught.value.paths == ("a", "\\xff\\n")
    assert "a (modified), \\xff\\n (untracked)" in str(caught.value)
    assert "commit them" in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_long_list_is_cut_in_the_sentence_and_whole_in_the_data(repo):
    write(repo, {f"n{i:03}": "1" for i in range(200)})
    with pytest.raises(DirtyTree, match=r"n009 .untracked. and 190 more") as caught:
        require_clean(read(repo))
    assert len(caught.value.paths) == 200


def test_a_clean_tree_passes(repo):
    require_clean(read(repo))


def test_a_merge_in_conflict_is_dirty_and_says_so(repo):
    git(repo, "checkout", "-q", "-b", "feature")
    commit(repo, {"a": "theirs"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"a": "ours"})
    git(repo, "merge", "-q", "feature", check=False)
    snapshot = read(repo)
    assert snapshot.changes == (("unmerged", b"a"),)
    with pytest.raises(DirtyTree, match="resolve the conflicts"):
        require_clean(snapshot)


def test_a_rebase_that_stopped_is_named(repo):
    git(repo, "checkout", "-q", "-b", "feature")
    commit(repo, {"f": "1"})
    git(
        repo, "rebase", "-q", "--exec", "echo 2 > a; false", "main~0", "--force-rebase", check=False
    )
    assert (repo / ".git/rebase-merge").exists()
    with pytest.raises(DirtyTree, match="finish or abort the rebase"):
        require_clean(read(repo))


def test_in_the_middle_of_a_rebase_a_clean_commit_can_be_judged(repo):
    git(repo, "checkout", "-q", "-b", "feature")
    commit(repo, {"f": "1"})
    git(repo, "rebase", "-q", "--exec", "false", "main~0", "--force-rebase", check=False)
    assert (repo / ".git/rebase-merge").exists()
    require_clean(read(repo))


@pytest.mark.parametrize(
    ("break_it", "kind"),
    [
        (lambda inner: write(inner, {"a": "9"}), "submodule: modified content"),
        (lambda inner: write(inner, {"n": "1"}), "submodule: untracked content"),
        (lambda inner: commit(inner, {"a": "9"}), "submodule: new commits"),
    ],
)
@pytest.mark.parametrize("ignoring", [False, True])
def test_a_submodule_that_differs_is_named(repo, tmp_path, break_it, kind, ignoring):
    outer = make_repo(tmp_path / "outer", {"x": "1"})
    inner = submodule(outer, repo, "lib")
    if ignoring:
        git(outer, "config", "-f", ".gitmodules", "submodule.lib.ignore", "all")
        commit(outer)
        git(outer, "config", "submodule.lib.ignore", "all")
        git(outer, "config", "submodule.lib.active", "false")
        git(outer, "config", "diff.ignoreSubmodules", "all")
    assert read(outer).clean
    break_it(inner)
    snapshot = read(outer)
    assert snapshot.changes == ((kind, b"lib"),)
    with pytest.raises(DirtyTree, match=f"lib .{kind}"):
        require_clean(snapshot)


def test_paths_that_differ_by_case_only_are_an_error_of_their_own(repo):
    commit(repo, {"Case": "1", "case": "2"})
    git(repo, "config", "core.ignorecase", "true")
    (repo / "case").unlink()
    with pytest.raises(RepositoryError, match=r"differ by case only.*Case, case"):
        require_clean(read(repo))


# ── Filters ──────────────────────────────────────────────────────────────────────────────


def test_line_endings_that_git_converts_are_clean(repo):
    git(repo, "config", "core.autocrlf", "true")
    commit(repo, {"text": "one\ntwo\n"})
    (repo / "text").unlink()
    git(repo, "checkout", "text")
    assert (repo / "text").read_bytes() == b"one\r\ntwo\r\n"
    os.utime(repo / "text", (1, 1))
    assert read(repo).clean


def test_a_filtered_file_is_clean_if_its_filtered_content_is(repo):
    git(repo, "config", "filter.fake.clean", "tr a-z A-Z")
    git(repo, "config", "filter.fake.smudge", "tr A-Z a-z")
    commit(repo, {".gitattributes": "*.big filter=fake\n", "x.big": "hello"})
    assert git(repo, "cat-file", "-p", "HEAD:x.big") == "HELLO"
    os.utime(repo / "x.big", (1, 1))
    assert read(repo).clean
    write(repo, {"x.big": "hullo"})
    assert read(repo).changes == (("modified", b"x.big"),)


def test_a_filter_that_fails_is_not_clean(repo):
    git(repo, "config", "filter.fake.clean", "cat")
    git(repo, "config", "filter.fake.required", "true")
    commit(repo, {".gitattributes": "*.big filter=fake\n", "x.big": "hello"})
    git(repo, "config", "filter.fake.clean", "false")
    os.utime(repo / "x.big", (1, 1))
    try:
        assert not read(repo).clean
    except RepositoryError:
        pass
