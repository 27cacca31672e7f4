"""The display of the real command on a real terminal, to its end and to every other end."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.caller import Caller
from tests.scenarios.stage import HOUR, Stage
from tests.scenarios.terminal import Terminal
from tests.waiting import until

CTRL_C = b"\x03"

#: A terminal of its own that controls the command, as in a window.
OWN = ("setsid", "--ctty")
FANCY = {"TERM": "xterm-256color"}


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    with Terminal(140, 30) as made:
        made.read()
        yield made


def begin(stage: Stage, terminal: Terminal, *arguments: str, **how: str) -> Caller:
    """Start a command in the terminal."""
    return stage.tenure(
        *(arguments or ("done",)),
        stdin=terminal.slave,
        stdout=terminal.slave,
        through=OWN,
        env={**FANCY, **how},
    )


def frame(terminal: Terminal) -> list[str]:
    return [line for line in terminal.screen() if line[2:3] in "⠋⠙⠹⠸⠼⠴⠦⠧━─" and line.strip()]


def ended(terminal: Terminal, last: str) -> list[str]:
    """The screen once its last line is there: no frame on it, and a cursor for whoever types next."""
    until(lambda: terminal.screen()[-1].startswith(last), f"a last line {last!r}")
    assert terminal.clean()
    assert frame(terminal) == []
    return terminal.screen()


def test_a_run_is_shown_while_it_goes_on_and_leaves_a_clean_screen(tmp_path, terminal):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    caller = begin(stage, terminal, NO_COLOR="1")
    stage.await_job("suite")
    until(lambda: any("suite" in line for line in frame(terminal)), "the job is in the frame")
    assert any(line.strip().startswith("━") for line in frame(terminal))
    stage.let_go("suite")
    caller.expect(0)
    seen = ended(terminal, "met: ")
    assert [line for line in seen if line.startswith("met: ")] == seen[-1:]
    for name in ("format", "lint", "suite"):
        assert sum(f"ok      {name}  passed" in line for line in seen) == 1
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.text()), "no colour where none is wanted"
    stage.everybody_is_gone()


def test_every_end_leaves_a_clean_screen(tmp_path, terminal):
    """Interrupted, and told what became of it; the cursor is there and the frame is not."""
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    caller = begin(stage, terminal)
    stage.await_job("suite")
    until(lambda: frame(terminal), "there is a frame")
    terminal.press(CTRL_C)
    caller.expect(130)
    ended(terminal, "cancelled: ")
    stage.everybody_is_gone()


def test_a_killed_command_leaves_a_terminal_that_needs_no_repair(tmp_path, terminal):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    caller = begin(stage, terminal)
    stage.await_job("suite")
    until(lambda: frame(terminal), "there is a frame")
    caller.kill()
    until(terminal.clean, "the cursor is below the last frame, and visible")
    stage.let_go("suite")
    until(lambda: stage.books().proofs, "the run goes on to its Proof")
    stage.everybody_is_gone()


def test_a_terminal_that_stops_reading_costs_frames_and_nothing_else(tmp_path, terminal):
    stage = Stage(tmp_path)
    stage.hold("suite")
    caller = begin(stage, terminal)
    stage.await_job("suite")
    until(lambda: frame(terminal), "there is a frame")
    terminal.pause()
    stage.let_go("suite")
    until(lambda: stage.books().proofs, "the run settles")
    assert not caller.over, "the command waits for its terminal, the run did not"
    terminal.go_on()
    caller.expect(0)
    ended(terminal, "met: ")
    stage.everybody_is_gone()


def test_a_window_may_change_its_size_at_any_time(tmp_path, terminal):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    caller = begin(stage, terminal)
    stage.await_job("suite")
    for columns, rows in ((40, 10), (12, 3), (200, 50), (1, 1), (140, 30)):
        terminal.resize(columns, rows)
    until(lambda: any("suite" in line for line in frame(terminal)), "it is shown again")
    stage.let_go("suite")
    caller.expect(0)
    stage.everybody_is_gone()


@pytest.mark.parametrize("plain", [{"TERM": "dumb"}, {"TERM": "xterm", "CI": "true"}])
def test_a_terminal_without_a_display_gets_plain_lines(tmp_path, terminal, plain):
    stage = Stage(tmp_path, lease=HOUR)
    caller = begin(stage, terminal, **plain)
    caller.expect(0)
    text = terminal.text()
    assert "\x1b" not in text
    assert "  start   suite\n" in text
    stage.everybody_is_gone()


def test_a_machine_gets_one_object_on_a_terminal_too(tmp_path, terminal):
    stage = Stage(tmp_path, lease=HOUR)
    begin(stage, terminal, "done", "--json").expect(0)
    assert json.loads(terminal.text())["outcome"] == "met"
    stage.everybody_is_gone()


def test_a_pipe_gets_not_one_byte_of_a_display(tmp_path: Path):
    stage = Stage(tmp_path, lease=HOUR)
    caller = stage.tenure("done", env=FANCY)
    caller.expect(0)
    assert "\x1b" not in caller.out
    assert "\r" not in caller.out
    follower = stage.tenure("follow", *stage.run_ids(), env=FANCY)
    follower.expect(0)
    assert "\x1b" not in follower.out
    stage.everybody_is_gone()


def test_a_follower_shows_whom_it_follows(tmp_path, terminal):
    stage = Stage(tmp_path, lease=HOUR)
    stage.hold("suite")
    starter = stage.done()
    stage.await_job("suite")
    (run,) = stage.run_ids()
    caller = begin(stage, terminal, "done", "-C", str(stage.side("two")))
    told = f"  following run {run} in {stage.top}"
    until(lambda: told in terminal.screen(), "whom we follow")
    stage.let_go("suite")
    starter.expect(0)
    caller.expect(0)
    ended(terminal, "met: ")
    stage.everybody_is_gone()
