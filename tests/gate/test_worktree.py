"""What a reading says of a checkout: in every layout, in every state, without a trace."""

import os
import subprocess
from pathlib import Path

import pytest

from tenure.gate.errors import RepositoryError
from tenure.gate.worktree import Reading, Snapshot, start_read
from tests.gate.repos import clone, commit, git, make_repo, submodule, worktree, write

MAIN = "refs/heads/main"


def read(cwd: Path, trunk: str | None = MAIN) -> Snapshot:
    return start_read(str(cwd), trunk).finish()


def places(snapshot: Snapshot) -> tuple[str, str, str]:
    return (snapshot.repo.top, snapshot.repo.git_dir, snapshot.repo.common_dir)


@pytest.fixture
def repo(tmp_path):
    return make_repo(tmp_path / "repo", {"a": "1", "sub/b": "2"})


# ── Layouts ──────────────────────────────────────────────────────────────────────────────


def test_a_main_checkout(repo):
    snapshot = read(repo)
    assert places(snapshot) == (str(repo), f"{repo}/.git", f"{repo}/.git")
    assert snapshot.head == git(repo, "rev-parse", "HEAD")
    assert snapshot.tree == git(repo, "rev-parse", "HEAD^{tree}")
    assert (snapshot.branch, snapshot.clean, snapshot.repo.shallow) == (MAIN, True, False)


def test_a_directory_below_the_top(repo):
    assert places(read(repo / "sub")) == places(read(repo))


def test_a_linked_worktree(repo, tmp_path):
    linked = worktree(repo, tmp_path / "linked", "feature")
    snapshot = read(linked)
    assert places(snapshot) == (str(linked), f"{repo}/.git/worktrees/linked", f"{repo}/.git")
    assert snapshot.branch == "refs/heads/feature"


def test_a_worktree_of_a_bare_repository(repo, tmp_path):
    bare = clone(repo, tmp_path / "bare.git", "--bare")
    linked = worktree(bare, tmp_path / "linked", "feature", start="main")
    assert places(read(linked)) == (str(linked), f"{bare}/worktrees/linked", str(bare))


def test_a_submodule_is_a_repository_of_its_own(repo, tmp_path):
    outer = make_repo(tmp_path / "outer", {"x": "1"})
    inner = submodule(outer, repo, "lib")
    modules = f"{outer}/.git/modules/lib"
    assert places(read(inner)) == (str(inner), modules, modules)


def test_a_separate_git_directory(tmp_path):
    top = make_repo(
        tmp_path / "top", {"a": "1"}, options=[f"--separate-git-dir={tmp_path}/elsewhere"]
    )
    assert places(read(top)) == (str(top), f"{tmp_path}/elsewhere", f"{tmp_path}/elsewhere")


