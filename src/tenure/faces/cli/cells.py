"""Text in the cells of a terminal: how many it takes, and what of it fits."""

import unicodedata

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
