"""The lines of a report, laid out in a window, and left alone where there is none."""

import os
import subprocess

import pytest

from tenure.faces.cli.cells import aligned, width
from tenure.faces.cli.lines import Lines, Whole, laid_out
from tests.faces.calls import TENURE, environment, gated, job, tenure
from tests.gate.repos import git
from tests.scenarios.terminal import Terminal
from tests.waiting import until

# ── One line in a window ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("as wide as a window of thirty.", ["as wide as a window of thirty."]),
        (
            "no word of this is ever broken in two",
            ["no word of this is ever broken", "    in two"],
        ),
        (
            "  ok      lint  passed in 1.0 s and so on",
            ["  ok      lint  passed in 1.0", "                s and so on"],
        ),
        (
            "    deep in a list there is less room",
            ["    deep in a list there is", "        less room"],
        ),
        (
            "    | what a job said stays marked as such",
            ["    | what a job said stays", "    |   marked as such"],
        ),
        (
            "see /a/path/that/is/longer/than/any/window for it",
            ["see", "    /a/path/that/is/longer/than/any/window", "    for it"],
        ),
        (
            "on a terminal it is `tenure done` that asks",
            ["on a terminal it is", "    `tenure done` that asks"],
        ),
        (
            "`what is quoted and longer than a window` is broken",
            ["`what is quoted and longer", "    than a window` is broken"],
        ),
        (
            "漢字漢字漢字 漢字漢字漢字 漢字字",
            ["漢字漢字漢字 漢字漢字漢字", "    漢字字"],
        ),
        ("", [""]),
    ],
)
def test_a_line_is_broken_at_words_and_goes_on_further_in(line, rows):
    assert laid_out(line, 30) == rows


def test_a_column_without_room_for_its_longest_word_is_not_kept_to():
    line = "run ab12  done  running  in /home/ada/click/one/more"
    assert laid_out(line, 30) == ["run ab12  done  running  in", "    /home/ada/click/one/more"]


@pytest.mark.parametrize("columns", [0, 1, 19])
def test_without_a_window_or_in_one_too_small_a_line_stays_one(columns):
    assert laid_out("a line of " + "many words " * 20, columns) == [
        "a line of " + "many words " * 20
    ]


def test_what_is_copied_is_left_to_the_terminal():
    command = "(cd /home/ada/click && FORCE_COLOR=1 pytest -q tests)"
    assert laid_out(Whole(command), 30) == [command]


def test_nothing_is_lost_and_no_row_is_too_wide():
    words = [f"{'w' * (at % 13 + 1)}" for at in range(200)]
    for columns in range(20, 120):
        rows = laid_out(f"  {words[0]}  {' '.join(words[1:])}", columns)
        assert " ".join(rows).split() == words
        assert max(map(width, rows)) <= columns


# ── Columns ──────────────────────────────────────────────────────────────────────────────


def test_a_column_is_as_wide_as_it_has_to_be():
    assert aligned([("a1", "standards", "x"), ("b", "done", "long enough"), ("c", "")]) == [
        "a1  standards  x",
        "b   done       long enough",
        "c   ",
    ]


def test_a_cell_that_is_far_too_wide_pushes_out_its_own_row_alone():
    wide = "w" * 37
    assert aligned([("a", "x"), (wide, "y")]) == ["a  x", f"{wide}  y"]


# ── Where it is decided ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("window", "rows"), [(True, 2), (False, 1)])
def test_lines_are_laid_out_on_a_terminal_if_it_may_be_one(window, rows):
    line = "twenty-two and then as much again"
    with Terminal(24, 9) as terminal:
        terminal.read()
        lines = Lines(terminal.slave, window=window)
        lines.tell(line)
        until(lambda: len("".join(terminal.screen())) >= len(line), "it is written", seconds=10)
        broken = terminal.screen() == ["twenty-two and then as", "    much again"]
        assert broken is (rows == 2)


def test_in_a_pipe_a_line_is_a_line(tmp_path):
    read, write = os.pipe()
    Lines(write, window=True).tell("word " * 100)
    assert os.read(read, 1000) == b"word " * 100 + b"\n"


def test_a_report_is_laid_out_on_a_terminal_and_not_in_a_pipe(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "echo one two three four five six seven; exit 1"))
    piped = tenure(repo, "done").out.splitlines()
    assert "    | one two three four five six seven" in piped
    seen = on_a_terminal(repo, 30)
    assert "    | one two three four five" in seen
    assert "    |   six seven" in seen


def test_the_shortcut_lays_out_its_line_as_well(tmp_path):
    repo = gated(tmp_path / "repo")
    git(repo, "checkout", "-q", "-b", "a-branch-of-a-long-name")
    first = tenure(repo, "done").out.splitlines()[-1]
    assert tenure(repo, "done").out == f"{first}\n"
    assert on_a_terminal(repo, 40) == laid_out(first, 40)
    assert on_a_terminal(repo, 40, CI="1") != laid_out(first, 40)


def on_a_terminal(repo, columns, **variables):
    """What stands on a terminal after `done`."""
    with Terminal(columns, 40) as terminal:
        terminal.read()
        subprocess.run(
            [TENURE, "done"],
            cwd=repo,
            env=environment({"TERM": "xterm", **variables}),
            stdin=terminal.slave,
            stdout=terminal.slave,
            stderr=terminal.slave,
            check=False,
        )
        until(lambda: "met: " in "\n".join(terminal.screen()), "the verdict", seconds=10)
        return terminal.screen()
