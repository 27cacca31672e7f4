"""A place that cannot be judged is named, with what to do; nothing is run and nothing changes."""

import os

import pytest

from tests.faces.calls import PASS, Ending, executed, gated, job, reused, store, tenure
from tests.gate.repos import clone, commit, git, make_repo, submodule, worktree, write


def refused(ending: Ending, *words: str, code: int = 3) -> None:
    """A refusal in one line that contains all these words."""
    assert ending.code == code, ending
    assert ending.out == "", ending
    assert ending.err.startswith("tenure: "), ending
    assert ending.err.count("\n") == 1, ending
    for word in words:
        assert word in ending.err, ending


# ── Not the commit ───────────────────────────────────────────────────────────────────────


def test_a_dirty_tree_is_listed_and_left_alone(tmp_path):
    repo = gated(tmp_path / "repo", files={"b.txt": "b\n", "c.txt": "c\n"})
    (repo / "a.txt").write_text("edited\n")
    (repo / "b.txt").unlink()
    (repo / "new.txt").write_text("new\n")
    git(repo, "mv", "c.txt", "d.txt")
    before = git(repo, "status", "--porcelain=v2")
    ending = tenure(repo, "done")
    refused(ending, "a.txt (modified)", "b.txt (deleted)", "d.txt (added)", "new.txt (untracked)")
    found = tenure(repo, "done", "--json").object
    assert found["error"]["kind"] == "DirtyTree"
    assert sorted(found["error"]["paths"]) == ["a.txt", "b.txt", "c.txt", "d.txt", "new.txt"]
    assert git(repo, "status", "--porcelain=v2") == before


def test_an_untracked_file_counts_and_an_ignored_one_does_not(tmp_path):
    repo = gated(tmp_path / "repo")
    (repo / "report.xml").write_text("ignored")
    assert tenure(repo, "done").code == 0
    (repo / "stray.py").write_text("")
    refused(tenure(repo, "done"), "stray.py (untracked)", "add, delete or ignore")


def test_a_required_file_that_is_only_untracked_does_not_pass(tmp_path):
    """What makes the job pass has to be in the commit."""
    repo = gated(tmp_path / "repo", job("test", "test -e needed.py"))
    (repo / "needed.py").write_text("")
    refused(tenure(repo, "done"), "needed.py")
    (repo / "needed.py").unlink()
    assert tenure(repo, "done").code == 1


def test_a_conflict_is_named_with_the_merge_under_way(tmp_path):
    repo = gated(tmp_path / "repo")
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"a.txt": "side\n"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"a.txt": "main\n"})
    git(repo, "merge", "side", check=False)
    refused(tenure(repo, "done"), "a.txt (unmerged)", "resolve the conflicts")


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_that_git_looks_away_from_is_found(tmp_path, mark):
    repo = gated(tmp_path / "repo")
    git(repo, "update-index", mark, "a.txt")
    (repo / "a.txt").write_text("edited\n")
    assert git(repo, "status", "--porcelain") == ""
    ending = tenure(repo, "done")
    assert ending.code == 3, ending
    assert "a.txt" in ending.out
    assert "git update-index" in ending.out


# ── Which commit ─────────────────────────────────────────────────────────────────────────


def test_a_detached_head_is_judged(tmp_path):
    repo = gated(tmp_path / "repo")
    commit(repo, {"a.txt": "b\n"})
    git(repo, "checkout", "-q", "--detach", "HEAD")
    found = tenure(repo, "done", "--json").object
    assert (found["outcome"], found["branch"]) == ("met", None)
    assert tenure(repo, "status").code == 0


def test_a_detached_head_without_a_trunk_judges_itself(tmp_path):
    repo = gated(tmp_path / "repo", branch="work")
    git(repo, "checkout", "-q", "--detach", "HEAD")
    found = tenure(repo, "done", "--json").object
    assert (found["outcome"], found["proof"]["judged_by"]) == ("met", "own")


def test_no_commits_yet(tmp_path):
    repo = make_repo(tmp_path / "repo")
    write(repo, {"tenure.toml": PASS})
    refused(tenure(repo, "done"), "there are no commits yet on main", "commit something")


@pytest.mark.parametrize("asked_before", [False, True])
def test_no_git(tmp_path, asked_before):
    repo = gated(tmp_path / "repo")
    if asked_before:
        assert tenure(repo, "done").code == 0
    refused(tenure(repo, "done", env={"PATH": str(tmp_path)}), "there is no git on PATH", "install")


def test_not_a_repository(tmp_path):
    for verb in ("done", "status", "runs", "proof", "recover", "doctor", "follow", "cancel"):
        refused(tenure(tmp_path, verb), "is in no git repository", "git init")


def test_a_checkout_that_lost_its_repository(tmp_path):
    repo = gated(tmp_path / "repo")
    side = worktree(repo, tmp_path / "side", "side")
    repo.rename(tmp_path / "moved")
    refused(tenure(side, "done"), "lost its repository", "git worktree repair")


