"""An agent stops when its work is proven, and is told what to do next when it is not."""

import json
import os
import signal

import pytest

from tenure.faces.cli.grammar import parse
from tenure.faces.cli.hook_session import AgentSession
from tenure.faces.hooks.stop import read_stop
from tenure.faces.hooks.streak import STALE_SECONDS, Streak
from tenure.gate.errors import UsageError
from tests.faces.calls import FAIL, HOLD, PASS, gated, job, start, tenure
from tests.faces.contracts import AGENTS, Answer, event, hook, start_hook, stop
from tests.gate.repos import commit, git, make_repo, worktree, write
from tests.waiting import until

BOTH = pytest.mark.parametrize("tool", AGENTS)

#: For what does not differ between tools.
TOOL = "claude-code"


# ── Every state ──────────────────────────────────────────────────────────────────────────


@BOTH
def test_where_nothing_has_to_be_proven_it_is_silent(tmp_path, tool):
    repo = make_repo(tmp_path / "repo", {"pyproject.toml": "[tool.ruff]\n"})
    write(repo, {"a.txt": "not committed\n"})
    assert stop(tool, repo).silent
    assert not (repo / ".git" / "tenure").exists(), "asking made a store"


def test_no_repository_and_a_young_one_are_no_concern_of_ours(tmp_path):
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    assert stop(TOOL, nowhere).silent
    assert stop(TOOL, make_repo(tmp_path / "young")).silent


@BOTH
def test_what_is_proven_may_stop(tmp_path, tool):
    repo = gated(tmp_path / "repo")
    assert stop(tool, repo).silent, "it proved it itself"
    assert tenure(repo, "proof").code == 0
    assert stop(tool, repo).silent, "the Proof was there"
    assert len(tenure(repo, "runs", "--json").object["runs"]) == 1


@BOTH
def test_what_is_not_committed_blocks(tmp_path, tool):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    write(repo, {"a.txt": "edited\n", "new.txt": "new\n"})
    answer = stop(tool, repo)
    assert answer.blocks
    assert "a.txt (modified), new.txt (untracked)" in answer.reason
    assert "`tenure check`" in answer.reason
    assert "Commit what belongs to your work" in answer.reason
    assert "`tenure done`" in answer.reason


@BOTH
def test_what_fails_blocks_with_the_job_and_its_last_lines(tmp_path, tool):
    repo = gated(tmp_path / "repo", job("lint", "echo three errors; exit 1"))
    answer = stop(tool, repo)
    assert answer.blocks
    assert "lint: it exited with 1\n    | three errors\n" in answer.reason
    assert f"reproduce: (cd {repo} && " in answer.reason
    assert "Mend it and commit; `tenure done`" in answer.reason


@BOTH
def test_what_runs_blocks_and_goes_on(tmp_path, tool):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    answer = stop(tool, repo, "--wait", "1ms")
    (run,) = tenure(repo, "runs", "--json").object["runs"]
    assert f"`tenure follow {run['id']}`" in answer.reason
    until((repo / "out" / "began").exists, "the job runs")
    again = stop(tool, repo, "--wait", "1ms")
    assert f"`tenure follow {run['id']}`" in again.reason, "the same run is followed"
    (repo / "out" / "go").touch()
    assert tenure(repo, "follow", run["id"]).code == 0
    assert stop(tool, repo).silent


@BOTH
@pytest.mark.parametrize("point", ["inquiry.launch", "run.begin:lint"])
def test_a_fault_of_our_own_blocks_and_says_whose_it_is(tmp_path, tool, point):
    repo = gated(tmp_path / "repo")
    answer = stop(tool, repo, faults=f"{point}=raise")
    assert answer.blocks
    assert "The fault is in tenure and not in your work" in answer.reason
    log = answer.reason.split("its traceback is in ")[1].splitlines()[0]
    with open(log, encoding="utf-8") as file:
        assert "Planted" in file.read()
    assert stop(tool, repo).silent


def test_a_run_that_is_killed_blocks(tmp_path):
    repo = gated(tmp_path / "repo")
    answer = stop(TOOL, repo, faults="run.begin:lint=kill")
    assert "SIGKILL" in answer.reason
    assert "`tenure done`" in answer.reason


