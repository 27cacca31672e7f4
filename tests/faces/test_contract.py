"""What a program that calls tenure may rely on: one object, one exit code, in every ending."""

import os
import signal
import subprocess
import sys

import pytest

from tenure.faces.cli import application, verb_cancel, verbs
from tenure.gate.shortcut import FORMATS
from tenure.gate.stores.sqlite.rows import LINES
from tests.faces.calls import (
    FAIL,
    HOLD,
    PASS,
    TENURE,
    ended,
    environment,
    executed,
    gated,
    job,
    reused,
    rows,
    start,
    tenure,
)
from tests.gate.repos import commit, git, make_repo, write
from tests.waiting import until

#: The verbs that are about a repository, and need no more words.
NEED_MORE = ("sessions", "proof drop", "proof verify", "hook", "mcp")
VERBS = tuple(verb for verb in verbs.VERBS if verb not in NEED_MORE)


# ── One object in every ending ───────────────────────────────────────────────────────────


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_prints_one_object_where_nothing_was_ever_run(tmp_path, verb):
    repo = gated(tmp_path / "repo")
    ending = tenure(repo, verb, "--json")
    assert ending.object["verb"] == verb
    assert ending.err == ""
    assert "error" in ending.object or ending.code in (0, 1)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_prints_one_object_after_a_run(tmp_path, verb):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    ending = tenure(repo, verb, "--json")
    assert ending.object["verb"] == verb
    assert ending.code == (2 if verb in ("init", "cancel", "fix", "standards") else 0), ending
    assert ending.err == ""


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_prints_one_object_outside_a_repository(tmp_path, verb):
    ending = tenure(tmp_path, verb, "--json")
    assert ending.code == 3
    assert ending.object["error"]["kind"] == "RepositoryError"
    assert ending.object["meaning"] == "could not tell"


@pytest.mark.parametrize(
    ("arguments", "verb", "words"),
    [
        (["--json"], None, "there is no verb; `tenure init` proposes a policy"),
        (["--json", "don"], None, "there is no verb 'don'; did you mean 'done'?"),
        (["done", "--json", "--bogus"], "done", "arguments: --bogus; see `tenure done --help`"),
        (["done", "--json", "--rer"], "done", "unrecognized arguments: --rer"),
        (["done", "--json", "extra"], "done", "unrecognized arguments: extra"),
        (["done", "--json", "--wait"], "done", "argument --wait: expected one argument"),
        (["done", "--json", "--wait", "5"], "done", "--wait: '5' is not a duration; write \"5s\""),
        (
            ["done", "--json", "--wait", "0s"],
            "done",
            "--wait: '0s' is no time at all; say at least 1s",
        ),
        (["done", "--json", "--wait", "-1s"], "done", "--wait"),
        (
            ["done", "--json", "--wait", "99d"],
            "done",
            "--wait: '99d' is too long; say at most thirty days",
        ),
        (["done", "--json", "--accept-policy-change", "x"], "done", "'x' is no change of policy"),
        (["done", "--json", "--wait", "1s", "--foreground"], "done", "choose one of them"),
        (["runs", "--json", "--limit", "0"], "runs", "--limit has to be at least 1"),
        (["runs", "--json", "--limit", "x"], "runs", "argument --limit: invalid int value: 'x'"),
        (["follow", "--json", "a", "b"], "follow", "unrecognized arguments: b"),
        (
            ["proof", "drop", "--json"],
            "proof drop",
            "the following arguments are required: receipt",
        ),
        (["proof", "dropp", "--json"], "proof", "'proof dropp'; did you mean 'proof drop'?"),
        (["proof", "exprt", "--json"], "proof", "did you mean 'proof export'?"),
        (["proof", "zzz", "--json"], "proof", "nothing has been recorded"),
    ],
)
def test_a_usage_error_is_one_object_and_exit_code_2(tmp_path, arguments, verb, words):
    repo = gated(tmp_path / "repo")
    found = tenure(repo, *arguments).object
    assert (found["exit_code"], found["meaning"]) == (2, "usage or configuration")
    assert found["verb"] == verb
    assert found["error"]["kind"] == "UsageError"
    assert words in found["error"]["sentence"]


