"""A job that misbehaves is told by name, harms nobody else, and proves nothing it did not do."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.faces.calls import (
    PASS,
    TENURE,
    Ending,
    executed,
    failures,
    gated,
    job,
    rows,
    store,
    tenure,
)
from tests.gate.repos import commit, git, make_repo, submodule, worktree
from tests.waiting import until

LEASE = '[gate]\nlease_ttl = "3s"\nrenew_interval = "1s"\n'


def receipts(repo: Path) -> list[tuple[str, str]]:
    """Requirement and outcome of every receipt, in order of publication."""
    return rows(repo, "select requirement, outcome from receipt order by sequence")


def detail(ending: Ending, name: str) -> str:
    """What the report says of one requirement."""
    found = [each for each in ending.object["report"]["failures"] if each["requirement"] == name]
    assert len(found) == 1, ending
    return str(found[0]["detail"])


# ── It cannot be run ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ('run = "no-such-program"', "'no-such-program' is not on PATH"),
        ('run = "./tools/none"', "'./tools/none' does not exist"),
        ('run = "./a.txt"', "may not be executed"),
        ('run = "./tools"', "is a directory"),
        ('run = "./tools/orphan"', "asks for the interpreter '/no/such/interpreter'"),
        ('run = "true"\ncwd = "no/where"', "'no/where' does not exist"),
    ],
)
def test_a_job_that_is_missing_is_not_found(tmp_path, command, words):
    repo = gated(tmp_path / "repo", f"[jobs.lint]\n{command}\n", {"tools/x": "", "a.txt": "x\n"})
    (repo / "tools" / "orphan").write_text("#!/no/such/interpreter\n")
    (repo / "tools" / "orphan").chmod(0o755)
    commit(repo)
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert failures(ending) == [("lint", "not_found")]
    said = detail(ending, "lint").replace(f"{repo}/", "")
    assert words in said, ending


# ── It does not end ──────────────────────────────────────────────────────────────────────


def test_a_job_that_hangs_is_timed_out(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "echo began; sleep 600", timeout="1s"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1
    assert failures(ending) == [("lint", "timed_out")]
    assert "longer than 1 s" in detail(ending, "lint")
    assert ending.object["report"]["failures"][0]["tail"] == "began"


def test_a_job_that_ignores_int_is_given_what_it_needs_to_clean_up(tmp_path):
    """One INT, and the time to act on it."""
    script = "trap 'sleep 0.3; echo cleaned; exit 0' INT; echo x > out/began; sleep 600 & wait"
    repo = gated(tmp_path / "repo", job("lint", f"mkdir -p out; {script}", timeout="1s"))
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("lint", "timed_out")]  # though it exited with 0
    assert ending.object["report"]["failures"][0]["tail"] == "cleaned"


def test_a_daemon_is_killed_and_named_and_the_job_passes(tmp_path):
    """It left the session and holds the job's output open; it does not hold us."""
    daemon = "setsid sh -c 'echo $$ > out/pid; exec sleep 600' &"
    wait = "while [ ! -s out/pid ]; do sleep 0.01; done"
    repo = gated(tmp_path / "repo", job("lint", f"mkdir -p out; {daemon} {wait}"))
    ending = tenure(repo, "done")
    assert ending.code == 0, ending
    assert "lint left processes behind, killed: " in ending.out
    assert "sleep 600" in ending.out
    pid = int((repo / "out" / "pid").read_text())
    until(lambda: not os.path.exists(f"/proc/{pid}") or _zombie(pid), "the daemon is gone")


def _zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.slow
def test_a_job_that_stops_itself_is_ended_and_named(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "kill -STOP $$"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert failures(ending) == [("lint", "killed")]
    assert "it stopped on SIGSTOP and was not continued" in detail(ending, "lint")


def test_a_job_has_no_terminal_to_stop_on(tmp_path):
    repo = gated(
        tmp_path / "repo",
        job("lint", 'if (: < /dev/tty) 2>/dev/null; then exit 3; fi; read line; test -z "$line"'),
    )
    assert tenure(repo, "done").code == 0


# ── It kills ─────────────────────────────────────────────────────────────────────────────


def test_a_job_that_kills_itself_is_killed(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "kill -SEGV $$"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1
    assert failures(ending) == [("lint", "killed")]
    assert "signal 11" in detail(ending, "lint")


def test_a_job_that_kills_its_group_kills_nobody_else(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "kill -TERM 0; sleep 60") + job("b", "sleep 0.2"))
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("lint", "killed")]
    assert ("b", "passed") in receipts(repo)


