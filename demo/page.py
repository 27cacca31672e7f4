"""What the demo prints: chapters, commands with their output, checks, and one table at the end."""

import io
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

#: Lines are no wider, however wide the window is.
MOST_COLUMNS = 100

_FEWEST_COLUMNS = 40

_MARGIN = "   "


class StoryBroken(Exception):
    """Something the demo promises did not happen."""


class Page:
    """Writes lines that fit the window, of at most 100 columns. `shortened` is cut off the front of every path shown."""

    def __init__(self, shortened: str) -> None:
        self._shortened = shortened
        self._lock = threading.Lock()
        columns = shutil.get_terminal_size((MOST_COLUMNS, 24)).columns
        self._width = max(_FEWEST_COLUMNS, min(MOST_COLUMNS, columns))
        self._bold = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace", line_buffering=True)

    def chapter(self, title: str, *text: str) -> None:
        """A headline, and what the chapter is about."""
        print()
        print(f"\x1b[1m{title}\x1b[0m" if self._bold else title)
        print("─" * len(title))
        for paragraph in text:
            self.text(paragraph)

    def text(self, paragraph: str) -> None:
        """Prose."""
        print(textwrap.fill(paragraph, self._width - 1))

    def line(self, text: str = "", *, margin: str = _MARGIN) -> None:
        """A line of output as it is, broken only where it is too wide. Safe from any thread."""
        pieces = self._pieces(text.replace(self._shortened, ""), len(margin))
        with self._lock:
            for piece in pieces:
                print(f"{margin}{piece}".rstrip())

    def _pieces(self, text: str, taken: int) -> list[str]:
        """A text between words where it is wider than what `taken` columns leave of the window."""
        room = self._width - 1 - taken
        if len(text) <= room:
            return [text]
        indent = " " * (len(text) - len(text.lstrip()) + 4)
        return textwrap.wrap(
            text, room, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
        )

    def command(self, where: str, command: str) -> None:
        """A command as it is typed, with the directory it is typed in."""
        self.line(f"{where} $ {command}")

    def holds(self, what: str, condition: bool, otherwise: object = "") -> None:
        """Say that something holds.

        Raises:
            StoryBroken: it doesn't.
        """
        if not condition:
            raise StoryBroken(f"{what}: this does not hold. {otherwise}".rstrip())
        self.line(f"✓ {what}")

    @contextmanager
    def step(self, doing: str) -> Iterator[None]:
        """Something that takes a while: said before it begins, timed when it is over."""
        room_for_time = 8
        pieces = self._pieces(f"{doing} …", len(_MARGIN) + room_for_time)
        print("\n".join(f"{_MARGIN}{piece}" for piece in pieces), end=" ", flush=True)
        began = time.monotonic()
        try:
            yield
        except BaseException:
            print("no")
            raise
        print(f"{time.monotonic() - began:.1f} s")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Columns as wide as they have to be; all but the first to the right."""
        widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
        for row in (head, ["─" * width for width in widths], *rows):
            cells = [row[0].ljust(widths[0])]
            cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
            self.line("  ".join(cells))
