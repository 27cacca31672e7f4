"""Records in another directory: for sandboxes that cannot write the git directory, and for nobody else's."""

import shutil
from pathlib import Path

import pytest

from tests.architecture.test_fast_path import HEAVY, imported_by
from tests.faces.calls import PASS, gated, job, tenure
from tests.faces.test_bad_store import MOUNTS, READ_ONLY, mounted
from tests.gate.repos import commit, worktree

UNDER_GIT = Path(".git") / "tenure"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Where `TENURE_STORE` says."""
    place = tmp_path / "records"
    monkeypatch.setenv("TENURE_STORE", str(place))
    return place


def test_records_are_kept_where_the_environment_says_and_the_proof_says_where(tmp_path, store):
    repo = gated(tmp_path / "repo")
    proof = tenure(repo, "done", "--json").object["proof"]
    (inside,) = store.iterdir()
    assert proof["store"] == str(inside)
    assert (inside / "repository").read_text() == f"{repo / '.git'}\n"
    assert not (repo / UNDER_GIT).exists()
    assert "passed" in tenure(repo, "runs").out
    assert f"ok   store: {inside}" in tenure(repo, "doctor").out


def test_the_shortcut_finds_them_there_and_imports_no_more_for_it(tmp_path, store):
    repo = gated(tmp_path / "repo")
    told = [line for line in tenure(repo, "done").out.splitlines() if line.startswith("met: ")]
    code, said, modules = imported_by(repo, "done")
    assert (code, said.splitlines()) == (0, told)
    assert sorted(HEAVY & modules) == []


def test_worktrees_share_them_and_repositories_do_not(tmp_path, store):
    repo = gated(tmp_path / "repo", job("lint", "true", inputs=["a.txt"]))
    side = worktree(repo, tmp_path / "side", "side")
    commit(side, {"b.txt": "another candidate\n"})
    assert tenure(repo, "done").code == 0
    assert tenure(side, "done", "--json").object["report"]["reused"] == ["lint"]
    other = gated(tmp_path / "other", job("lint", "true", inputs=["a.txt"]))
    assert tenure(other, "done", "--json").object["report"]["executed"] == ["lint"]
    assert len(list(store.iterdir())) == 2


def test_records_of_another_repository_are_refused_by_name(tmp_path, store):
    repo, other = gated(tmp_path / "repo"), gated(tmp_path / "other")
    assert tenure(other, "done").code == 0
    (theirs,) = store.iterdir()
    assert tenure(repo, "done").code == 0
    (ours,) = set(store.iterdir()) - {theirs}
    shutil.rmtree(ours)
    theirs.rename(ours)
    commit(repo, {"b.txt": "a new candidate\n"})
    ending = tenure(repo, "done")
    assert ending.code == 3
    assert f"are of the repository {other / '.git'}, and not of {repo / '.git'}" in ending.err


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("postgresql://host/db", "a server, and this version keeps records in directories alone"),
        ("records", "no absolute path"),
        ("", "no absolute path"),
    ],
)
def test_what_is_no_directory_is_refused_by_name(tmp_path, monkeypatch, named, why):
    repo = gated(tmp_path / "repo")
    monkeypatch.setenv("TENURE_STORE", named)
    ending = tenure(repo, "done")
    assert ending.code == 2
    assert "TENURE_STORE" in ending.err
    assert why in ending.err
    assert not (repo / UNDER_GIT).exists()


@pytest.mark.parametrize("name", ["tenure.toml", "pyproject.toml"])
def test_a_policy_may_say_where_and_the_environment_comes_first(tmp_path, monkeypatch, name):
    gate, jobs = f'[gate]\nstore = "{tmp_path}/records"\n', PASS
    if name == "pyproject.toml":
        gate, jobs = (
            gate.replace("[gate]", "[tool.tenure.gate]"),
            PASS.replace("[", "[tool.tenure."),
        )
    repo = gated(tmp_path / "repo")
    (repo / "tenure.toml").unlink()
    commit(repo, {name: gate + jobs})
    assert tenure(repo, "done").code == 0
    assert len(list((tmp_path / "records").iterdir())) == 1
    assert not (repo / UNDER_GIT).exists()
    _, said, modules = imported_by(repo, "done")
    assert said.startswith("met: ")
    assert "msgspec" not in modules, "the shortcut answered"
    monkeypatch.setenv("TENURE_STORE", str(tmp_path / "others"))
    assert tenure(repo, "done", "--json").object["run"] is not None
    assert len(list((tmp_path / "others").iterdir())) == 1


def test_home_is_understood_in_a_policy(tmp_path, home):
    repo = gated(tmp_path / "repo", '[gate]\nstore = "~/records"\n' + PASS)
    assert tenure(repo, "done").code == 0
    assert len(list((home / "records").iterdir())) == 1


def test_a_relative_path_in_a_policy_is_an_error_of_the_policy(tmp_path):
    repo = gated(tmp_path / "repo", '[gate]\nstore = "records"\n' + PASS)
    ending = tenure(repo, "done")
    assert ending.code == 2
    assert "[gate] store is 'records', which is no absolute path" in ending.err


def test_a_job_finds_the_records_of_its_run_and_does_not_wait_for_itself(tmp_path, store):
    repo = gated(tmp_path / "repo", job("lint", f"tenure done > {tmp_path}/said 2>&1; test $? = 2"))
    assert tenure(repo, "done").code == 0
    assert "this is inside a job of run" in (tmp_path / "said").read_text()


@MOUNTS
def test_a_sandbox_that_cannot_write_the_git_directory_proves_with_records_elsewhere(
    tmp_path, store
):
    repo = gated(tmp_path / "repo")
    ending = mounted(repo, READ_ONLY, "done")
    assert ending.code == 0, ending
    assert "has Proof" in mounted(repo, READ_ONLY, "done").out
    assert not (repo / UNDER_GIT).exists()
