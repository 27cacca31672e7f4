"""The inner loop as somebody types it: fix, check, commit, and done runs nothing."""

import signal

from tests.faces.calls import HOLD, ended, executed, gated, job, reused, rows, start, tenure
from tests.gate.repos import commit, worktree, write
from tests.waiting import until

JOBS = (
    job("format", "if grep -q ' $' a.txt; then sed -i 's/ *$//' a.txt; fi", stage="fix")
    + job("build", "mkdir out; cat *.txt > out/all", stage="build", outputs=["out"])
    + job("lint", "! grep -rn ' $' *.txt")
    + job("test", "test -s out/all", stage="test", needs=["build"], context=["git --version"])
)


def test_fix_check_commit_and_done_runs_nothing(tmp_path):
    repo = gated(tmp_path / "repo", JOBS)
    write(repo, {"a.txt": "edited \n", "new.txt": "new\n"})
    assert tenure(repo, "done").code == 3
    found = tenure(repo, "fix", "--json").object
    assert (found["outcome"], found["meaning"], found["proof"]) == ("passed", "passed", None)
    assert found["report"]["fixed"] == ["a.txt"]
    said = tenure(repo, "check").out
    assert said.splitlines()[0].startswith("check ")
    assert said.splitlines()[-1] == (
        "passed: 3 jobs (3 run); `tenure done` proves it once it is committed"
    )
    commit(repo)
    ending = tenure(repo, "done", "--json").object
    assert (ending["outcome"], ending["report"]["executed"]) == ("met", [])
    assert sorted(ending["report"]["reused"]) == ["build", "format", "lint", "test"]
    assert rows(repo, "select count(*) from proof") == [(1,)]


def test_what_passed_in_one_worktree_is_not_run_in_another(tmp_path):
    repo = gated(tmp_path / "repo", JOBS)
    side = worktree(repo, tmp_path / "side", "side")
    for top in (repo, side):
        write(top, {"a.txt": "edited\n"})
    assert tenure(repo, "check", "--json").object["report"]["reused"] == []
    found = tenure(side, "check", "--json").object["report"]
    assert (found["executed"], len(found["reused"])) == ([], 3)


def test_a_check_that_fails_is_exit_1_and_one_that_cannot_be_is_2_or_3(tmp_path):
    repo = gated(tmp_path / "repo", JOBS)
    write(repo, {"a.txt": "bad \n"})
    ending = tenure(repo, "check", "lint")
    assert ending.code == 1
    assert ending.out.splitlines()[-1].startswith("failed: ")
    assert ending.out.splitlines()[-1].endswith(" (lint)")
    assert tenure(repo, "check", "lnt").code == 2
    assert tenure(repo, "fix", "lint").code == 2
    write(repo, {"tenure.toml": "broken"})
    assert tenure(repo, "check").code == 2
    assert tenure(tmp_path, "check").code == 3


def test_a_check_is_waited_for_followed_and_cancelled_like_any_run(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    write(repo, {"a.txt": "edited\n"})
    call = start(repo, "check", "--json", "--wait", "60s")
    until((repo / "out" / "began").exists, "the job runs")
    (run,) = tenure(repo, "status", "--json").object["runs"]
    assert run["kind"] == "check"
    assert f"run {run['id']}  check  running" in tenure(repo, "status").out
    waiting = tenure(repo, "check", "--json", "--wait", "0.3s").object
    assert (waiting["exit_code"], waiting["outcome"]) == (75, "running")
    assert waiting["run"] != run["id"], "nobody joins a check"
    assert tenure(repo, "cancel", run["id"]).code == 0
    out, _ = call.communicate(timeout=60)
    assert call.returncode == 4, out
    assert tenure(repo, "cancel", waiting["run"]).code == 0


def test_done_waits_for_a_check_of_the_same_files_and_takes_its_results(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    check = start(repo, "check", "--json")
    until((repo / "out" / "began").exists, "the job runs")
    done = start(repo, "done", "--json")
    until(lambda: len(tenure(repo, "status", "--json").object["runs"]) == 2, "both are under way")
    (repo / "out" / "go").touch()
    assert ended(check, "check").code == 0
    found = ended(done, "done")
    assert (found.code, executed(found), reused(found)) == (0, [], ["lint"])


def test_an_interrupted_check_ends_and_leaves_the_files(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    write(repo, {"a.txt": "edited\n"})
    call = start(repo, "check", "--json")
    until((repo / "out" / "began").exists, "the job runs")
    call.send_signal(signal.SIGINT)
    call.communicate(timeout=60)
    assert call.returncode == 130
    assert (repo / "a.txt").read_text() == "edited\n"
    assert rows(repo, "select count(*) from attempt where outcome = 'cancelled'") == [(1,)]
