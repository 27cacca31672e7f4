"""A run of the same commit that is not followed, because it was asked something else: that is said."""

import pytest

from tests.faces.calls import HOLD, ended, gated, job, start, tenure
from tests.gate.repos import commit, git, worktree, write
from tests.waiting import until

POLICY = job("lint", f'test "$CODE" = free || {{ {HOLD}; }}', env=["CODE"], inputs=["a.txt"])


def venv(top):
    """A virtual environment, as far as it is looked at."""
    write(
        top,
        {
            ".venv/pyvenv.cfg": "home = /usr/bin\n",
            ".venv/lib/python3.11/site-packages/x-1.dist-info/METADATA": "Version: 1\n",
        },
    )


@pytest.fixture
def pair(tmp_path):
    """Two worktrees of one commit."""
    repo = gated(tmp_path / "repo", POLICY)
    return repo, worktree(repo, tmp_path / "side", "side")


def notes(one, other, *options, asked=(), code="free"):
    """What `tenure done` in `other` notes while one in `one` is under way; and that one's id."""
    call = start(one, "done", "--json", *asked)
    until((one / "out" / "began").exists, "the job runs")
    said = tenure(other, "done", *options, env={"CODE": code}).out
    (one / "out" / "go").touch()
    run = ended(call).object["run"]
    return [line for line in said.splitlines() if "same question" in line], run


def test_a_checkout_without_the_environment_of_the_other_asks_another_question(pair):
    repo, side = pair
    venv(repo)
    told, run = notes(repo, side)
    (line,) = told
    where, _, why = line.rpartition(": ")
    assert where.startswith(f"  note: run {run} in {repo} judges the same commit, but not")
    assert why == ".venv is there and not here"


def test_so_does_one_that_has_an_environment_alone(pair):
    repo, side = pair
    venv(side)
    told, _ = notes(repo, side)
    assert [line.rpartition(": ")[2] for line in told] == [".venv is here and not there"]


def test_where_nothing_shows_it_is_said_what_it_may_be(pair):
    repo, side = pair
    told, _ = notes(repo, side)
    assert told[0].endswith("its tools, packages, variables or judging policy are others")


def test_a_question_that_is_asked_once_more_is_another(pair):
    repo, side = pair
    assert tenure(repo, "done", env={"CODE": "free"}).code == 0
    venv(side)
    told, _ = notes(repo, side, asked=["--rerun"])
    assert len(told) == 1


def test_whoever_is_about_something_else_is_no_neighbour(pair):
    repo, side = pair
    commit(side, {"b.txt": "b\n"})
    assert notes(repo, side)[0] == []


def test_a_run_that_is_dead_is_no_neighbour(pair):
    repo, side = pair
    assert tenure(repo, "done", faults="run.bound=kill").code == 3
    assert "same question" not in tenure(side, "done", env={"CODE": "free"}).out
    assert git(side, "status", "--porcelain") == ""