ENDINGS = {
    "met": (PASS, 0, "met", "met"),
    "not met": (FAIL, 1, "not met", "not met"),
    "unproven": (job("lint", "echo x >> a.txt"), 3, "unproven", "could not tell"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_the_object_of_done_has_the_same_keys_in_every_ending(tmp_path, name):
    policy, code, outcome, meaning = ENDINGS[name]
    repo = gated(tmp_path / "repo", policy)
    found = tenure(repo, "done", "--json").object
    assert (found["exit_code"], found["outcome"], found["meaning"]) == (code, outcome, meaning)
    assert list(found) == [
        "ok",
        "verb",
        "exit_code",
        "meaning",
        "outcome",
        "commit",
        "tree",
        "branch",
        "candidate",
        "run",
        "worktree",
        "proof",
        "report",
        "objections",
        "left",
    ]
    assert (found["commit"], found["branch"]) == (git(repo, "rev-parse", "HEAD"), "refs/heads/main")
    assert (found["proof"] is None) == (code != 0)


POINTS = (
    "inquiry.launch",
    "run.checkout",
    "run.bind",
    "run.begin:lint",
    "run.finish:lint",
    "run.closing",
)


@pytest.mark.parametrize("point", POINTS)
def test_a_fault_of_our_own_is_one_object_with_the_place_of_its_traceback(tmp_path, point):
    repo = gated(tmp_path / "repo")
    ending = tenure(repo, "done", "--json", faults=f"{point}=raise")
    assert ending.code == 70, ending
    found = ending.object
    assert found["meaning"] == "a fault in tenure itself; the log's path is printed"
    said = found["error"]["sentence"] if "error" in found else found["report"]["reason"]
    with open(said.split("its traceback is in ")[1], encoding="utf-8") as file:
        assert "Planted" in file.read()
    assert tenure(repo, "done", "--json").object["outcome"] == "met"


def test_a_fault_of_our_own_is_one_line_for_people(tmp_path):
    repo = gated(tmp_path / "repo")
    ending = tenure(repo, "done", faults="inquiry.launch=raise")
    assert (ending.code, ending.out) == (70, "")
    assert ending.err.startswith("tenure: a fault in tenure itself (Planted: ")
    assert ending.err.count("\n") == 1


def test_a_run_whose_processes_are_killed_is_one_object(tmp_path):
    repo = gated(tmp_path / "repo")
    found = tenure(repo, "done", "--json", faults="run.begin:lint=kill").object
    assert (found["exit_code"], found["outcome"], found["proof"]) == (3, "unproven", None)
    assert "SIGKILL" in found["report"]["reason"]


# ── Signals ──────────────────────────────────────────────────────────────────────────────

#: A git that answers and answers, as long as anybody listens.
SLOW_GIT = '#!/bin/sh\ntouch "$SLOW/began-$$"\nwhile echo .; do sleep 0.05; done 2>/dev/null\n'


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("verb", ["done", "done again", "status", "doctor"])
def test_a_signal_while_the_repository_is_read_is_one_object(tmp_path, verb, number):
    repo = gated(tmp_path / "repo")
    verb, _, again = verb.partition(" ")
    if again:  # where the shortcut asks
        assert tenure(repo, verb).code == 0
    slow = tmp_path / "slow"
    slow.mkdir()
    (slow / "git").write_text(SLOW_GIT)
    (slow / "git").chmod(0o755)
    env = {"PATH": f"{slow}:{os.environ['PATH']}", "SLOW": str(slow)}
    call = start(repo, verb, "--json", env=env)
    until(lambda: len(list(slow.glob("began-*"))) >= 2, "git is asked both questions")
    call.send_signal(number)
    found = ended(call).object
    assert found["exit_code"] == 128 + number
    assert (found["verb"], found["error"]["kind"]) == (verb, "Interrupted")
    assert found["meaning"] == f"ended by its own signal {int(number)}"


def test_an_interrupt_before_a_run_starts_starts_none(tmp_path):
    wait = f"signal:{tmp_path}/there+wait:{tmp_path}/go"
    repo = gated(tmp_path / "repo")
    call = start(repo, "done", "--json", faults=f"inquiry.read={wait}")
    until((tmp_path / "there").exists, "it has read the repository")
    call.send_signal(signal.SIGTERM)
    (tmp_path / "go").touch()
    found = ended(call).object
    assert (found["exit_code"], found["outcome"], found["run"]) == (143, "left", None)
    assert tenure(repo, "runs", "--json").object["runs"] == []


def test_an_interrupt_of_the_starter_cancels_and_waits_for_the_end(held):
    repo, call = held
    call.send_signal(signal.SIGINT)
    found = ended(call).object
    assert (found["exit_code"], found["outcome"]) == (130, "cancelled")
    assert "its starter" in found["report"]["reason"]
    (run,) = tenure(repo, "runs", "--json").object["runs"]
    assert run["report"]["outcome"] == "cancelled"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_any_other_signal_leaves_the_run_to_go_on(held, number):
    repo, call = held
    call.send_signal(number)
    found = ended(call).object
    assert (found["exit_code"], found["outcome"]) == (128 + number, "left")
    assert found["left"] == {"lint": None}
    (repo / "out" / "go").touch()
    again = tenure(repo, "done", "--json").object
    assert again["outcome"] == "met"
    assert len(tenure(repo, "runs", "--json").object["runs"]) == 1


def test_a_run_in_the_foreground_ends_with_its_caller(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    call = start(repo, "done", "--json", "--foreground")
    until((repo / "out" / "began").exists, "the job runs")
    call.send_signal(signal.SIGTERM)
    found = ended(call).object
    assert (found["exit_code"], found["outcome"]) == (143, "cancelled")


# ── Verbs and options ────────────────────────────────────────────────────────────────────


def test_every_verb_of_the_grammar_is_named_in_the_object_of_an_early_end():
    assert all(application._is_verb(verb) for verb in verbs.VERBS)
    assert not any(
        application._is_verb(word)
        for word in ("don", "verb_done", "proof_drop", "--json", "../done")
    )


def test_the_version_is_told(tmp_path):
    assert tenure(tmp_path, "--version").out.startswith("tenure ")


def test_options_for_every_verb_may_stand_before_it(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(tmp_path, "-C", str(repo), "--json", "done").object["outcome"] == "met"
    assert tenure(tmp_path, "-C", "nowhere", "done", "-C", str(repo)).code == 0


def test_a_directory_that_was_deleted_under_us_is_named(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", f'rmdir "$PWD" && exec {TENURE} done'],
        cwd=gone,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "the directory this was started in does not exist any more" in done.stderr


def test_a_user_without_a_name_can_cancel(monkeypatch):
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    assert verb_cancel._who() == f"user {os.getuid()}"


# ── The shortcut ─────────────────────────────────────────────────────────────────────────


def forget(repo):
    """Take away what the shortcut goes by."""
    for table in ("memo", "memo_variable", "memo_path"):
        rows(repo, f"delete from {table}")


def shape(value):
    """What a value is made of: keys and types, all the way down."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return type(value).__name__


@pytest.mark.parametrize("branch", ["main", None, b"caf\xe9", "quote\"'"])
def test_the_shortcut_says_what_the_long_way_says(tmp_path, branch):
    """Without its memo the same question goes the long way."""
    repo = gated(tmp_path / "repo")
    if branch is None:
        git(repo, "checkout", "-q", "--detach")
    elif branch != "main":
        git(repo, "checkout", "-q", "-b", branch)
    commit(repo, {"a.txt": "b\n"})
    first = tenure(repo, "done", "--json").object
    short, short_line = tenure(repo, "done", "--json"), tenure(repo, "done")
    forget(repo)
    long = tenure(repo, "done", "--json")
    forget(repo)
    long_line = tenure(repo, "done")
    assert list(short.object) == list(long.object)
    assert short.object == long.object
    assert shape(short.object["proof"]) == shape(first["proof"])
    assert short.object["proof"] == first["proof"]
    assert short_line.out == long_line.out
    assert short.object["report"] is None


def test_the_shortcut_reads_only_formats_it_knows():
    assert {(line.name, line.version) for line in LINES} == FORMATS


@pytest.mark.parametrize("verb", ["done", "status"])
def test_a_repository_with_nothing_but_a_policy_is_enough(tmp_path, verb):
    repo = make_repo(tmp_path / "repo", {"tenure.toml": PASS})
    assert tenure(repo, verb).code == 0


def test_init_names_what_jobs_will_leave_and_git_does_not_ignore(tmp_path):
    repo = make_repo(tmp_path / "repo", {"pyproject.toml": "[tool.pytest]\n"})
    said = tenure(repo, "init").out
    assert "git does not ignore __pycache__/, which jobs will leave: add it to .gitignore" in said
    (repo / "tenure.toml").unlink()
    write(repo, {".gitignore": "__pycache__/\n"})
    assert "__pycache__" not in tenure(repo, "init").out


def test_status_names_what_is_not_committed(tmp_path):
    repo = gated(tmp_path / "repo", PASS)
    write(repo, {"new.txt": "new\n"})
    said = tenure(repo, "status").out
    assert "1 uncommitted change: new.txt\n" in said
    assert "no Proof of this tree yet: `tenure check`, commit, then `tenure done`" in said


def test_init_proposes_and_never_overwrites(tmp_path):
    repo = make_repo(tmp_path / "repo", {"Makefile": "test:\n\ttrue\n"})
    proposal = tenure(repo, "init", "--print", "--json").object
    assert not (repo / "tenure.toml").exists()
    assert "make test" in proposal["policy"]
    assert tenure(repo, "init").code == 0
    written = (repo / "tenure.toml").read_text()
    assert written == proposal["policy"]
    assert tenure(repo, "init").code == 2
    assert (repo / "tenure.toml").read_text() == written
    commit(repo)
    assert executed(tenure(repo, "done", "--json")) == ["test"]
    assert reused(tenure(repo, "done", "--rerun", "--json")) == []


@pytest.mark.parametrize("verb", ["follow", "cancel", "proof"])
def test_an_id_that_is_no_text_is_a_usage_error(tmp_path, verb):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    ending = tenure(repo, verb, "\udcff", "--json")
    assert (ending.code, ending.object["error"]["kind"]) == (2, "UsageError")


def test_a_marker_that_is_not_ours_is_passed_over(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done", env={"TENURE_RUN": "\udcff"}).code == 0


def test_a_hook_without_its_tool_is_told_what_is_required(tmp_path):
    repo = gated(tmp_path / "repo", PASS)
    assert "required: tool; see" in tenure(repo, "hook").err


def test_the_package_is_the_command_too(tmp_path):
    call = [sys.executable, "-m", "tenure", "--version"]
    assert subprocess.run(call, cwd=tmp_path, check=True, capture_output=True).stdout.startswith(
        b"tenure "
    )
