"""A baseline is believed because of what was read, not because git did not complain."""

import os
import time

import pytest

from tenure.gate import baseline
from tenure.gate.baseline import take_baseline
from tenure.gate.errors import DirtyTree, RepositoryError
from tenure.gate.fingerprint import Fingerprint, moved
from tenure.gate.git import collect
from tenure.gate.index import all_hold, claims, content_changes, start_claims
from tenure.gate.worktree import start_read
from tenure.kernel import points
from tests.gate.repos import commit, git, make_repo, submodule, worktree, write


def draw(top) -> Fingerprint:
    snapshot = start_read(str(top)).finish()
    return take_baseline(snapshot.repo, snapshot.tree, time.time_ns)


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "repo", {"a": "1", "d/b": "2", b"\xff\n": "3"})


@pytest.fixture
def reads(monkeypatch):
    """Which trees were read byte for byte."""
    found = []

    def noted(top, tree):
        found.append(tree)
        return content_changes(top, tree)

    monkeypatch.setattr(baseline, "content_changes", noted)
    return found


def test_every_tracked_file_is_in_it_and_nothing_else(repo):
    commit(repo, {".gitignore": "*.log\n"})
    write(repo, {"x.log": "1"})
    (repo / "link").symlink_to("nowhere")
    commit(repo)
    found = draw(repo)
    assert set(found.marks) == {b"a", b"d/b", b"\xff\n", b".gitignore", b"link"}
    assert None not in found.marks.values()
    assert moved(found) == []


def test_a_fresh_commit_is_believed_without_reading_it_again(repo, reads):
    draw(repo)
    assert reads == []


def test_an_edit_after_it_shows(repo):
    found = draw(repo)
    write(repo, {"a": "2"})
    write(repo, {"a": "1"})
    assert moved(found) == [b"a"]


def test_a_dirty_tree_has_none(repo):
    write(repo, {"a": "2", "new": "1"})
    with pytest.raises(DirtyTree) as caught:
        draw(repo)
    assert caught.value.paths == ("a", "new")


def test_an_edit_between_the_fingerprint_and_the_check_is_found(repo):
    points.install(
        lambda name: write(repo, {"a": "2"}) if name == "baseline.fingerprinted" else None
    )
    with pytest.raises(DirtyTree):
        draw(repo)


def test_an_edit_put_back_between_the_fingerprint_and_the_check_has_moved(repo):
    def edit_and_put_back(name):
        if name == "baseline.fingerprinted":
            write(repo, {"a": "2"})
            write(repo, {"a": "1"})

    points.install(edit_and_put_back)
    assert moved(draw(repo)) == [b"a"]


def test_a_checkout_that_went_elsewhere_meanwhile_is_said(repo):
    def go_elsewhere(name):
        if name == "baseline.fingerprinted":
            commit(repo, {"a": "2"})

    points.install(go_elsewhere)
    with pytest.raises(DirtyTree, match="was moved to commit"):
        draw(repo)


# ── Where git does not look ──────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_git_was_told_not_to_look_at_is_read(repo, reads, mark):
    git(repo, "update-index", mark, "a")
    draw(repo)
    assert len(reads) == 1
    write(repo, {"a": "2"})
    assert start_read(str(repo)).finish().clean  # git itself is fooled
    with pytest.raises(DirtyTree, match=r"git does not look at these files.*: a;") as caught:
        draw(repo)
    assert caught.value.paths == ("a",)


def test_both_marks_at_once(repo):
    git(repo, "update-index", "--assume-unchanged", "a")
    git(repo, "update-index", "--skip-worktree", "a")
    draw(repo)
    write(repo, {"a": "2"})
    with pytest.raises(DirtyTree):
        draw(repo)


def test_a_deleted_file_git_was_told_not_to_look_at(repo):
    git(repo, "update-index", "--assume-unchanged", "a")
    (repo / "a").unlink()
    with pytest.raises(DirtyTree, match=": a;"):
        draw(repo)


def test_a_mode_that_git_was_told_not_to_look_at(repo):
    git(repo, "update-index", "--assume-unchanged", "a")
    (repo / "a").chmod(0o755)
    with pytest.raises(DirtyTree, match=": a;"):
        draw(repo)


