"""Cursors: a place in what happens in a turn, as text that a browser can keep."""

import re
from typing import NamedTuple

from tenure.runtime.errors import CursorUnknown
from tenure.runtime.model.json import digest

_MARK = 10  #: characters that tell turns apart
_SHAPE = re.compile(r"([0-9a-f]{10})-([0-9]{1,9})(?:-([0-9a-f]{8})-([0-9]{1,9}))?")


class Cursor(NamedTuple):
    """Behind the first `happened` happenings, and if a tape is named behind that piece of it."""

    happened: int = 0
    tape: str = ""
    piece: int = 0

    def text(self, turn: str) -> str:
        """As it is handed out for a turn."""
        place = f"{_mark(turn)}-{self.happened}"
        return f"{place}-{self.tape}-{self.piece}" if self.tape else place


def read_cursor(text: str | None, turn: str) -> Cursor:
    """A cursor of a turn, its start for None. Raises: CursorUnknown."""
    if text is None:
        return Cursor()
    found = _SHAPE.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise CursorUnknown(cursor=text, turn=turn, what="it was not made by an observation")
    mark, happened, tape, piece = found.groups()
    if mark != _mark(turn):
        raise CursorUnknown(cursor=text, turn=turn, what="it belongs to another turn")
    return Cursor(int(happened), tape or "", int(piece or 0))


def _mark(turn: str) -> str:
    return digest("cursor", turn)[:_MARK]