def test_a_bare_repository(tmp_path):
    source = gated(tmp_path / "source")
    bare = clone(source, tmp_path / "bare.git", "--bare")
    refused(tenure(bare, "done"), "is a bare repository", "git worktree add")


def test_a_worktree_of_a_bare_repository_is_judged(tmp_path):
    source = gated(tmp_path / "source")
    bare = clone(source, tmp_path / "bare.git", "--bare")
    side = worktree(bare, tmp_path / "side", "side")
    assert tenure(side, "done").code == 0
    assert (bare / "tenure" / "tenure.db").exists()


def test_core_bare_shared_by_all_worktrees_is_named(tmp_path):
    repo = gated(tmp_path / "repo")
    side = worktree(repo, tmp_path / "side", "side")
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "config", "core.bare", "true")
    refused(tenure(side, "done"), "core.bare", "git config --worktree core.bare false")
    refused(tenure(repo, "done"), "core.bare")


def test_inside_the_git_directory(tmp_path):
    repo = gated(tmp_path / "repo")
    refused(tenure(repo / ".git", "done"), "inside a git directory")


def test_a_directory_that_is_not_there(tmp_path):
    repo = gated(tmp_path / "repo")
    refused(tenure(repo, "done", "-C", str(tmp_path / "nowhere")), "nowhere is not a directory")


def test_a_subdirectory_asks_about_the_whole_checkout(tmp_path):
    repo = gated(tmp_path / "repo", job("test", "test -e tenure.toml"), {"sub/x.txt": "x\n"})
    assert tenure(repo / "sub", "done").code == 0
    assert tenure(tmp_path, "done", "-C", "repo/sub").code == 0


@pytest.mark.parametrize("layout", ["separate", "linked", "submodule"])
def test_a_git_directory_elsewhere_holds_the_store(tmp_path, layout):
    if layout == "separate":
        repo = gated(tmp_path / "repo", options=[f"--separate-git-dir={tmp_path / 'git'}"])
        place = tmp_path / "git"
    elif layout == "linked":
        main = gated(tmp_path / "main")
        repo, place = worktree(main, tmp_path / "repo", "side"), main / ".git"
    else:
        source = gated(tmp_path / "source")
        repo = submodule(make_repo(tmp_path / "super", {"x": "x"}), source, "part")
        place = tmp_path / "super" / ".git" / "modules" / "part"
    assert tenure(repo, "done").code == 0
    assert (place / "tenure" / "tenure.db").exists()
    assert tenure(repo, "done", "--json").object["run"] is None


# ── The base ─────────────────────────────────────────────────────────────────────────────


def test_a_shallow_trunk_does_not_reach_its_parent(tmp_path):
    source = gated(tmp_path / "source")
    commit(source, {"a.txt": "b\n"})
    shallow = clone(source, tmp_path / "shallow", "--depth=1")
    refused(tenure(shallow, "done"), "is a shallow clone", "the parent of", "git fetch --deepen")
    git(shallow, "fetch", "-q", "--deepen=1")
    assert tenure(shallow, "done").code == 0


def test_a_shallow_branch_does_not_reach_the_trunk(tmp_path):
    source = gated(tmp_path / "source")
    git(source, "checkout", "-q", "-b", "side")
    commit(source, {"a.txt": "b\n"})
    commit(source, {"a.txt": "c\n"})
    git(source, "checkout", "-q", "main")
    commit(source, {"b.txt": "b\n"})
    shallow = clone(source, tmp_path / "shallow", "--depth=1", "--no-single-branch")
    git(shallow, "checkout", "-q", "side")
    refused(tenure(shallow, "done"), "is a shallow clone", "a common ancestor with the trunk")
    git(shallow, "fetch", "-q", "--unshallow")
    assert tenure(shallow, "done").code == 0


def test_a_shallow_branch_whose_trunk_was_not_fetched_is_not_judged_by_itself(tmp_path):
    """A clone of one branch knows no trunk: what the base requires must not be forgotten."""
    source = gated(tmp_path / "source", job("lint", "false"))
    git(source, "checkout", "-q", "-b", "side")
    commit(source, {"tenure.toml": PASS})
    shallow = clone(source, tmp_path / "shallow", "--depth=1", "--branch=side")
    assert tenure(shallow, "done").code != 0


# ── Submodules ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def parent(tmp_path):
    part = make_repo(tmp_path / "part", {"p.txt": "p\n"})
    commit(part, {"p.txt": "q\n"})
    repo = gated(tmp_path / "repo", job("test", "test -e part/p.txt"))
    submodule(repo, part, "part")
    return repo


def test_a_submodule_that_is_in_place_passes(parent):
    assert tenure(parent, "done").code == 0


def test_a_submodule_that_was_never_fetched(tmp_path, parent):
    copy = clone(parent, tmp_path / "copy")
    ending = tenure(copy, "done")
    assert ending.code == 3, ending
    assert "the submodule part is not there" in ending.said
    assert "git submodule update --init" in ending.said


