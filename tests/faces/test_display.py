"""The display on a terminal that is emulated: what stays, what is drawn anew, and what is never drawn."""

import os
import signal
from collections.abc import Iterator

import pytest

from tenure.faces.cli.display import Display
from tenure.faces.cli.lines import fits
from tenure.gate.narration import Began, JobBegan, JobEnded, Planned
from tenure.kernel.clock import Instant
from tests.scenarios.terminal import Terminal
from tests.waiting import until

SECOND = 1_000_000_000


class Hand:
    """A clock moved by hand."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> Instant:
        ns = int(self.seconds * SECOND)
        return Instant(boot="b", boot_ns=ns, awake_ns=ns, wall_ns=ns)


class Seat:
    """A display, its clock, and the terminal it is on."""

    def __init__(self, terminal: Terminal, folder: str) -> None:
        self.terminal = terminal
        self.clock = Hand()
        self.folder = folder
        self.display = Display(
            terminal.slave, lambda run, name: f"{folder}/{name}.out", self.clock, colours=False
        )

    def wall_ns(self) -> int:
        return self.clock.now().wall_ns

    def begin(self, *names: str) -> None:
        """A run with these jobs, all of which began."""
        began = Began(run="r1", worktree="/w", commit="c" * 40, branch=None, wall_ns=self.wall_ns())
        self.display.show(began)
        self.display.show(Planned(reused={}, execute=dict.fromkeys(names, ("new",)), estimate={}))
        for name in names:
            self.display.show(JobBegan(requirement=name, wall_ns=self.wall_ns()))

    def pass_time(self, seconds: float) -> None:
        self.clock.seconds += seconds
        self.display.beat(self.clock.seconds)

    def sees(self, *lines: str) -> None:
        """These are the lines of the screen, as soon as all that was written has come through."""
        try:
            until(lambda: self.terminal.screen() == list(lines), "the screen", seconds=10)
        except AssertionError:
            assert self.terminal.screen() == list(lines)


@pytest.fixture
def seat(tmp_path) -> Iterator[Seat]:
    before = {number: signal.getsignal(number) for number in (signal.SIGWINCH, signal.SIGCONT)}
    with Terminal(60, 12) as terminal:
        terminal.read()
        yield Seat(terminal, str(tmp_path))
    for number, handler in before.items():
        signal.signal(number, handler)


HEAD = ("run r1: cccccccccccc in /w", "  run     lint  (new)", "  run     unit  (new)")


def test_what_was_said_stays_above_and_the_frame_is_drawn_over_itself(seat, tmp_path):
    seat.begin("lint", "unit")
    (tmp_path / "unit.out").write_text("collecting\ntest_a.py \x1b[32m..\x1b[0m\n")
    seat.pass_time(0)
    seat.sees(*HEAD, "  ⠋ lint  0 s", "  ⠋ unit  0 s             test_a.py ..", "  0 of 2  0 s")
    seat.pass_time(1.25)
    seat.display.show(JobEnded(requirement="lint", outcome="passed", seconds=1.2))
    seat.pass_time(0)
    seat.sees(
        *HEAD,
        "  ok      lint  passed in 1.2 s",
        "  ⠴ unit  1 s             test_a.py ..",
        "  1 of 2  1 s",
    )
    seat.display.end()
    seat.sees(*HEAD, "  ok      lint  passed in 1.2 s")
    assert seat.terminal.clean()
    assert seat.display.due is None


def test_a_long_line_is_broken_at_words_above_the_frame_that_follows(seat, tmp_path):
    seat.begin("lint", "unit")
    detail = "it exited with 1, which is more than the window is wide enough to say"
    seat.display.show(JobEnded(requirement="lint", outcome="failed", seconds=1.0, detail=detail))
    seat.sees(
        *HEAD,
        "  XX      lint  failed in 1.0 s  it exited with 1, which is",
        "                                 more than the window is",
        "                                 wide enough to say",
    )


def test_between_beats_nothing_is_written(seat):
    seat.begin("lint", "unit")
    seat.pass_time(0)
    written = _count(seat.display)
    seat.pass_time(0.1)
    assert written() == 0, "too early"
    seat.pass_time(0.25)
    assert written() > 0


def test_a_terminal_that_is_not_read_misses_frames_and_no_line(seat):
    seat.terminal.pause()
    seat.begin("lint", "unit")
    for _ in range(100):
        seat.pass_time(0.25)
    seat.display.show(JobEnded(requirement="lint", outcome="passed", seconds=1.0))
    seat.display.end()
    assert seat.display.pending
    assert len(seat.display._queue) < 1000, "what waits is lines, and no frame but the last"
    seat.terminal.go_on()
    until(lambda: seat.display.pump() or not seat.display.pending, "it is written")
    seat.sees(*HEAD, "  ok      lint  passed in 1.0 s")


def test_a_window_that_became_narrower_is_cleared_of_its_wrapped_lines(seat):
    seat.begin("lint-of-a-long-name", "unit")
    seat.pass_time(0)
    sent = _sent(seat.display)
    seat.terminal.resize(30, 12)
    seat.pass_time(0.25)
    assert b"".join(sent).startswith(b"\r\x1b[5A"), "38 and 38 cells take two rows each, and 13 one"
    seat.terminal.resize(60, 12)
    sent.clear()
    seat.pass_time(0.25)
    assert b"".join(sent).startswith(b"\r\x1b[3A")


def test_a_window_without_room_shows_lines_alone(seat):
    seat.terminal.resize(60, 1)
    seat.begin("lint", "unit")
    sent = _sent(seat.display)
    seat.pass_time(0.25)
    assert b"".join(sent) == b"\x1b[J"


def test_whoever_goes_on_after_a_stop_draws_below_what_was_written_meanwhile(seat):
    seat.begin("lint", "unit")
    seat.pass_time(0)
    os.write(seat.terminal.slave, b"$ fg\r\n")  # the shell, while we were stopped
    os.kill(os.getpid(), signal.SIGCONT)
    assert seat.display.due == 0.0, "at once"
    seat.pass_time(0)
    frame = ("  ⠋ lint  0 s", "  ⠋ unit  0 s", "  0 of 2  0 s")
    seat.sees(*HEAD, *frame, "$ fg", *frame)


def test_a_changed_window_is_drawn_at_once(seat):
    seat.begin("lint")
    seat.pass_time(0)
    assert seat.display.due > seat.clock.seconds
    os.kill(os.getpid(), signal.SIGWINCH)
    assert seat.display.due == 0.0


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm", "CI": "0"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True),
        ({"TERM": "xterm", "CI": "true"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": ""}, False),
        ({}, False),
    ],
)
def test_a_display_is_for_terminals_that_can_and_people_who_look(environ, wanted):
    assert fits(environ) is wanted


def _sent(display: Display) -> list[bytes]:
    """Everything that the display queues from now on, instead of writing it."""
    sent: list[bytes] = []

    def pump() -> None:
        sent.append(bytes(display._queue))
        display._queue.clear()

    setattr(display, "pump", pump)  # noqa: B010 - a method may not be assigned
    return sent


def _count(display: Display):
    sent = _sent(display)
    return lambda: sum(map(len, sent))
