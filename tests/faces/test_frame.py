"""What a frame of the progress display shows, line by line, and that it always fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.faces.cli.board import Board
from tenure.faces.cli.cells import fit, harmless, padded, width
from tenure.faces.cli.frame import Moment, elapsed, frame, painted, remaining
from tenure.gate.narration import AnyEvent, Began, JobBegan, JobEnded, JobWaiting, Planned, Waiting

SECOND = 1_000_000_000
NOON = 1_000 * SECOND  # a moment at which the spinner shows its first picture

PLANNED = Planned(
    reused={"format": "r0", "types": "r0"},
    execute={"lint": ("new",), "docs": ("new",), "unit": ("new",), "e2e": ("new",)},
    estimate={"lint": 4.0, "docs": 2.0, "unit": 40.0, "e2e": 30.0},
    stages={"lint": "check", "docs": "check", "unit": "test", "e2e": "test"},
)


def began(run: str = "r1", worktree: str = "/w") -> Began:
    then = NOON - 14 * SECOND
    return Began(run=run, worktree=worktree, commit="c" * 40, branch=None, wall_ns=then)


def board(*events: AnyEvent) -> Board:
    found = Board()
    for event in events:
        found.take(event)
    return found


def job_began(name: str, seconds_ago: int) -> JobBegan:
    return JobBegan(requirement=name, wall_ns=NOON - seconds_ago * SECOND)


def job_ended(name: str, outcome: str = "passed") -> JobEnded:
    return JobEnded(requirement=name, outcome=outcome, seconds=1.0)


def lines(found: Board, columns: int = 100, rows: int = 24, workers: int = 2, **said: str):
    moment = Moment(NOON, columns, rows, workers)
    return [painted(line, False) for line in frame(found, moment, lambda name: said.get(name, ""))]


def test_a_run_in_the_middle_shows_what_runs_how_far_it_is_and_what_is_to_come():
    found = board(
        began(),
        PLANNED,
        job_began("lint", 13),
        job_ended("lint"),
        job_began("docs", 9),
        job_began("unit", 12),
        job_ended("docs", "failed"),
        job_began("e2e", 3),
    )
    assert lines(found, unit="tests/test_a.py ....", e2e="loading") == [
        "  ⠋ unit  test   12 s of 40 s    tests/test_a.py ....",
        "  ⠋ e2e   test   3 s of 30 s     loading",
        "  ━━━━━━━━━━──────────  2 of 4, 1 not passed  14 s, about 28 s left  2 reused",
    ]


def test_what_is_to_come_is_named_and_cut_where_the_window_ends():
    found = board(began(), PLANNED, job_began("lint", 1))
    assert lines(found, columns=72) == [
        "  ⠋ lint  check  1 s of 4 s      ",
        "  ────────────────────  0 of 4  14 s, about 40 s left  2 reused  to co…",
    ]
    assert lines(found, columns=40)[-1] == "  0 of 4  14 s, about 40 s left  2 reu…"


def test_a_run_that_has_no_plan_yet_says_what_it_waits_for():
    assert lines(board()) == ["  ⠋ reading"]
    assert lines(board(began())) == ["  ⠋ reading  14 s"]
    waiting = board(began(), Waiting(reason="the checkout is in use by run r0", other="r0"))
    assert lines(waiting) == ["  ⠋ waiting: the checkout is in use by run r0  14 s"]
    assert lines(board(began(), Waiting(reason="x"), PLANNED))[0].endswith("e2e")


def test_whom_we_follow_is_said_for_as_long_as_we_do():
    found = board(
        Waiting(reason="run r1 judges the same candidate", other="r1"),
        began(worktree="/w/two"),
        PLANNED,
        job_began("lint", 1),
    )
    assert lines(found)[0] == "  following run r1 in /w/two"
    assert "following" not in "".join(lines(board(began(), PLANNED)))
    found.take(began(run="r2"))
    assert lines(found) == ["  ⠋ reading  14 s"], "a run that begins takes its place"


def test_a_job_that_waits_says_for_what_and_who_has_it():
    wait = JobWaiting(
        requirement="e2e",
        wanted="slot heavy",
        places=1,
        holders=("unit of run r7 in /w/two",),
        runs=("r7",),
        wall_ns=NOON - 8 * SECOND,
    )
    found = board(began(), PLANNED, job_began("lint", 1), wait)
    assert lines(found)[1] == "  · e2e   8 s  waits for slot heavy: unit of run r7 in /w/two"
    found.take(job_began("e2e", 2))
    assert lines(found)[1].startswith("  ⠋ e2e   test   2 s of 30 s")


def test_a_window_with_little_room_keeps_the_line_that_says_how_far_it_is():
    found = board(began(), PLANNED, *(job_began(name, 5) for name in PLANNED.execute))
    assert len(lines(found, rows=24)) == 5
    assert [line.split()[0] for line in lines(found, rows=5)] == ["⠋", "⠋", "and", "─" * 20]
    assert lines(found, rows=5)[2] == "    and 2 more"
    assert len(lines(found, rows=2)) == 1
    assert lines(found, rows=1) == []
    assert lines(found, columns=20) == []
    assert lines(found, columns=0, rows=0) == []


def test_however_many_jobs_run_the_frame_stays_small():
    names = [f"job-{number}" for number in range(64)]
    plan = Planned(reused={}, execute=dict.fromkeys(names, ()), estimate={})
    found = board(began(), plan, *(job_began(name, 1) for name in names))
    assert len(lines(found, rows=200)) == 12
    assert lines(found, rows=200)[10] == "    and 54 more"


def test_the_rest_is_estimated_only_where_everything_is_known():
    moment = Moment(NOON, 80, 24, 2)
    assert remaining(board(began(), PLANNED), moment) == 40.0, "the longest"
    assert remaining(board(began(), PLANNED), Moment(NOON, 80, 24, 1)) == 76.0, "one at a time"
    late = board(began(), PLANNED, job_began("unit", 100), *map(job_ended, ("lint", "docs", "e2e")))
    assert remaining(late, moment) == 0.0, "longer than last time"
    unknown = Planned(reused={}, execute={"a": (), "b": ()}, estimate={"a": 1.0})
    assert remaining(board(began(), unknown), moment) is None
    assert remaining(board(began(), unknown, job_ended("b")), moment) == 1.0


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.9, "0 s"), (59.9, "59 s"), (60, "1:00"), (3599, "59:59"), (3661, "1:01:01")],
)
def test_a_time_that_runs_is_shown_to_the_second(value, shown):
    assert elapsed(value) == shown


def test_a_clock_that_was_set_back_shows_no_negative_time():
    found = board(began(), PLANNED, JobBegan(requirement="lint", wall_ns=NOON + 60 * SECOND))
    assert lines(found)[0].startswith("  ⠋ lint  check  0 s of 4 s")


def test_wide_characters_count_for_what_they_take():
    assert width("日本") == 4
    assert width("e\u0301") == 1, "a letter and its accent"
    assert fit("日本語", 4) == "日…", "half a character is never shown"
    assert fit("abc", 3) == "abc"
    assert fit("abcd", 3) == "ab…"
    assert fit("abcd", 0) == ""
    assert padded("日本", 6) == "日本  "
    assert padded("日本語", 4) == "日… "


def test_nothing_is_shown_that_a_terminal_would_obey():
    assert harmless("a\x1b[2Jb\tc\u202ed") == "a [2Jb c d"
    found = board(began(), PLANNED, job_began("lint", 1))
    assert "\x1b" not in "".join(lines(found, lint="\x1b]0;title\x07 50%\r"))


@given(st.text(), st.integers(0, 60))
def test_what_was_cut_fits(text, cells):
    assert width(fit(text, cells)) <= cells


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 40))
def test_a_frame_fits_its_window_whatever_a_job_says(said, columns, rows):
    found = board(began(), PLANNED, job_began("lint", 1), job_began("unit", 1))
    drawn = lines(found, columns=columns, rows=rows, lint=said, unit=said)
    assert len(drawn) < max(rows, 1)
    assert all(width(line) < columns for line in drawn)


def test_colours_change_nothing_but_the_colour():
    (row, summary) = frame(
        board(began(), PLANNED, job_began("lint", 1)), Moment(NOON, 100, 24, 2), lambda _: "x"
    )
    assert painted(row, True).startswith("\x1b[36m  ⠋ \x1b[0mlint\x1b[2m  check\x1b[0m")
    assert "\x1b" not in painted(summary, False)
