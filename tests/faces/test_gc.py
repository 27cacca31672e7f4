"""`tenure gc`: what it removes, that it says so, and that nobody beside it loses anything."""

import hashlib
import os
import signal
from pathlib import Path

import pytest

from tenure.gate.clearing import Clearing
from tenure.gate.disk import clear_outputs
from tenure.testing.faults import Faults
from tests.faces.calls import (
    HOLD,
    at_rest,
    ended,
    executed,
    gated,
    job,
    reused,
    rows,
    start,
    store,
    tenure,
)
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit, git, worktree
from tests.waiting import until

#: Everything that can go, goes.
ALL = ("gc", "--older-than", "1ms", "--keep-proofs", "0")

BUILD = job(
    "build", "cat a.txt > report.xml", stage="build", inputs=["a.txt"], outputs=["report.xml"]
)


def outputs(repo: Path) -> list[str]:
    found = store(repo) / "outputs"
    return sorted(os.listdir(found)) if found.is_dir() else []


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_what_is_old_goes_and_what_is_checked_out_stays_proven(tmp_path):
    repo = gated(tmp_path / "repo", BUILD)
    first = tenure(repo, "done", "--json").object["proof"]
    commit(repo, {"a.txt": "new\n"})
    second = tenure(repo, "done", "--json").object["proof"]
    at_rest(repo)
    found = tenure(repo, *ALL, "--json").object
    assert found["removed"] == {
        "proofs": [first["id"]],
        "receipts": [first["evidence"][0]["receipt"]],
        "runs": [first["run"]],
    }
    assert found["files"]["captured outputs"] == {"count": 1, "size": 2}
    assert found["files"]["run directories"]["count"] == 1
    assert os.listdir(store(repo) / "runs") == [second["run"]]
    assert outputs(repo) == [digest_of("new\n")]
    assert found["usage"]["outputs"] == 4
    for table in ("memo", "proof_identity"):
        assert rows(repo, f"SELECT DISTINCT proof FROM {table}") == [(second["id"],)]
    assert tenure(repo, "proof", first["id"]).code == 2
    assert tenure(repo, "proof").code == 0
    commit(repo, {"b.txt": "b\n"})
    assert reused(tenure(repo, "done", "--json")) == ["build"]


def test_what_is_checked_out_in_another_worktree_stays_proven_too(tmp_path):
    repo = gated(tmp_path / "repo")
    side = worktree(repo, tmp_path / "side", "side")
    commit(side, {"b.txt": "b\n"})
    assert tenure(side, "done").code == 0
    assert tenure(repo, *ALL, "--json").object["removed"]["proofs"] == []
    git(repo, "worktree", "remove", "--force", str(side))
    assert len(tenure(repo, *ALL, "--json").object["removed"]["proofs"]) == 1


def test_by_default_nothing_young_goes(tmp_path):
    repo = gated(tmp_path / "repo", BUILD)
    assert tenure(repo, "done").code == 0
    commit(repo, {"a.txt": "new\n"})
    ending = tenure(repo, "gc")
    assert (ending.code, ending.out.splitlines()[0]) == (0, "removed: nothing")
    assert ending.out.splitlines()[1].startswith("left: ")