def test_a_run_that_is_cancelled_blocks(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    call = start_hook(repo, TOOL, given=event(TOOL, "Stop", repo))
    until((repo / "out" / "began").exists, "the job runs")
    assert tenure(repo, "cancel").code == 0
    out, err = call.communicate(timeout=60)
    found = json.loads(out)
    assert (call.returncode, found["decision"], err) == (0, "block", b"")
    assert "cancelled by" in found["reason"]


def test_a_policy_that_does_not_parse_blocks_with_its_place(tmp_path):
    repo = gated(tmp_path / "repo", PASS + "rum = 1\n")
    assert "tenure.toml:3: jobs.lint.rum" in stop(TOOL, repo).reason


def test_a_loosened_policy_blocks_and_is_not_for_the_agent_to_accept(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, {"tenure.toml": '[jobs.other]\nrun = "true"\n'})
    answer = stop(TOOL, repo)
    assert "lint" in answer.reason
    assert "for the person you work for to accept" in answer.reason


@BOTH
def test_the_way_past_a_policy_is_told_to_the_person_and_not_to_the_agent(tmp_path, tool):
    repo = gated(tmp_path / "repo", FAIL)
    git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, {"tenure.toml": '[jobs.other]\nrun = "true"\n'})
    answer = stop(tool, repo, "--blocks", "1")
    assert "lint: the base requires this job and the branch removes it" in answer.reason
    assert "--accept-policy-change" not in answer.reason
    warning = stop(tool, repo, "--blocks", "1").warning
    assert "agrees: tenure done --accept-policy-change lint. `tenure done` says all" in warning


def test_the_way_past_a_policy_that_cannot_be_read_is_no_agents_either(tmp_path):
    repo = gated(tmp_path / "repo", "[jobs\n")
    git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, {"tenure.toml": PASS})
    answer = stop(TOOL, repo, "--blocks", "1")
    assert "has to be readable; mend it there\n" in answer.reason
    assert "--accept-policy-change" not in answer.reason
    assert "--accept-policy-change policy passes" in stop(TOOL, repo, "--blocks", "1").warning
    assert "--accept-policy-change" not in tenure(repo, "done", "--json").out, "nor by MCP"


def test_each_sentence_of_a_warning_ends(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    assert stop(TOOL, repo, "--blocks", "1").blocks
    warning = stop(TOOL, repo, "--blocks", "1").warning
    assert "lint: it exited with 1. `tenure done` says all of it." in warning


def test_a_policy_that_is_taken_away_blocks(tmp_path):
    repo = gated(tmp_path / "repo")
    git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, remove=["tenure.toml"])
    assert stop(TOOL, repo).blocks


