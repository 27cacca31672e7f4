"""Decimal numbers as they are written: read exactly, added exactly, never through a float.

A value travels as its text, so that what was judged is what is shown and stored. There is
no rounding anywhere.
"""

from decimal import Clamped, Context, Decimal, Inexact, InvalidOperation, Overflow, Rounded
from typing import Final

from tenure.gate.errors import UsageError

#: Digits before the point, and after it. Nothing that is measured needs more, and with a bound sums are exact.
DIGITS: Final = 50

_CHARACTERS = frozenset("0123456789+-.eE")
_LONGEST = 200

_EXACT = Context(prec=3 * DIGITS, traps=[Clamped, Inexact, InvalidOperation, Overflow, Rounded])


def number(text: str) -> str:
    """The one way to write the number that `text` writes: `87.50` and `8.75e1` are `87.5`.

    Raises:
        UsageError: it is no decimal number, infinite, or out of all proportion.
    """
    if len(text) > _LONGEST or not text or not _CHARACTERS.issuperset(text):
        raise UsageError(what=f"{_shown(text)} is no decimal number", next="write it as 87.5")
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        what = f"{_shown(text)} is no decimal number"
        raise UsageError(what=what, next="write it as 87.5") from error
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -DIGITS or value.adjusted() >= DIGITS:
        what = f"{_shown(text)} has more than {DIGITS} digits before or after its point"
        raise UsageError(what=what, next="use a unit in which it is a handier number")
    return _written(value)


def plus(one: str, other: str) -> str:
    """The exact sum of two numbers."""
    return _written(_EXACT.add(Decimal(one), Decimal(other)))


def minus(one: str, other: str) -> str:
    """The exact difference of two numbers."""
    return _written(_EXACT.subtract(Decimal(one), Decimal(other)))


def at_most(one: str, other: str) -> bool:
    """Whether one number is not greater than the other."""
    return Decimal(one) <= Decimal(other)


def _written(value: Decimal) -> str:
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").removesuffix(".")
    return "0" if text == "-0" else text


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