def test_a_work_tree_configured_elsewhere(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a": "1"})
    (tmp_path / "tree").mkdir()
    git(repo, "config", "core.worktree", str(tmp_path / "tree"))
    write(tmp_path / "tree", {"a": "1"})
    snapshot = read(repo)
    assert (snapshot.repo.top, snapshot.changes) == (str(tmp_path / "tree"), ())


def test_a_detached_head_has_no_branch(repo):
    git(repo, "checkout", "-q", "--detach")
    snapshot = read(repo)
    assert (snapshot.branch, snapshot.trunk_tip) == (None, snapshot.head)


def test_a_sha256_repository(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"}, options=["--object-format=sha256"])
    base = git(repo, "rev-parse", "HEAD")
    commit(repo, {"a": "2"})
    snapshot = read(repo)
    assert (len(snapshot.head), snapshot.base) == (64, base)


@pytest.mark.parametrize("name", ["line\nbreak", "sp ace", "übung", "quo\"te'", "-dash", "0" * 40])
def test_a_checkout_of_any_name(tmp_path, name):
    repo = make_repo(tmp_path / name, {"a": "1"})
    linked = worktree(repo, tmp_path / f"{name}\nlinked", "feature")
    assert places(read(repo)) == (str(repo), f"{repo}/.git", f"{repo}/.git")
    assert read(linked).repo.top == str(linked)
    assert read(linked).branch == "refs/heads/feature"


def test_a_checkout_whose_name_is_no_text(tmp_path):
    repo = make_repo(Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")), {"a": "1"})
    assert os.fsencode(read(repo).repo.top).endswith(b"/\xff\xfe")


def test_a_branch_of_any_name(repo):
    name = os.fsdecode(b"feat/(detached)-\xc3\xa9-\xff")
    git(repo, "checkout", "-q", "-b", name)
    assert read(repo).branch == f"refs/heads/{name}"


def test_a_branch_called_like_the_trunk_ref_changes_nothing(repo):
    git(repo, "branch", "refs/heads/main")
    git(repo, "tag", "main")
    snapshot = read(repo)
    assert (snapshot.branch, snapshot.trunk_tip) == (MAIN, snapshot.head)


def test_a_ref_called_head_is_an_error_of_its_own(repo):
    git(repo, "update-ref", "refs/heads/HEAD", "HEAD")
    with pytest.raises(RepositoryError, match="so HEAD is ambiguous"):
        read(repo)


# ── In a hook ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("linked", [False, True])
def test_in_a_hook_the_repository_is_the_one_around_us(repo, tmp_path, monkeypatch, linked):
    top = worktree(repo, tmp_path / "linked", "feature") if linked else repo
    hook = repo / ".git/hooks/pre-commit"
    hook.write_text(f"#!/bin/sh\nenv -0 > {tmp_path}/env\npwd > {tmp_path}/cwd\n")
    hook.chmod(0o755)
    subprocess.run(["git", "commit", "-qm", "x", "--allow-empty"], cwd=top, check=True)
    for pair in (tmp_path / "env").read_bytes().split(b"\0")[:-1]:
        name, _, value = pair.partition(b"=")
        monkeypatch.setitem(os.environb, name, value)
    assert "GIT_INDEX_FILE" in os.environ
    other = make_repo(tmp_path / "other", {"z": "1"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    cwd = Path((tmp_path / "cwd").read_text().strip())
    assert read(cwd).repo.top == str(top)
    assert read(cwd).clean


# ── The base ─────────────────────────────────────────────────────────────────────────────


def test_the_base_is_where_the_branch_left_the_trunk(repo):
    fork = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "-q", "-b", "feature")
    commit(repo, {"f": "1"})
    git(repo, "checkout", "-q", "main")
    tip = commit(repo, {"m": "1"})
    git(repo, "checkout", "-q", "feature")
    snapshot = read(repo)
    assert (snapshot.base, snapshot.trunk_tip, snapshot.trunk_ref) == (fork, tip, MAIN)


def test_the_base_of_a_commit_on_the_trunk_is_its_first_parent(repo):
    parent = git(repo, "rev-parse", "HEAD")
    head = commit(repo, {"a": "2"})
    commit(repo, {"a": "3"})
    git(repo, "checkout", "-q", "--detach", head)
    snapshot = read(repo)
    assert (snapshot.base, snapshot.parents) == (parent, (parent,))


def test_the_base_of_a_merge_on_the_trunk_is_its_first_parent(repo):
    git(repo, "checkout", "-q", "-b", "feature")
    side = commit(repo, {"f": "1"})
    git(repo, "checkout", "-q", "main")
    first = commit(repo, {"m": "1"})
    git(repo, "merge", "-q", "--no-ff", "-m", "Merge", "feature")
    snapshot = read(repo)
    assert (snapshot.parents, snapshot.base) == ((first, side), first)


def test_a_root_commit_has_no_base(repo):
    snapshot = read(repo)
    assert (snapshot.base, snapshot.parents, snapshot.trunk_tip) == (None, (), snapshot.head)


def test_unrelated_histories_have_no_base_and_the_trunk_is_still_known(repo):
    tip = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "-q", "--orphan", "other")
    commit(repo, {"o": "1"})
    snapshot = read(repo)
    assert (snapshot.base, snapshot.trunk_tip) == (None, tip)


def test_after_a_criss_cross_the_base_is_one_of_the_trunks_commits(repo):
    git(repo, "checkout", "-q", "-b", "feature")
    on_feature = commit(repo, {"f": "1"})
    git(repo, "checkout", "-q", "main")
    on_main = commit(repo, {"m": "1"})
    git(repo, "merge", "-q", "-m", "One", on_feature)
    git(repo, "checkout", "-q", "feature")
    git(repo, "merge", "-q", "-m", "Other", on_main)
    assert read(repo).base == git(repo, "merge-base", "main", "HEAD")


def test_a_trunk_that_does_not_exist_is_no_trunk(repo):
    snapshot = read(repo, "refs/heads/nothing")
    assert (snapshot.trunk_ref, snapshot.trunk_tip, snapshot.base) == (None, None, None)
    assert snapshot.head == git(repo, "rev-parse", "HEAD")


def test_a_reading_that_learns_the_trunk_later_says_the_same(repo):
    commit(repo, {"a": "2"})
    late = start_read(str(repo)).against(MAIN).finish()
    now = read(repo)
    assert (late.base, late.trunk_tip, late.head) == (now.base, now.trunk_tip, now.head)
    assert start_read(str(repo)).finish().trunk_ref is None


def test_a_history_that_breaks_off_is_an_error_and_not_a_missing_base(repo):
    lost = git(repo, "rev-parse", "HEAD")
    commit(repo, {"a": "2"})
    git(repo, "checkout", "-q", "-b", "feature")
    commit(repo, {"a": "3"})
    git(repo, "checkout", "-q", "-b", "trunk", lost)
    commit(repo, {"a": "4"})
    git(repo, "checkout", "-q", "feature")
    (repo / ".git/objects" / lost[:2] / lost[2:]).unlink()
    with pytest.raises(RepositoryError):
        read(repo, "refs/heads/trunk")


# ── Shallow clones ───────────────────────────────────────────────────────────────────────


@pytest.fixture
def deep(repo):
    """main: Start, 2, 3; feature leaves at Start."""
    git(repo, "checkout", "-q", "-b", "feature")
    commit(repo, {"f": "1"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"a": "2"})
    commit(repo, {"a": "3"})
    return repo


def test_a_shallow_clone_that_cuts_off_the_parent_is_refused(deep, tmp_path):
    shallow = clone(deep, tmp_path / "shallow", "--depth=1")
    with pytest.raises(RepositoryError, match=r"shallow clone .* parent of .*git fetch --deepen"):
        read(shallow, "refs/remotes/origin/HEAD")


def test_a_shallow_clone_that_cuts_off_the_merge_base_is_refused(deep, tmp_path):
    shallow = clone(deep, tmp_path / "shallow", "--depth=1", "--no-single-branch")
    git(shallow, "checkout", "-q", "feature")
    with pytest.raises(RepositoryError, match="common ancestor with the trunk"):
        read(shallow, "refs/remotes/origin/main")


def test_a_shallow_clone_that_reaches_the_base_is_read(deep, tmp_path):
    shallow = clone(deep, tmp_path / "shallow", "--depth=2")
    snapshot = read(shallow, "refs/remotes/origin/HEAD")
    assert snapshot.base == git(deep, "rev-parse", "main^")
    assert snapshot.repo.shallow


def test_a_shallow_clone_with_a_linked_worktree_is_refused_too(deep, tmp_path):
    shallow = clone(deep, tmp_path / "shallow", "--depth=1")
    linked = worktree(shallow, tmp_path / "linked", "feature")
    with pytest.raises(RepositoryError, match="parent of"):
        read(linked, "refs/remotes/origin/HEAD")


def test_a_true_root_in_a_shallow_repository_is_a_root(deep, tmp_path):
    shallow = clone(deep, tmp_path / "shallow", "--depth=1")
    git(shallow, "checkout", "-q", "--orphan", "new")
    root = commit(shallow, {"n": "1"})
    snapshot = read(shallow, "refs/heads/new")
    assert (snapshot.head, snapshot.base) == (root, None)


# ── Without a trace ──────────────────────────────────────────────────────────────────────


def state(top: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file under `top` with what tells whether it was written or replaced."""
    found = {}
    for folder, folders, names in os.walk(top):
        for name in (*names, *folders):
            path = Path(folder, name)
            seen = path.lstat()
            content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
            found[str(path)] = (seen.st_ctime_ns, seen.st_ino, content)
    return found


def test_reading_changes_nothing_even_where_git_would_like_to(repo):
    os.utime(repo / "a", (1, 1))  # a plain `git status` refreshes its index now
    git(repo, "config", "core.untrackedCache", "true")
    git(repo, "config", "core.splitIndex", "true")
    write(repo, {"new": "1"})
    before = state(repo)
    for _ in range(3):
        read(repo)
    assert state(repo) == before


def test_a_held_index_lock_is_nobodys_business(repo):
    (repo / ".git/index.lock").touch()
    assert read(repo).clean


def test_a_repository_that_cannot_be_written_is_read(repo):
    read_only = [repo / ".git", repo / ".git/objects", repo / ".git/refs"]
    for path in read_only:
        path.chmod(0o555)
    try:
        assert read(repo).clean
    finally:
        for path in read_only:
            path.chmod(0o755)


def test_a_file_system_monitor_is_neither_asked_nor_believed(repo, tmp_path):
    hook = tmp_path / "monitor"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nprintf 'token\\0'\n")  # nothing changed
    hook.chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(hook))
    git(repo, "config", "core.fsmonitorHookVersion", "2")
    git(repo, "update-index", "--fsmonitor")
    git(repo, "status")
    (tmp_path / "asked").unlink()
    write(repo, {"a": "2"})
    assert read(repo).changes == (("modified", b"a"),)
    assert not (tmp_path / "asked").exists()


def test_a_built_in_file_system_monitor_is_not_started(repo):
    git(repo, "config", "core.fsmonitor", "true")
    assert read(repo).clean  # a daemon left behind would fail the fixture that looks for leaks


def test_a_commit_that_lands_between_the_two_processes_is_noticed(repo, monkeypatch):
    """The status of one commit is never reported as that of another."""
    original = Reading.against
    landed: list[str] = []

    def against(self, ref):
        if not landed:
            from tenure.gate.git import collect

            collect(self._status)
            landed.append(commit(repo, {"a": "2"}))
        return original(self, ref)

    monkeypatch.setattr(Reading, "against", against)
    snapshot = start_read(str(repo), MAIN).finish()
    assert (snapshot.head, snapshot.clean) == (landed[0], True)


def test_a_head_that_never_rests_is_said(repo, monkeypatch):
    original = Reading.against

    def against(self, ref):
        from tenure.gate.git import collect

        collect(self._status)
        commit(repo)
        return original(self, ref)

    monkeypatch.setattr(Reading, "against", against)
    with pytest.raises(RepositoryError, match="moved each of the 5 times"):
        start_read(str(repo), MAIN).finish()


def test_a_discarded_reading_leaves_nothing_running(repo):
    reading = start_read(str(repo), MAIN)
    assert reading._revisions is not None
    pids = [reading._status.pid, reading._revisions.pid]
    reading.discard()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