def test_a_dry_run_says_what_would_go_and_leaves_it(tmp_path):
    repo = gated(tmp_path / "repo", BUILD)
    assert tenure(repo, "done").code == 0
    commit(repo, {"a.txt": "new\n"})
    database = at_rest(repo)
    before = hashlib.sha256(database.read_bytes()).hexdigest()
    would = tenure(repo, *ALL, "--dry-run", "--json").object
    at_rest(repo)
    assert hashlib.sha256(database.read_bytes()).hexdigest() == before
    assert outputs(repo) == [digest_of("a\n")]
    done = tenure(repo, *ALL, "--json").object
    assert (would["removed"], would["files"]) == (done["removed"], done["files"])
    assert (would["dry_run"], done["dry_run"]) == (True, False)
    assert would["usage"]["outputs"] == 2
    assert done["usage"]["outputs"] == 0


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (["--keep-proofs", "-1"], "--keep-proofs has to be at least 0"),
        (["--older-than", "month"], "--older-than: 'month' is not a duration"),
        (["--older-than", "0s"], "is no time at all; say at least 1s"),
        (["--older-than", "4000d"], "is too long; say at most 3650 days"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(tmp_path, typed, words):
    repo = gated(tmp_path / "repo")
    found = tenure(repo, "gc", *typed, "--json").object
    assert found["exit_code"] == 2
    assert words in found["error"]["sentence"]


def test_doctor_says_what_the_store_takes(tmp_path):
    repo = gated(tmp_path / "repo", BUILD)
    assert tenure(repo, "done").code == 0
    said = next(line for line in tenure(repo, "doctor").out.splitlines() if "store:" in line)
    assert "database" in said
    assert "outputs 2 bytes" in said


def test_a_record_that_cannot_be_read_keeps_everything(tmp_path):
    """It may name any file; what is unreadable is not what is not there."""
    repo = gated(tmp_path / "repo", BUILD)
    assert tenure(repo, "done").code == 0
    commit(repo, {"a.txt": "new\n"})
    rows(repo, "UPDATE receipt SET body = '{}'")
    found = tenure(repo, *ALL, "--json").object
    assert (found["exit_code"], found["error"]["kind"]) == (3, "RecordUnreadable")
    assert outputs(repo) == [digest_of("a\n")]
    assert rows(repo, "SELECT count(*) FROM proof") == [(1,)]


# ── Beside runs ──────────────────────────────────────────────────────────────────────────


def test_a_run_at_work_loses_nothing(tmp_path):
    """It has captured an output and published a receipt, and is in the middle of its last job."""
    repo = gated(tmp_path / "repo", BUILD + job("hold", HOLD))
    call = start(repo, "done", "--json")
    until((repo / "out" / "began").exists, "the last job runs")
    found = tenure(repo, *ALL, "--json").object
    assert found["removed"] == {"proofs": [], "receipts": [], "runs": []}
    assert {kind: each["count"] for kind, each in found["files"].items()} == {
        "run directories": 0,
        "captured outputs": 0,
        "locks": 0,
    }
    (repo / "out" / "go").touch()
    assert ended(call).code == 0
    assert outputs(repo) == [digest_of("a\n")]
    commit(repo, {"b.txt": "b\n"})
    again = tenure(repo, "done", "--json")
    assert (again.code, reused(again), executed(again)) == (0, ["build"], ["hold"])


def test_a_run_that_reuses_what_is_old_keeps_it_while_it_is_at_work(tmp_path):
    rehearsal = Rehearsal(gated(tmp_path / "repo", BUILD + job("lint", "true")))
    assert rehearsal.conduct().outcome == "passed"
    commit(rehearsal.top, {"b.txt": "b\n"})
    with Faults() as faults:
        faults.at("run.bound", lambda: clear(rehearsal))
        report = rehearsal.conduct()
    assert (report.outcome, report.reused) == ("passed", ("build",))
    assert rehearsal.proven()
    assert rehearsal.receipts()["build"].passed


def test_a_run_that_had_not_said_yet_what_it_reuses_asks_again(tmp_path):
    """Nothing names what it has read a moment ago; it proves nothing with what is gone."""
    rehearsal = Rehearsal(gated(tmp_path / "repo", BUILD))
    assert rehearsal.conduct().outcome == "passed"
    commit(rehearsal.top, {"b.txt": "b\n"})
    with Faults() as faults:
        faults.at("run.bind", lambda: clear(rehearsal))
        report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    assert "ask again" in report.reason
    assert not rehearsal.proven()
    report = rehearsal.conduct()
    assert (report.outcome, report.executed) == ("passed", ("build",))


def clear(rehearsal: Rehearsal) -> None:
    """What `tenure gc` does, in this process, with nothing kept for its age."""
    clearing = Clearing(before_ns=rehearsal.clock.now().wall_ns, keep_proofs=0)
    records = rehearsal.open_store()
    try:
        records.clear(clearing, 1000)
        clear_outputs(rehearsal.place, records.named(), clearing.before_ns, dry=False)
    finally:
        records.close()


# ── Killed in the middle ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("point", ["gc.records", "gc.run", "gc.output"])
def test_whoever_is_killed_in_the_middle_leaves_nothing_torn(tmp_path, point):
    repo = gated(tmp_path / "repo", BUILD)
    for text in ("b\n", "c\n"):
        commit(repo, {"a.txt": text})
        assert Rehearsal(repo).conduct().outcome == "passed"
    call = start(repo, *ALL, faults=f"{point}=kill")
    assert call.wait(timeout=60) == -signal.SIGKILL
    call.communicate()
    assert whole(repo)
    assert tenure(repo, "proof").code == 0
    assert tenure(repo, *ALL).code == 0
    assert whole(repo)
    assert outputs(repo) == [digest_of("c\n")]
    assert len(os.listdir(store(repo) / "runs")) == 1
    commit(repo, {"b.txt": "b\n"})
    assert reused(tenure(repo, "done", "--json")) == ["build"]


def whole(repo: Path) -> bool:
    """Whether every output that a receipt names is there as it was captured."""
    found = rows(repo, "SELECT value ->> 'digest' FROM receipt, json_each(body, '$.outputs')")
    return all(digest in outputs(repo) for (digest,) in found)