def test_an_edit_within_the_second_whose_time_was_set_back_is_found(repo):
    os.utime(repo / "a", (1_000_000_000, 1_000_000_000))
    git(repo, "update-index", "--refresh")
    write(repo, {"a": "2"})
    os.utime(repo / "a", (1_000_000_000, 1_000_000_000))
    # Whether git notices depends on how it was built and on the second it is.
    with pytest.raises(DirtyTree):
        draw(repo)


def test_a_stale_index_costs_a_reading_and_nothing_else(repo, reads):
    os.utime(repo / "a", (1, 1))
    draw(repo)
    assert len(reads) == 1


def test_a_sparse_checkout_is_refused_with_what_is_missing(repo):
    git(repo, "sparse-checkout", "set", "--no-cone", "/d/")
    assert not (repo / "a").exists()
    with pytest.raises(
        RepositoryError, match=r"sparse checkout, 2 files .*: .*a.*git sparse-checkout disable"
    ):
        draw(repo)


def test_a_sparse_checkout_that_leaves_nothing_out_is_a_full_one(repo):
    git(repo, "sparse-checkout", "set", "--no-cone", "/*")
    git(repo, "update-index", "--assume-unchanged", "a")
    draw(repo)
    git(repo, "sparse-checkout", "set", "--no-cone", "/d/")
    write(repo, {"a": "1", b"\xff\n": "3"})
    draw(repo)
    write(repo, {"a": "2"})
    with pytest.raises(DirtyTree):
        draw(repo)


def test_a_sparse_index_is_no_different(repo):
    commit(repo, {"e/f": "1", "e/g": "1"})
    git(repo, "sparse-checkout", "set", "--cone", "--sparse-index", "d")
    assert not (repo / "e").exists()
    with pytest.raises(RepositoryError, match="2 files of the commit are not on disk: e/f, e/g"):
        draw(repo)


def test_a_split_index_is_read_and_left_as_it_is(repo, reads):
    git(repo, "config", "core.splitIndex", "true")
    git(repo, "update-index", "--split-index")
    git(repo, "update-index", "--assume-unchanged", "a")
    before = sorted(os.listdir(repo / ".git"))
    draw(repo)
    assert len(reads) == 1
    assert sorted(os.listdir(repo / ".git")) == before


def test_the_index_is_left_as_it_is(repo):
    git(repo, "update-index", "--assume-unchanged", "a")
    os.utime(repo / "d/b", (1, 1))
    index = repo / ".git/index"
    before = (index.read_bytes(), index.stat().st_mtime_ns, index.stat().st_ino)
    draw(repo)
    assert (index.read_bytes(), index.stat().st_mtime_ns, index.stat().st_ino) == before
    assert not (repo / ".git/index.lock").exists()


# ── Filters and line endings ─────────────────────────────────────────────────────────────


def test_filtered_and_converted_files_are_read_as_git_reads_them(repo, reads):
    git(repo, "config", "filter.fake.clean", "tr a-z A-Z")
    git(repo, "config", "filter.fake.smudge", "tr A-Z a-z")
    commit(
        repo,
        {
            ".gitattributes": "*.big filter=fake\n*.txt text eol=crlf\n",
            "x.big": "hello",
            "y.txt": "1\r\n",
        },
    )
    git(repo, "update-index", "--assume-unchanged", "x.big", "y.txt")
    draw(repo)
    assert len(reads) == 1
    write(repo, {"x.big": "hullo"})
    with pytest.raises(DirtyTree, match=r": x\.big;"):
        draw(repo)


def test_line_endings_recorded_before_they_were_converted_are_no_difference(repo):
    commit(repo, {"dos": "1\r\n"})
    git(repo, "config", "core.autocrlf", "true")
    git(repo, "update-index", "--assume-unchanged", "dos")
    draw(repo)


def test_a_filter_that_fails_is_not_taken_for_no_difference(repo):
    git(repo, "config", "filter.fake.clean", "cat")
    git(repo, "config", "filter.fake.required", "true")
    commit(repo, {".gitattributes": "*.big filter=fake\n", "x.big": "hello"})
    git(repo, "update-index", "--assume-unchanged", "x.big")
    git(repo, "config", "filter.fake.clean", "false")
    with pytest.raises((RepositoryError, DirtyTree)):
        draw(repo)


