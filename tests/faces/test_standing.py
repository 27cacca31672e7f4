"""What is said of a checkout without asking: `met` only where `tenure done` would say it as well."""

import pytest

from tests.faces.calls import PASS, gated, job, tenure
from tests.gate.repos import commit, git, make_repo, worktree, write

#: A policy with a second job, so that a branch can take one away.
TWO = PASS + '[jobs.test]\nrun = "true"\n'

ASKS = "; `tenure done` says whether it answers today's question"


@pytest.fixture
def loosened(tmp_path):
    """A branch that removes a job, proven once with that accepted; and its Proof."""
    repo = gated(tmp_path / "repo", TWO)
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": PASS})
    proof = tenure(repo, "done", "--json", "--accept-policy-change", "test").object["proof"]
    assert proof["accepted"] == ["test"]
    return repo, proof["id"]


def told(repo, verb="status"):
    """The line about the Proof, and whether the object says that it answers."""
    lines = tenure(repo, verb).out.splitlines()
    return lines[1 if verb == "status" else 0], tenure(repo, verb, "--json").object["answers"]


@pytest.mark.parametrize("verb", ["status", "proof"])
def test_met_is_what_done_says_too(tmp_path, verb):
    repo = gated(tmp_path / "repo")
    line = tenure(repo, "done").out.splitlines()[-1]
    assert line.startswith("met: ")
    assert told(repo, verb) == (line, True)
    side = worktree(repo, tmp_path / "side", "side")
    assert told(side, verb) == (line.replace(" on main ", " on side "), True)
    assert tenure(side, "done").out.splitlines() == [line.replace(" on main ", " on side ")]


@pytest.mark.parametrize("verb", ["status", "proof"])
def test_a_proof_that_accepted_a_change_of_policy_is_no_answer_to_who_does_not(loosened, verb):
    repo, proof = loosened
    line, answers = told(repo, verb)
    assert not answers
    assert line == (
        f"there is a Proof {proof[:12]} of this tree (1 requirement: 1 run; accepted: test){ASKS}"
    )
    ending = tenure(repo, "done")
    assert ending.code == 1
    assert f"  (Proof {proof[:12]} exists with that accepted)\n" in ending.out


def test_only_a_proof_that_accepted_all_of_it_is_named(tmp_path):
    repo = gated(tmp_path / "repo", TWO + '[jobs.more]\nrun = "true"\n')
    git(repo, "branch", "older")
    commit(repo, {"tenure.toml": TWO})
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": PASS})
    assert tenure(repo, "done", "--accept-policy-change", "test").code == 0
    git(repo, "checkout", "-q", "older")  # the same tree, judged by more
    commit(repo, {"tenure.toml": PASS})
    ending = tenure(repo, "done")
    assert "more: the base requires" in ending.out
    assert "exists with that accepted" not in ending.out
    names = ("--accept-policy-change", "more", "--accept-policy-change", "test")
    assert tenure(repo, "done", *names).code == 0
    assert "exists with that accepted" in tenure(repo, "done").out


@pytest.mark.parametrize("verb", ["status", "proof"])
def test_another_environment_is_another_question(tmp_path, verb):
    repo = gated(tmp_path / "repo", job("lint", 'test "$CODE" = 0', env=["CODE"]))
    assert tenure(repo, "done", env={"CODE": "0"}).code == 0
    found = tenure(repo, verb, env={"CODE": "1"})
    assert "met: " not in found.out
    assert ASKS in found.out
    assert "met: " in tenure(repo, verb, env={"CODE": "0"}).out


def test_what_a_command_prints_is_known_only_by_running_it(tmp_path):
    repo = gated(tmp_path / "repo", PASS + 'context = ["cat a.txt"]\n')
    assert tenure(repo, "done").code == 0
    assert ASKS in told(repo)[0]


@pytest.mark.parametrize("verb", ["status", "proof"])
def test_a_proof_whose_receipt_was_dropped_is_void_and_said_so(tmp_path, verb):
    repo = gated(tmp_path / "repo")
    proof = tenure(repo, "done", "--json").object["proof"]
    (item,) = proof["evidence"]
    assert tenure(repo, "proof", "drop", item["receipt"], "--reason", "wrong").code == 0
    line, answers = told(repo, verb)
    assert line.startswith("void: ")
    assert not answers
    assert tenure(repo, "status", "--json").object["proof"] is None


def test_what_is_not_committed_has_no_proof(tmp_path):
    repo = gated(tmp_path / "repo")
    proof = tenure(repo, "done", "--json").object["proof"]["id"]
    write(repo, {"a.txt": "edited\n"})
    line, answers = told(repo)
    assert line.startswith(f"there is a Proof {proof[:12]} of what is committed (1 requirement")
    assert not answers


@pytest.mark.parametrize("verb", ["status", "proof"])
def test_after_a_run_that_failed_it_says_which_and_why(tmp_path, verb):
    repo = gated(tmp_path / "repo", job("lint", "exit 1"))
    run = tenure(repo, "done", "--json").object["run"]
    assert tenure(repo, "check").code == 1, "no run of `done`"
    line = f"no Proof of this tree yet; its last run {run} failed (lint): `tenure done`"
    assert told(repo, verb) == (line, False)
    commit(repo, {"a.txt": "edited\n"})
    assert told(repo, verb) == ("no Proof of this tree yet: `tenure done`", False)


def test_where_there_is_no_policy_init_is_next(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n"})
    assert told(repo)[0] == "no policy has a say here: `tenure init` proposes one"
    write(repo, {"tenure.toml": PASS})
    assert "`tenure check`, commit, then `tenure done`" in told(repo)[0]