# ── It touches the tree ──────────────────────────────────────────────────────────────────


def test_a_job_that_edits_a_tracked_file_proves_nothing(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "echo edited >> a.txt") + job("b", "true"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 3, ending
    assert ending.object["outcome"] == "unproven"
    assert ("lint", "inputs_moved") in failures(ending)
    assert "a.txt" in detail(ending, "lint")
    assert ("lint", "passed") not in receipts(repo)
    assert (repo / "a.txt").read_text() == "a\nedited\n"  # it is the author's to look at
    assert tenure(repo, "done").code == 3


def test_an_edit_that_is_put_back_is_found_as_well(tmp_path):
    """What the job read in between is anybody's guess."""
    repo = gated(tmp_path / "repo", job("lint", "echo x > a.txt; git checkout -q -- a.txt"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 3, ending
    assert ("lint", "inputs_moved") in failures(ending)
    assert git(repo, "status", "--porcelain") == ""
    assert receipts(repo) == []


def test_an_edit_outside_of_its_inputs_leaves_a_jobs_receipt_and_spoils_the_proof(tmp_path):
    repo = gated(
        tmp_path / "repo",
        job("lint", "echo x >> a.txt", inputs=["tenure.toml"]),
    )
    ending = tenure(repo, "done", "--json")
    assert ending.code == 3, ending
    assert failures(ending) == [("", "inputs_moved")]
    assert receipts(repo) == [("lint", "passed")]
    git(repo, "checkout", "-q", "--", "a.txt")
    assert tenure(repo, "done", "--json").object["outcome"] == "met"


def test_a_job_that_deletes_its_input_proves_nothing(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "rm a.txt"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 3, ending
    assert "a.txt" in detail(ending, "lint")


def test_a_job_that_needs_one_that_proved_nothing_does_not_run(tmp_path):
    policy = job("lint", "echo x >> a.txt") + job("b", "touch out/ran", needs=["lint"])
    repo = gated(tmp_path / "repo", policy)
    ending = tenure(repo, "done", "--json")
    assert ending.code == 3, ending
    assert ("b", "unrun") in failures(ending)
    assert not (repo / "out" / "ran").exists()


def test_a_job_that_leaves_a_file_is_told_what_to_ignore(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "mkdir -p new; touch new/one left.log"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert failures(ending) == [("", "left_files")]
    found = ending.object["report"]["failures"][0]
    assert found["paths"] == ["left.log", "new/"]
    assert "/left.log" in found["detail"]
    assert "/new/" in found["detail"]
    assert receipts(repo) == [("lint", "passed"), ("lint", "failed")], "it does not count again"
    commit(repo, {".gitignore": "/out/\n*.xml\n/left.log\n/new/\n"})
    assert tenure(repo, "done").code == 0


def test_a_job_that_commits_moves_the_candidate_away(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "git commit -q --allow-empty -m more"))
    ending = tenure(repo, "done", "--json")
    assert ending.object["outcome"] == "met"  # the same tree under another name
    repo = gated(tmp_path / "other", job("lint", "echo x >> a.txt; git commit -qam more"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 3, ending
    assert any("moved to commit" in each["detail"] for each in ending.object["report"]["failures"])


def test_a_fix_job_that_changes_a_file_ends_the_run_with_its_paths(tmp_path):
    fix = job("format", "echo x >> a.txt; touch stray", stage="fix")
    repo = gated(tmp_path / "repo", fix + job("test", "touch out/ran", stage="test"))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert failures(ending) == [("", "fixed"), ("", "left_files")]
    assert ending.object["report"]["failures"][0]["paths"] == ["a.txt"]
    assert not (repo / "out").exists()
    assert receipts(repo) == []


def test_a_fix_job_that_changes_nothing_passes(tmp_path):
    repo = gated(tmp_path / "repo", job("format", "true", stage="fix") + PASS)
    assert tenure(repo, "done").code == 0
    assert sorted(receipts(repo)) == [("format", "passed"), ("lint", "passed")]


# ── Its outputs ──────────────────────────────────────────────────────────────────────────


def test_a_job_that_does_not_write_its_output_has_not_passed(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "true", outputs=["r.xml"]))
    (repo / "r.xml").write_text("stale")
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert failures(ending) == [("lint", "no_output")]
    assert "r.xml was not written" in detail(ending, "lint")
    assert receipts(repo) == [("lint", "failed")]
    assert not (repo / "r.xml").exists()  # what was there before is no output of this job


def test_an_output_that_is_a_symbolic_link_is_none(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("precious")
    repo = gated(tmp_path / "repo", job("lint", f"ln -s {outside} r.xml", outputs=["r.xml"]))
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("lint", "no_output")]
    assert "is a symbolic link" in detail(ending, "lint")
    assert tenure(repo, "done").code == 1  # the link is deleted, not what it leads to
    assert outside.read_text() == "precious"


def test_an_output_that_is_a_pipe_is_none(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "mkfifo r.xml", outputs=["r.xml"]))
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("lint", "no_output")]
    assert "neither a file nor a directory" in detail(ending, "lint")


def test_a_name_in_an_output_that_is_not_utf8_is_refused(tmp_path):
    write = "mkdir -p out; printf x > \"out/caf$(printf '\\351')\""
    repo = gated(tmp_path / "repo", job("lint", write, outputs=["out"]))
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("lint", "no_output")]
    assert "out/caf\\xe9" in detail(ending, "lint")


def test_nothing_is_deleted_behind_a_link(tmp_path):
    """Wherever it leads, what is there is not the job's."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "r.xml").write_text("precious")
    repo = gated(tmp_path / "repo", job("lint", "echo x > link/r.xml", outputs=["link/r.xml"]))
    commit(repo, {".gitignore": "/link\n*.xml\n"})
    (repo / "link").symlink_to(elsewhere)
    ending = tenure(repo, "done")
    assert ending.code == 3, ending
    assert "link is a symbolic link here, and link/r.xml would be deleted behind it" in ending.err
    assert (elsewhere / "r.xml").read_text() == "precious"


def test_an_output_below_what_is_no_directory_is_an_error_of_the_policy(tmp_path):
    part = make_repo(tmp_path / "part", {"p.txt": "p\n"})
    repo = gated(tmp_path / "repo", job("lint", "true", outputs=["link/r.xml"]))
    (repo / "link").symlink_to("out")
    commit(repo)
    ending = tenure(repo, "done")
    assert ending.code == 2, ending
    assert "link/r.xml is below link, which is a symbolic link" in ending.err
    submodule(repo, part, "part")
    commit(repo, {"tenure.toml": job("lint", "true", outputs=["part/r.xml"])})
    ending = tenure(repo, "done", "--accept-policy-change", "lint")
    assert ending.code == 2, ending
    assert "part/r.xml is below part, which is a submodule" in ending.err


# ── It asks about itself ─────────────────────────────────────────────────────────────────


def test_a_job_that_asks_about_its_own_repository_is_refused(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", f"{TENURE} done --json > out/said; test $? = 2"))
    (repo / "out").mkdir()
    ending = tenure(repo, "done")
    assert ending.code == 0, ending
    said = (repo / "out" / "said").read_text()
    assert '"exit_code":2' in said
    assert "is inside a job of run" in said


def test_a_job_that_asks_from_another_worktree_is_refused_too(tmp_path):
    repo = gated(
        tmp_path / "repo", job("lint", f"cd {tmp_path}/side && {TENURE} done; test $? = 2")
    )
    worktree(repo, tmp_path / "side", "side")
    assert tenure(repo, "done").code == 0


def test_a_job_may_ask_about_another_repository(tmp_path):
    gated(tmp_path / "other")
    repo = gated(tmp_path / "repo", job("lint", f"cd {tmp_path}/other && {TENURE} done"))
    assert tenure(repo, "done").code == 0
    assert (store(tmp_path / "other") / "tenure.db").exists()


def test_a_job_of_another_repository_that_asks_back_is_refused(tmp_path):
    """The marker is a list: the way round through somebody else is no way."""
    back = f"cd {tmp_path}/repo && {TENURE} done; test $? = 2"
    gated(tmp_path / "other", job("lint", back))
    repo = gated(tmp_path / "repo", job("lint", f"cd {tmp_path}/other && {TENURE} done"))
    assert tenure(repo, "done").code == 0


def test_a_context_command_that_asks_about_its_own_repository_is_refused(tmp_path):
    """Else it would ask itself what it prints, for ever."""
    repo = gated(tmp_path / "repo", job("lint", "true", context=[f"{TENURE} done"]))
    ending = tenure(repo, "done")
    assert ending.code == 3, ending
    assert "context command" in ending.err
    assert ending.err.count("\n") == 1


# ── What it is given ─────────────────────────────────────────────────────────────────────

SHOW = f'{sys.executable} -c \'import os, json; json.dump(dict(os.environ), open("out/env", "w"))\''


def test_a_job_sees_what_its_policy_says_and_nothing_else(tmp_path):
    policy = job(
        "lint",
        f"mkdir -p out; {SHOW}",
        env=["NAMED", "ABSENT"],
        pass_env=["PASSED"],
        set_env={"GIVEN": "x", "TZ": "Europe/Budapest"},
    )
    repo = gated(tmp_path / "repo", policy)
    caller = {
        "NAMED": "",
        "PASSED": "p",
        "OTHER": "leak",
        "GIT_DIR": str(tmp_path),
        "GIT_AUTHOR_NAME": "leak",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "LC_ALL": "hu_HU.UTF-8",
        "TZ": "Asia/Tokyo",
        "COLUMNS": "10",
    }
    assert tenure(repo, "done", env=caller).code == 0
    seen = json.loads((repo / "out" / "env").read_text())
    assert seen.items() >= {"NAMED": "", "PASSED": "p", "GIVEN": "x"}.items()
    assert seen.items() >= {"CI": "1", "NO_COLOR": "1", "TERM": "dumb"}.items()
    assert (seen["TZ"], seen["LC_ALL"], seen["LANG"]) == ("Europe/Budapest", "C.UTF-8", "C.UTF-8")
    assert not {"ABSENT", "OTHER", "COLUMNS", "PYTHONPATH"} & set(seen)
    assert {name for name in seen if name.startswith("GIT_")} == {"GIT_OPTIONAL_LOCKS"}
    assert len(seen["TENURE_CHECKOUT"]) == 9


def test_a_secret_value_is_stored_nowhere(tmp_path):
    secret = "correct-horse-battery-staple"
    repo = gated(tmp_path / "repo", job("lint", "true", env=["TOKEN"]))
    assert tenure(repo, "done", env={"TOKEN": secret}).code == 0
    rows(repo, "select 1")
    for path in store(repo).rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes(), path


def test_a_job_cannot_redirect_git_for_the_repository(tmp_path):
    """A hook's variables do not reach a job that makes a repository of its own."""
    make = "mkdir -p out/new && cd out/new && git init -q . && git commit -q --allow-empty -m x"
    repo = gated(tmp_path / "repo", job("lint", make))
    head, config = git(repo, "rev-parse", "HEAD"), (repo / ".git" / "config").read_bytes()
    hook = {
        "GIT_DIR": str(repo / ".git"),
        "GIT_INDEX_FILE": str(repo / ".git" / "index"),
        "GIT_WORK_TREE": str(repo),
        "GIT_PREFIX": "",
    }
    ending = tenure(repo, "done", env=hook)
    assert ending.code == 0, ending
    assert git(repo, "rev-parse", "HEAD") == head
    assert (repo / ".git" / "config").read_bytes() == config


def test_all_jobs_run_although_one_fails(tmp_path):
    repo = gated(tmp_path / "repo", job("a", "false") + job("b", "true") + job("c", "exit 7"))
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("a", "failed"), ("c", "failed")]
    assert executed(ending) == ["a", "b", "c"]
    assert detail(ending, "c") == "it exited with 7"