# ── Submodules ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def outer(repo, tmp_path):
    """A repository with a submodule that has one itself."""
    middle = make_repo(tmp_path / "middle", {"m": "1"})
    submodule(middle, repo, "inner")
    outer = make_repo(tmp_path / "outer", {"o": "1"})
    submodule(outer, middle, "lib")
    git(outer, "submodule", "update", "-q", "--init", "--recursive")
    return outer


def test_files_of_submodules_are_in_it(outer):
    found = draw(outer)
    assert {b"o", b"lib/m", b"lib/inner/a", b"lib/inner/\xff\n"} <= set(found.marks)
    write(outer, {"lib/inner/a": "2"})
    assert moved(found) == [b"lib/inner/a"]


@pytest.mark.parametrize(("missing", "name"), [("lib", "lib"), ("lib/inner", "lib/inner")])
def test_a_submodule_that_is_not_there_is_refused(outer, missing, name):
    top = outer if missing == "lib" else outer / "lib"
    git(top, "submodule", "deinit", "-q", "-f", os.path.basename(missing))
    assert start_read(str(outer)).finish().clean  # git itself does not mind
    with pytest.raises(
        RepositoryError, match=f"submodule {name} is not there; run `git submodule update --init"
    ):
        draw(outer)


def test_a_linked_worktree_needs_its_own_submodules(outer, tmp_path):
    linked = worktree(outer, tmp_path / "linked", "x")
    with pytest.raises(RepositoryError, match="submodule lib is not there"):
        draw(linked)
    git(linked, "submodule", "update", "-q", "--init", "--recursive")
    assert b"lib/inner/a" in draw(linked).marks


def test_a_hidden_edit_in_a_submodule_is_found(outer):
    git(outer / "lib/inner", "update-index", "--assume-unchanged", "a")
    write(outer, {"lib/inner/a": "2"})
    with pytest.raises(DirtyTree, match=": lib/inner/a;"):
        draw(outer)


# ── What the index claims ────────────────────────────────────────────────────────────────


def test_claims_are_read_for_every_path(repo):
    asked = start_claims(str(repo))
    collect(asked)
    found = claims(asked)
    seen = (repo / "a").stat()
    assert set(found) == {b"a", b"d/b", b"\xff\n"}
    low = 2**32 - 1
    seconds, rest = divmod(seen.st_ctime_ns, 10**9)
    assert found[b"a"] == ("H", (seconds & low) * 10**9 + rest, seen.st_ino & low, 1)


def test_claims_that_are_not_understood_are_none(repo, monkeypatch):
    asked = start_claims(str(repo))
    collect(asked)
    monkeypatch.setattr(type(asked), "output", b"H a\0  birth: tomorrow\n")
    assert claims(asked) == {}


def test_a_path_without_a_claim_is_read(repo, reads, monkeypatch):
    monkeypatch.setattr(baseline, "claims", lambda _: {})
    draw(repo)
    assert len(reads) == 1


@pytest.mark.parametrize(
    "claim",
    [
        ("h", 5, 2, 3),
        ("S", 5, 2, 3),
        ("M", 5, 2, 3),
        ("H", 6, 2, 3),
        ("H", 5, 3, 3),
        ("H", 5, 2, 4),
    ],
)
def test_a_claim_holds_only_as_a_whole(claim):
    mark = (5, 2, 3, 0o100644)
    assert all_hold({b"a": ("H", 5, 2, 3)}, [(b"a", mark)])
    assert not all_hold({b"a": claim}, [(b"a", mark)])
    assert not all_hold({b"a": ("H", 5, 2, 3)}, [(b"a", None)])


def test_the_index_keeps_only_the_low_half_of_large_numbers():
    mark = (5 * 10**9 + 7 + 2**32 * 10**9, 2**32 + 2, 2**33 + 3, 0)
    assert all_hold({b"a": ("H", 5 * 10**9 + 7, 2, 3)}, [(b"a", mark)])