@pytest.mark.parametrize(
    ("edit", "kind"),
    [
        (lambda part: git(part, "checkout", "-q", "HEAD^"), "submodule: new commits"),
        (lambda part: (part / "p.txt").write_text("x"), "submodule: modified content"),
        (lambda part: (part / "new").write_text("x"), "submodule: untracked content"),
    ],
    ids=["moved", "edited", "with a stray file"],
)
def test_a_submodule_that_differs_is_named(parent, edit, kind):
    edit(parent / "part")
    refused(tenure(parent, "done"), f"part ({kind})")


def test_a_submodule_whose_directory_is_gone(parent):
    os.rename(parent / "part", parent.parent / "elsewhere")
    ending = tenure(parent, "done")
    assert ending.code == 3, ending
    assert "part" in ending.said


def test_a_file_that_a_job_edits_inside_a_submodule_counts(tmp_path):
    part = make_repo(tmp_path / "part", {"p.txt": "p\n"})
    repo = gated(tmp_path / "repo", job("test", "echo x >> part/p.txt"))
    submodule(repo, part, "part")
    ending = tenure(repo, "done")
    assert ending.code == 3, ending
    assert "part/p.txt" in ending.out


def test_a_submodule_can_be_named_among_the_inputs(parent):
    """Its files are no files of this tree; that it is at another commit is what counts."""
    text = job("test", "test -e part/p.txt", inputs=["part/**"])
    commit(parent, {"tenure.toml": text})
    accept = ("--accept-policy-change", "test")
    assert tenure(parent, "done", *accept).code == 0
    commit(parent, {"a.txt": "edited\n"})
    assert reused(tenure(parent, "done", "--json")) == ["test"]
    git(parent / "part", "checkout", "-q", "HEAD^")
    commit(parent, message="Go back")
    assert executed(tenure(parent, "done", "--json")) == ["test"]


# ── Names ────────────────────────────────────────────────────────────────────────────────


def test_paths_that_are_not_utf8_are_judged_and_shown_escaped(tmp_path):
    repo = gated(tmp_path / "repo", files={b"caf\xe9.txt": "x\n"})
    assert tenure(repo, "done").code == 0
    with open(os.fsencode(repo) + b"/caf\xe9.txt", "a") as file:
        file.write("y\n")
    refused(tenure(repo, "done"), "caf\\xe9.txt (modified)")
    found = tenure(repo, "done", "--json").object
    assert found["error"]["paths"] == ["caf\\xe9.txt"]
    assert tenure(repo, "status", "--json").object["changes"] == ["modified caf\\xe9.txt"]


def test_a_checkout_whose_own_path_is_not_utf8_is_judged(tmp_path):
    top = tmp_path / os.fsdecode(b"caf\xe9")
    repo = gated(top, job("test", "echo x; exit $CODE", env=["CODE"]))
    assert tenure(repo, "done", env={"CODE": "1"}).code == 1
    found = tenure(repo, "done", "--json", env={"CODE": "0"}).object
    assert found["outcome"] == "met"
    assert found["worktree"].endswith("caf\\xe9")
    assert tenure(repo, "done", "--json", env={"CODE": "0"}).object["run"] is None
    for verb in ("status", "runs", "proof", "follow", "recover", "doctor"):
        assert tenure(repo, verb, "--json").object["verb"] == verb


def test_a_branch_whose_name_is_not_utf8_is_judged(tmp_path):
    repo = gated(tmp_path / "repo")
    git(repo, "checkout", "-q", "-b", b"caf\xe9")
    commit(repo, {"a.txt": "b\n"})
    assert tenure(repo, "done").code == 0
    assert tenure(repo, "done", "--json").object["branch"] == "refs/heads/caf\\xe9"
    assert tenure(repo, "status", "--json").object["branch"] == "refs/heads/caf\\xe9"


def test_a_path_with_a_line_break_is_one_line(tmp_path):
    repo = gated(tmp_path / "repo")
    (repo / "two\nlines").write_text("")
    refused(tenure(repo, "done"), "two\\nlines (untracked)")
    (repo / "two\nlines").unlink()
    assert tenure(repo, "done").code == 0


def test_a_checkout_whose_path_has_a_line_break_is_judged(tmp_path):
    repo = gated(tmp_path / "two\nlines")
    assert tenure(repo, "done", "--json").object["outcome"] == "met"


# ── What nobody may be told of ───────────────────────────────────────────────────────────


def test_a_git_variable_of_the_caller_redirects_nothing(tmp_path):
    repo, other = gated(tmp_path / "repo"), gated(tmp_path / "other", job("lint", "false"))
    aimed = {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other), "GIT_INDEX_FILE": "/x"}
    assert tenure(repo, "done", env=aimed).code == 0
    assert store(repo).exists()
    assert not store(other).exists()
