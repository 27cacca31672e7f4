"""Whoever is killed in a check or in fix jobs leaves the user's repository as it was."""

from pathlib import Path

import pytest

from tests.faces.calls import gated, job, rows, tenure
from tests.gate.repos import commit, git, write

JOBS = (
    job("format", "if grep -q ' $' a.txt; then sed -i 's/ *$//' a.txt; fi", stage="fix")
    + job("lint", "! grep -n 'x$' a.txt")
    + job("test", "mkdir out; cp a.txt out/", stage="test", outputs=["out"])
)


def of_git(repo: Path) -> dict[str, bytes]:
    """Everything that git keeps of the repository, but for what is ours."""
    return {
        str(path.relative_to(repo)): path.read_bytes()
        for path in (repo / ".git").rglob("*")
        if path.is_file() and "tenure" not in path.relative_to(repo).parts
    }


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A checkout in the middle of somebody's work: stashed, staged, edited, new and ignored files."""
    repo = gated(tmp_path / "repo", JOBS, {"b.txt": "b\n"})
    assert tenure(repo, "done").code == 0
    write(repo, {"b.txt": "stashed\n"})
    git(repo, "stash", "push", "-q")
    write(repo, {"b.txt": "staged\n"})
    git(repo, "add", "b.txt")
    write(repo, {"a.txt": "edited \n", "b.txt": "edited\n", "new": "untracked", "x.xml": "ignored"})
    hook = repo / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    return repo


@pytest.mark.parametrize(
    ("verb", "faults", "code"),
    [
        ("check", "working_tree.add=kill", -9),
        ("check", "working_tree.add#2=kill", 3),
        ("check", "run.finish:lint=kill", 3),
        ("fix", "repair.round#2=kill", 3),
        ("fix", "run.baseline=kill", 3),
    ],
)
def test_the_repository_is_as_it_was_and_the_next_goes_on(
    repo: Path, tmp_path: Path, verb: str, faults: str, code: int
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    before = of_git(repo)
    files = {name: (repo / name).read_bytes() for name in ("b.txt", "new", "x.xml")}
    ending = tenure(repo, verb, faults=faults, env={"TMPDIR": str(scratch)})
    assert ending.code == code, ending
    assert of_git(repo) == before
    for verbs in (("fix",), ("check",)):
        ending = tenure(repo, *verbs, "--json", env={"TMPDIR": str(scratch)})
        assert ending.code == 0, ending
    assert of_git(repo) == before
    assert {name: (repo / name).read_bytes() for name in files} == files
    assert (repo / "a.txt").read_text() == "edited\n"
    assert not (tmp_path / "hooked").exists()
    assert rows(repo, "select count(*) from attempt where outcome is null") == [(0,)]
    (repo / ".git" / "hooks" / "post-index-change").unlink()
    commit(repo)
    report = tenure(repo, "done", "--json").object["report"]
    assert (report["outcome"], report["executed"]) == ("passed", [])
