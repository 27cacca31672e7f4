"""Text in the cells of a terminal: how many it takes, and what of it fits."""

import unicodedata
from collections.abc import Sequence

#: In less than this nothing is laid out: a terminal breaks lines as well as we could.
FEWEST = 20

#: A cell of a table that is wider than this pushes out its own row and no other.
_WIDEST_COLUMN = 36

_WIDE_EMOJI = "\ufe0f"  # asks for the wide picture of the character before it


def width(text: str) -> int:
    """The cells that `text` takes, rather too many than too few where terminals disagree."""
    return len(text) if text.isascii() else sum(_cells(one) for one in text)


def _cells(character: str) -> int:
    if character == _WIDE_EMOJI:
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fit(text: str, cells: int) -> str:
    """`text` if it takes no more than `cells`, else its beginning and an ellipsis."""
    if width(text) <= cells:
        return text
    if cells < 1:
        return ""
    taken, kept = 0, []
    for character in text:
        taken += _cells(character)
        if taken > cells - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def padded(text: str, cells: int) -> str:
    """`text` in exactly `cells`."""
    shown = fit(text, cells)
    return shown + " " * (cells - width(shown))


def harmless(text: str) -> str:
    """`text` in one line, with nothing in it that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else " " for one in text)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, each column as wide as it has to be. What ends a row is of no column."""
    widths: dict[int, int] = {}
    for row in rows:
        for at, cell in enumerate(row[:-1]):
            if (taken := width(cell)) <= _WIDEST_COLUMN:
                widths[at] = max(taken, widths.get(at, 0))
    return [
        "  ".join(
            cell + " " * (widths.get(at, 0) - width(cell) if at < len(row) - 1 else 0)
            for at, cell in enumerate(row)
        )
        for row in rows
    ]


def folded(line: str, cells: int) -> list[tuple[str, int, int]]:
    """A line in rows of no more than `cells`: the indent of each, and which part of the line it has.

    It is broken at spaces. A word that is too long by itself, a path perhaps, stands whole on
    a row of its own, for whoever copies it; so does what stands in backquotes, if it fits.
    """
    if cells < FEWEST or "\n" in line or width(line) <= cells:
        return [("", 0, len(line))]
    hanging = _hanging(line, cells)
    rows: list[tuple[str, int, int]] = []
    indent, begin, end = "", 0, 0
    for word_begin, word_end in _words(line, cells - width(hanging)):
        if end and width(indent) + width(line[begin:word_end]) > cells:
            rows.append((indent, begin, end))
            indent, begin = hanging, word_begin
        end = word_end
    return [*rows, (indent, begin, end)]


def _words(line: str, room: int) -> list[tuple[int, int]]:
    """Where each word begins and ends, a command in backquotes being one if there is room."""
    found: list[tuple[int, int]] = []
    at = _next_word(line, 0)
    while at < len(line):
        end = _end_of_word(line, at)
        if line.count("`", at, end) % 2:
            closed = line.find("`", end)
            quoted = _end_of_word(line, closed) if closed >= 0 else end
            if width(line[at:quoted]) <= room:
                end = quoted
        found.append((at, end))
        at = _next_word(line, end)
    return found


def _next_word(line: str, at: int) -> int:
    while at < len(line) and line[at] == " ":
        at += 1
    return at


def _end_of_word(line: str, at: int) -> int:
    end = line.find(" ", at)
    return len(line) if end < 0 else end


def _hanging(line: str, cells: int) -> str:
    """What the rows after the first begin with.

    They stand under the last column that begins well before the right edge and has room for the
    longest word; else a little further in than the line. What is quoted goes on as quoted.
    """
    lead = _next_word(line, 0)
    if line.startswith("| ", lead):
        return f"{line[:lead]}|   "
    longest = max(map(width, line.split()), default=0)
    columns = [
        at
        for at in range(lead + 2, len(line))
        if line[at - 2 : at] == "  " and line[at] != " " and width(line[:at]) <= cells * 3 // 5
    ]
    for at in reversed(columns):
        if width(line[:at]) + longest <= cells:
            return " " * width(line[:at])
    return " " * (lead + 4)
