"""Waiting for a run, following, cancelling and burying one: by whom, and which one is meant."""

import pytest

from tests.faces.calls import FAIL, ended, gated, rows, start, tenure
from tests.gate.repos import commit, worktree
from tests.waiting import until


def test_a_wait_that_is_over_is_not_yet(held):
    repo, _ = held
    found = tenure(repo, "done", "--json", "--wait", "50ms").object
    assert (found["exit_code"], found["outcome"]) == (75, "running")
    assert found["meaning"] == "not yet: the run goes on"
    assert found["left"] == {"lint": None}
    ending = tenure(repo, "done", "--wait", "50ms")
    assert f"not yet: run {found['run']} goes on; left: lint" in ending.out
    assert f"tenure follow {found['run']}" in ending.out


def test_a_second_caller_follows_and_gets_the_same_answer(held):
    repo, call = held
    other = start(repo, "done", "--json")
    until(lambda: len(list(repo.glob(".git/tenure/runs/*"))) == 1, "there is one run")
    (repo / "out" / "go").touch()
    assert ended(other).object["proof"]["id"] == ended(call).object["proof"]["id"]


def test_a_run_is_followed_by_the_first_letters_of_its_id(held):
    repo, _ = held
    (run,) = tenure(repo, "runs", "--json").object["runs"]
    call = start(repo, "follow", run["id"][:4], "--json")
    plain = start(repo, "follow")
    (repo / "out" / "go").touch()
    assert ended(call).object["run"] == run["id"]
    said = ended(plain)
    assert said.code == 0
    assert "ok      lint  passed" in said.out
    again = tenure(repo, "follow", run["id"])  # once it is over as well
    assert again.code == 0
    assert f"run {run['id']} is over; this is what it said\n" in again.out


def test_a_follower_of_a_failed_run_ends_like_it(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    assert tenure(repo, "done").code == 1
    assert tenure(repo, "follow").code == 1


def test_a_run_is_cancelled_by_name_and_says_by_whom(held):
    repo, call = held
    (run,) = tenure(repo, "runs", "--json").object["runs"]
    ending = tenure(repo, "cancel", run["id"][:6], "--reason", "wrong branch", "--json")
    assert (ending.code, ending.object["run"], ending.object["requested"]) == (0, run["id"], True)
    found = ended(call).object
    assert (found["exit_code"], found["outcome"]) == (4, "cancelled")
    assert found["meaning"] == "ended by someone else (another run, or cancel)"
    assert "wrong branch" in found["report"]["reason"]
    again = tenure(repo, "cancel", run["id"])
    assert again.code == 0
    assert "has already ended" in again.out


@pytest.mark.parametrize("verb", ["follow", "cancel", "proof"])
def test_an_id_that_nothing_begins_with_is_a_usage_error(tmp_path, verb):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    ending = tenure(repo, verb, "zzz")
    assert ending.code == 2, ending
    assert "id begins with 'zzz'" in ending.err


def test_letters_that_several_ids_begin_with_are_ambiguous(tmp_path):
    repo = gated(tmp_path / "repo")
    for _ in range(2):
        assert tenure(repo, "done", "--rerun").code == 0
    rows(repo, "update run set id = 'aa' || id, body = json_set(body, '$.id', 'aa' || id)")
    rows(repo, "update proof set id = 'bb' || id, body = json_set(body, '$.id', 'bb' || id)")
    for verb in ("follow", "cancel"):
        ending = tenure(repo, verb, "aa")
        assert ending.code == 2, ending
        assert "'aa' begins the ids of aa" in ending.err
    ending = tenure(repo, "proof", "bb")
    assert ending.code == 2
    assert "'bb' begins the ids of" in ending.err


def test_without_an_id_the_run_of_this_checkout_is_meant(held, tmp_path):
    repo, _ = held
    side = worktree(repo, tmp_path / "side", "side")
    ending = tenure(side, "cancel")
    assert ending.code == 2
    assert "no run is under way in this checkout" in ending.err
    assert tenure(side, "follow").code == 2


def test_a_proof_is_shown_by_the_first_letters_of_its_id(tmp_path):
    repo = gated(tmp_path / "repo")
    proof = tenure(repo, "done", "--json").object["proof"]
    found = tenure(repo, "proof", proof["id"][:8], "--json").object
    assert (found["proof"], found["stands"]) == (proof, True)
    assert "lint" in tenure(repo, "proof").out
    commit(repo, {"a.txt": "b\n"})
    ending = tenure(repo, "proof", "--json")
    assert (ending.code, ending.object["proof"]) == (1, None)


def test_a_repository_that_was_never_asked_about_has_no_proof(tmp_path):
    repo = gated(tmp_path / "repo")
    ending = tenure(repo, "proof", "--json")
    assert (ending.code, ending.object["proof"]) == (1, None)
    assert "no Proof of this tree yet" in tenure(repo, "proof").out
    assert not (repo / ".git" / "tenure").exists()


# ── What the dead leave ──────────────────────────────────────────────────────────────────


def test_a_run_that_died_is_retired_by_the_next_one_which_says_on_what_evidence(tmp_path):
    repo = gated(tmp_path / "repo")
    died = tenure(repo, "done", "--json", faults="run.begin:lint=kill").object
    assert (died["exit_code"], died["outcome"]) == (3, "unproven")
    ending = tenure(repo, "done")
    assert ending.code == 0, ending
    assert f"  retired run {died['run']} (gone: process " in ending.out
    assert "ended and its run lock is free" in ending.out
    (retired,) = rows(repo, "select body from run where body ->> '$.report.outcome' = 'unproven'")
    assert died["run"] in retired[0]


def test_recover_does_now_what_the_next_run_would_do_first(tmp_path):
    repo = gated(tmp_path / "repo")
    died = tenure(repo, "done", "--json", faults="run.begin:lint=kill").object["run"]
    found = tenure(repo, "recover", "--json").object["retired"]
    assert [each["run"] for each in found] == [died]
    assert "its run lock is free" in found[0]["evidence"]
    assert tenure(repo, "recover", "--json").object["retired"] == []
    assert "nothing to recover" in tenure(repo, "recover").out


def test_doctor_says_what_a_job_would_not_find(tmp_path):
    repo = gated(tmp_path / "repo", '[jobs.lint]\nrun = "no-such-linter ."\n')
    ending = tenure(repo, "doctor")
    assert "NOT FOUND: lint (no-such-linter)" in ending.out
    assert [line.split()[0] for line in ending.out.splitlines()] == ["ok"] * 5


def test_doctor_tells_a_broken_policy_and_goes_on(tmp_path):
    repo = gated(tmp_path / "repo", "[jobs]\n")
    ending = tenure(repo, "doctor", "--json")
    assert ending.code == 3
    found = {each["check"]: each["ok"] for each in ending.object["findings"]}
    assert found == {
        "repository": True,
        "store": True,
        "policy": False,
        "runs": True,
        "slots": True,
    }
