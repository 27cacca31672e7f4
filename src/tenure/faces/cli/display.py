"""The progress display on a terminal: what was said scrolls by, and a frame below it is drawn anew.

It writes through the same queue as plain lines do: a terminal that is not read costs frames, never
a line and never the run. The cursor is never hidden and no mode is changed, so whatever ends
this process, a kill included, leaves a terminal that needs no repair.
"""

import os
import signal
from collections.abc import Callable

from tenure.faces.cli.board import Board
from tenure.faces.cli.cells import folded, width
from tenure.faces.cli.frame import Moment, Piece, frame, painted, part
from tenure.faces.cli.lines import Lines
from tenure.faces.cli.words import event_lines
from tenure.gate.jobs.output import tail
from tenure.gate.narration import AnyEvent, JobBegan, JobEnded, JobWaiting, Measured, Planned
from tenure.kernel.clock import Clock

#: Seconds between frames while nothing happens but time.
_BEAT = 0.25

#: How much of a job's output is read for its last line.
_LOOKED_AT = 4096

_TONES = {
    "passed": "good",
    "met": "good",
    "unrun": "quiet",
    "cancelled": "quiet",
    "inputs_moved": "doubt",
}

#: Where a job's output is, by run and requirement.
LogOf = Callable[[str, str], str]


class Display(Lines):
    """Lines that have a run's progress below them, until `end`."""

    def __init__(
        self,
        descriptor: int,
        log_of: LogOf,
        clock: Clock,
        *,
        colours: bool,
        size: Callable[[int], os.terminal_size] = os.get_terminal_size,
    ) -> None:
        super().__init__(descriptor, window=True, size=size)
        self.board = Board()
        self._log_of = log_of
        self._clock = clock
        self._colours = colours
        self._workers = len(os.sched_getaffinity(0))
        self._drawn: list[int] = []  #: the cells of each line of the frame that stands there
        self._heard = False

    def show(self, event: AnyEvent) -> None:
        """Take note of an event, and say what will still matter when the frame is gone."""
        self.board.take(event)
        if self.due is None:
            self._hear()
        self.due = self._clock.monotonic()
        for line in self._lines(event):
            self.tell_pieces(line)

    def tell_pieces(self, line: list[Piece]) -> None:
        """A line that stays, in its tones if there are colours."""
        rows = folded("".join(text for text, _ in line), self.columns())
        self.write(
            "".join(
                f"{indent}{painted(part(line, begin, end), self._colours)}\n"
                for indent, begin, end in rows
            )
        )

    def write(self, text: str) -> None:
        """Lines that stay; the frame makes room for them and comes back with the next beat."""
        super().write(self._erasing() + text)
        self._drawn = []

    def beat(self, now: float) -> None:
        """Draw the frame anew if it is time, there is room and we are in the foreground."""
        if self.due is None or now < self.due:
            return
        self.due = now + _BEAT
        if self.pending or not _in_foreground(self.descriptor):
            return
        moment = self._moment()
        lines = frame(self.board, moment, self._said)
        drawn = "".join(f"{painted(line, self._colours)}\x1b[K\r\n" for line in lines)
        erasing = self._erasing(moment.columns)
        super().write(erasing.removesuffix("\x1b[J") + drawn + "\x1b[J")
        self._drawn = [sum(width(text) for text, _ in line) for line in lines]

    def end(self) -> None:
        """Take the frame away for good."""
        if self._drawn:
            self.write("")
        self.due = None

    def _erasing(self, columns: int | None = None) -> str:
        """What puts the cursor where the frame began, and clears from there on.

        A window that became narrower has wrapped the lines, so they take more of its rows.
        """
        if not self._drawn:
            return ""
        cells = max(1, columns or self._moment().columns)
        rows = sum(max(1, -(-taken // cells)) for taken in self._drawn)
        return f"\r\x1b[{rows}A\x1b[J"

    def _moment(self) -> Moment:
        try:
            columns, rows = self._size(self.descriptor)
        except OSError:
            columns, rows = 0, 0
        return Moment(self._clock.now().wall_ns, columns, rows, self._workers)

    def _said(self, name: str) -> str:
        try:
            return tail(self._log_of(self.board.run, name), lines=1, max_bytes=_LOOKED_AT)
        except OSError:
            return ""

    def _lines(self, event: AnyEvent) -> list[list[Piece]]:
        match event:
            case JobBegan() | JobWaiting():
                return []  # the frame has it
            case JobEnded():
                return [_marked(line, event.outcome) for line in event_lines(event)]
            case Measured():
                return [_marked(line, event.measurement.verdict) for line in event_lines(event)]
            case Planned():
                return [[(line, "quiet")] for line in event_lines(event)]
            case _:
                return [[(line, "")] for line in event_lines(event)]

    def _hear(self) -> None:
        """Draw at once when the window changes, and below what was there when we go on after a stop."""
        if self._heard:
            return
        self._heard = True

        def resized(*_: object) -> None:
            self.due = 0.0 if self.due is not None else None

        def continued(*_: object) -> None:
            self._drawn = []
            resized()

        signal.signal(signal.SIGWINCH, resized)
        signal.signal(signal.SIGCONT, continued)


def _marked(line: str, outcome: str) -> list[Piece]:
    """A line whose mark, the first word, has a tone."""
    mark = line[:9]
    return [(mark, _TONES.get(outcome, "bad")), (line.removeprefix(mark), "")]


def _in_foreground(descriptor: int) -> bool:
    """Whether what we draw does not land among what somebody else shows."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return True  # not our controlling terminal, so it has no job control over us
