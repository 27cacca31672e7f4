"""What the demo prints: chapters, commands with their output, checks, and one table at the end."""

import io
import os
import sys
import textwrap
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

WIDTH = 100

_MARGIN = "   "


class StoryBroken(Exception):
    """Something the demo promises did not happen."""


class Page:
    """Writes lines of at most 100 columns. `shortened` is cut off the front of every path shown."""

    def __init__(self, shortened: str) -> None:
        self._shortened = shortened
        self._lock = threading.Lock()
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
        print(textwrap.fill(paragraph, WIDTH - 1))

    def line(self, text: str = "", *, margin: str = _MARGIN) -> None:
        """A line of output as it is, broken only where it is too wide. Safe from any thread."""
        text = text.replace(self._shortened, "")
        room = WIDTH - 1 - len(margin)
        indent = " " * (len(text) - len(text.lstrip()) + 4)
        pieces = [text]
        if len(text) > room:
            pieces = textwrap.wrap(
                text, room, subsequent_indent=indent, break_on_hyphens=False, drop_whitespace=True
            )
        with self._lock:
            for piece in pieces:
                print(f"{margin}{piece}".rstrip())

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
        print(f"{_MARGIN}{doing} … ", end="", flush=True)
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
