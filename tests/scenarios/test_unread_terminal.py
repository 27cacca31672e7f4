"""A follower whose terminal stops reading, for longer than the lease of the run it follows."""

import fcntl
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.scenarios.caller import Caller
from tests.scenarios.stage import Stage
from tests.scenarios.steps import ACTS, Step, play
from tests.scenarios.terminal import Terminal
from tests.waiting import until


@pytest.mark.parametrize("act", ACTS)
def test_a_run_passes_whose_terminal_is_paused_past_the_lease_at_any_step(act: str, tmp_path: Path):
    play(_paused_terminal, ACTS[act], Stage, tmp_path)


def _paused_terminal(stage: Stage, step: Step) -> None:
    stage.hold(*step.held)
    with Terminal() as terminal:
        terminal.read()
        caller = stage.tenure("done", stdout=terminal.slave, faults=stage.pause(step.point))
        stage.await_point(step.point)
        terminal.pause()
        stage.resume(step.point)
        _past_one_ttl(stage)
        stage.let_go(*step.held)
        _settled_while_nobody_reads(stage, caller)
        terminal.go_on()
        caller.expect(0)
        assert terminal.text().count("\nmet: ") == 1
    stage.everybody_is_gone()


def test_a_run_passes_whose_terminal_is_full_from_beginning_to_end(tmp_path: Path):
    """With many jobs, each of which has something to say, and one that outlasts the lease."""
    names = [f"job-{number:03}" for number in range(40)]
    stage = Stage(tmp_path, jobs={"suite": "check", **dict.fromkeys(names, "test")})
    stage.hold("suite")
    with Terminal() as terminal:
        terminal.fill()
        caller = stage.tenure("done", stdout=terminal.slave)
        stage.await_job("suite")
        _past_one_ttl(stage)
        with stage.store() as store:
            (attempt,) = store.unfinished()
            assert store.licence(attempt) is None, "it renewed all the while"
        stage.let_go("suite")
        _settled_while_nobody_reads(stage, caller)
        terminal.read()
        caller.expect(0)
        text = terminal.text()
    assert text.count("\nmet: ") == 1
    for name in names:
        assert f"ok      {name}  passed" in text, "nothing that was said is lost"
    stage.everybody_is_gone()


def test_a_killed_reader_costs_the_run_nothing(tmp_path: Path):
    """The terminal goes away, as a closed window does: the follower is hung up, the run goes on."""
    stage = Stage(tmp_path)
    stage.hold("suite")
    with Terminal() as terminal:
        terminal.fill()
        caller = stage.tenure("done", stdout=terminal.slave)
        stage.await_job("suite")
        caller.send(signal.SIGHUP)
    caller.expect(128 + signal.SIGHUP)
    stage.let_go("suite")
    until(lambda: stage.books().proofs, "the run goes on to its Proof")
    stage.check()
    stage.everybody_is_gone()


@pytest.mark.soak
def test_a_run_under_script_and_a_sleeping_reader_passes(tmp_path: Path):
    """As it was reported: script(1) around the command, and its pipe not read for a while."""
    names = [f"job-{number:03}-of-many-that-have-something-to-say" for number in range(200)]
    stage = Stage(tmp_path, jobs={"suite": "check", **dict.fromkeys(names, "test")})
    stage.hold("suite")
    with subprocess.Popen(
        ["script", "--quiet", "--return", "--command", "tenure done", "/dev/null"],
        cwd=stage.top,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    ) as script:
        assert script.stdout is not None
        fcntl.fcntl(script.stdout, fcntl.F_SETPIPE_SZ, 4096)
        stage.await_job("suite")
        _past_one_ttl(stage)
        stage.let_go("suite")
        until(lambda: stage.books().proofs, "the run settles")
        stage.check()
        assert script.poll() is None, "it waits for its reader, the run did not"
        text = script.stdout.read().decode()
    assert script.returncode == 0
    assert text.count("\nmet: ") == 1
    stage.everybody_is_gone()


def _past_one_ttl(stage: Stage) -> None:
    then = time.monotonic() + stage.ttl
    until(lambda: time.monotonic() > then, "one ttl goes by")


def _settled_while_nobody_reads(stage: Stage, caller: Caller) -> None:
    until(lambda: stage.books().proofs, "the run settles")
    books = stage.check()
    assert [row["outcome"] for row in books.attempts] == ["passed"]
    assert len(books.proofs) == 1
    assert not caller.over, "the command waits for its terminal, the run did not"