def test_a_policy_that_is_not_committed_yet_blocks(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n"})
    write(repo, {"tenure.toml": PASS})
    assert "tenure.toml (untracked)" in stop(TOOL, repo).reason
    young = make_repo(tmp_path / "young")
    write(young, {"tenure.toml": PASS})
    assert "there are no commits yet" in stop(TOOL, young).reason


def test_a_long_reason_is_cut_and_still_says_what_is_next(tmp_path):
    policy = "".join(job(f"lint-{n}", "seq 100000 100040; exit 1") for n in range(60))
    answer = stop(TOOL, gated(tmp_path / "repo", policy))
    assert len(answer.reason) < 9000
    assert "(cut here; `tenure done` says all of it)" in answer.reason
    assert "Mend it and commit" in answer.reason


def test_a_notification_begins_a_run_and_blocks_nothing(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    notice = event("codex", "notify", repo).decode()
    ending = tenure(tmp_path, "hook", "codex", notice)
    assert (ending.code, ending.said) == (0, "")
    until((repo / "out" / "began").exists, "the job runs")
    (repo / "out" / "go").touch()
    assert stop("codex", repo).silent
    assert len(tenure(repo, "runs", "--json").object["runs"]) == 1
    assert tenure(tmp_path, "hook", "codex", '{"type": "another"}').code == 0
    ending = tenure(tmp_path, "hook", "codex", "{")
    assert (ending.code, ending.out) == (1, "")
    assert "this is no notification of Codex" in ending.err


def test_a_store_elsewhere_is_asked(tmp_path):
    repo = gated(tmp_path / "repo")
    env = {"TENURE_STORE": str(tmp_path / "store")}
    assert stop(TOOL, repo, env=env).silent
    assert not (repo / ".git" / "tenure").exists()
    write(repo, {"a.txt": "edited\n"})
    assert "a.txt (modified)" in stop(TOOL, repo, env=env).reason


# ── Where the work is ────────────────────────────────────────────────────────────────────


def test_the_checkout_is_the_one_the_agent_is_in(tmp_path):
    """The tool may have been started elsewhere."""
    repo = gated(tmp_path / "repo")
    side = worktree(repo, tmp_path / "side", "topic")
    write(side, {"a.txt": "edited\n"})
    below = side / "src"
    below.mkdir()
    assert "a.txt (modified)" in stop(TOOL, below, at=repo).reason
    assert stop(TOOL, repo, at=side).silent


def test_leaving_the_project_leads_nowhere(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    other = make_repo(tmp_path / "other", {"a.txt": "a\n"})
    assert "lint: it exited with 1" in stop(TOOL, other, at=repo).reason
    assert "lint: it exited with 1" in stop(TOOL, tmp_path / "gone", at=repo).reason
    env = {"CLAUDE_PROJECT_DIR": str(repo)}
    assert stop("claude-code", other, env=env).blocks
    assert stop("codex", other, env=env).silent, "the variable is Claude Code's"


def test_another_directory_may_be_named(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    fine = gated(tmp_path / "fine")
    assert stop(TOOL, repo, "-C", str(fine)).silent
    assert stop(TOOL, fine, "-C", str(repo)).blocks


def test_an_agent_that_may_change_nothing_is_not_asked_to(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    assert stop(TOOL, repo, changes={"permission_mode": "plan"}).silent


# ── No end that is not an answer ─────────────────────────────────────────────────────────


MALFORMED = (
    b"",
    b" \n",
    b"{",
    b"[1]",
    b'{"cwd": "/", "hook_event_name": "Stop"}',
    b'{"session_id": 1, "cwd": "/", "hook_event_name": "Stop"}',
    b'{"session_id": "\xff"}',
)


@pytest.mark.parametrize("given", MALFORMED)
def test_what_is_no_event_is_named(given):
    with pytest.raises(UsageError, match="a hook gets an event as JSON on standard input"):
        read_stop(given)


@BOTH
def test_what_is_no_event_blocks_and_not_for_ever(tmp_path, tool):
    repo = gated(tmp_path / "repo")
    answer = Answer(tool, hook(repo, tool, "--blocks", "1", given=b""))
    assert "a hook gets an event as JSON on standard input" in answer.reason
    answer = Answer(tool, hook(repo, tool, "--blocks", "1", given=b""))
    assert "NOT PROVEN" in answer.warning


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--wiat", "1s"], "unrecognized arguments: --wiat"),
        (["--blocks", "0"], "--blocks has to be at least 1"),
        (["--json"], "take it away"),
    ],
)
def test_a_mistake_in_the_settings_blocks_and_is_named(tmp_path, options, words):
    repo = gated(tmp_path / "repo", FAIL)
    assert words in stop(TOOL, repo, *options).reason


@BOTH
def test_an_event_with_another_contract_is_an_error_that_blocks_nothing(tmp_path, tool):
    repo = gated(tmp_path / "repo", FAIL)
    answer = stop(tool, repo, changes={"hook_event_name": "PreToolUse"})
    assert (
        answer.error
        == f"tenure: hook {tool} answers Stop and SubagentStop; take it out of PreToolUse\n"
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_blocks_and_the_run_goes_on(tmp_path, number):
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    call = start_hook(repo, TOOL, given=event(TOOL, "Stop", repo))
    until((repo / "out" / "began").exists, "the job runs")
    call.send_signal(number)
    out, err = call.communicate(timeout=60)
    assert (call.returncode, err) == (0, b"")
    assert "`tenure follow " in json.loads(out)["reason"]
    (repo / "out" / "go").touch()
    assert stop(TOOL, repo).silent
    assert len(tenure(repo, "runs", "--json").object["runs"]) == 1


def test_a_signal_before_the_event_is_read_blocks(tmp_path):
    repo = gated(tmp_path / "repo")
    read, write_end = os.pipe()
    call = start(repo, "hook", TOOL, stdin=read)
    os.close(read)
    until(lambda: _reads(call.pid), "it waits for its event")
    call.send_signal(signal.SIGTERM)
    out, err = call.communicate(timeout=60)
    os.close(write_end)
    assert (call.returncode, err) == (0, b"")
    assert "SIGTERM ended the command" in json.loads(out)["reason"]


def _reads(pid):
    """Whether a process sleeps in a read of a pipe."""
    with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
        return "pipe_read" in file.read()


# ── Not for ever ─────────────────────────────────────────────────────────────────────────


@BOTH
def test_an_agent_that_gets_nowhere_is_let_go_loudly(tmp_path, tool):
    repo = gated(tmp_path / "repo")
    write(repo, {"a.txt": "edited\n"})
    assert stop(tool, repo, "--blocks", "1").blocks
    answer = stop(tool, repo, "--blocks", "1", changes={"stop_hook_active": True})
    assert not answer.blocks
    assert answer.warning.startswith("tenure: NOT PROVEN. The agent was blocked 1 time in the")
    assert "a.txt (modified)" in answer.warning
    assert stop(tool, repo, "--blocks", "1").blocks, "the next turn begins anew"


def test_without_an_option_three_blocks_are_the_last():
    assert AgentSession("codex", None).blocks == 3
    assert parse(["hook", "codex"]).blocks == 3


def test_every_change_of_state_and_every_session_is_counted_alone(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    assert stop(TOOL, repo, "--blocks", "1").blocks
    assert stop(TOOL, repo, "--blocks", "1", name="SubagentStop").blocks
    assert stop(TOOL, repo, "--blocks", "1", changes={"session_id": "another"}).blocks
    commit(repo, {"b.txt": "another try\n"})
    assert stop(TOOL, repo, "--blocks", "1").blocks
    assert stop(TOOL, repo, "--blocks", "1").warning


def test_a_proof_ends_the_count(tmp_path):
    repo = gated(tmp_path / "repo")
    write(repo, {"a.txt": "edited\n"})
    assert stop(TOOL, repo, "--blocks", "1").blocks
    git(repo, "checkout", "-q", "a.txt")
    assert stop(TOOL, repo, "--blocks", "1").silent
    assert stop(TOOL, repo, "--blocks", "1").silent, "this time by the shortcut"
    write(repo, {"a.txt": "edited\n"})
    assert stop(TOOL, repo, "--blocks", "1").blocks


def test_where_nothing_can_be_counted_one_block_has_to_do(tmp_path):
    repo = gated(tmp_path / "repo", FAIL)
    (tmp_path / "file").touch()
    env = {"XDG_STATE_HOME": str(tmp_path / "file")}
    assert stop(TOOL, repo, env=env).blocks
    assert "NOT PROVEN" in stop(TOOL, repo, env=env, changes={"stop_hook_active": True}).warning


def test_blocks_in_a_row_are_counted_by_session_and_state(tmp_path):
    one, other = (Streak(str(tmp_path / "counts"), who) for who in ("one", "other"))
    assert [one.block("dirty", 0), one.block("dirty", 0), other.block("dirty", 0)] == [1, 2, 1]
    assert [one.block("failing", 0), one.block("failing", 0)] == [1, 2]
    one.end()
    one.end()
    assert [one.block("failing", 0), other.block("dirty", 0)] == [1, 2]


def test_a_count_that_is_torn_is_no_count(tmp_path):
    streak = Streak(str(tmp_path), "one")
    assert streak.block("dirty", 0) == 1
    (count,) = tmp_path.iterdir()
    count.write_bytes(b"")
    with pytest.raises(OSError, match="is no count of blocks"):
        streak.block("dirty", 0)


def test_counts_of_sessions_long_over_are_removed(tmp_path):
    now = 10_000_000 * 10**9
    for who, age in (("long over", STALE_SECONDS + 60), ("of last week", STALE_SECONDS - 60)):
        Streak(str(tmp_path), who).block("dirty", now)
        (count,) = [path for path in tmp_path.iterdir() if path.stat().st_mtime > now / 1e9]
        os.utime(count, (now / 1e9 - age, now / 1e9 - age))
    Streak(str(tmp_path), "new").block("dirty", now)
    assert len(list(tmp_path.iterdir())) == 2
