"""The lines of a report: on a terminal laid out in its window, anywhere else as they are.

What goes to a pipe or a file keeps one line for one thing, so that it can be searched.
"""

import os
from collections.abc import Callable, Mapping

from tenure.faces.cli.cells import folded
from tenure.gate.output import Output


def fits(environ: Mapping[str, str]) -> bool:
    """Whether a terminal is one to draw on: it can move its cursor, and no CI records it."""
    if environ.get("CI") not in (None, "", "0", "false"):
        return False
    return environ.get("TERM") not in (None, "", "dumb")


class Whole(str):
    """A line that people copy, such as a command: it is never laid out."""

    __slots__ = ()


class Lines(Output):
    """One stream of lines. `window`: whether there may be one to lay them out in."""

    def __init__(
        self,
        descriptor: int,
        *,
        window: bool,
        size: Callable[[int], os.terminal_size] = os.get_terminal_size,
    ) -> None:
        super().__init__(descriptor)
        self._window = window
        self._size = size

    def tell(self, line: str) -> None:
        """A line that stays."""
        self.write("".join(f"{row}\n" for row in laid_out(line, self.columns())))

    def columns(self) -> int:
        """How wide the window is; 0 where there is none."""
        try:
            return self._size(self.descriptor).columns if self._window else 0
        except OSError:
            return 0


def laid_out(line: str, columns: int) -> list[str]:
    """The rows of a line in a window; of no window, with 0 columns, the line."""
    if isinstance(line, Whole) or not columns:
        return [line]
    return [
        indent + one[begin:end]
        for one in line.expandtabs().split("\n")
        for indent, begin, end in folded(one, columns)
    ]
