"""Answers in a word or two, so that tables of laws can be read and written by hand."""

from collections.abc import Callable
from typing import Any

from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.claim import ClaimRecord
from tenure.kernel.errors import Refused, RevisionConflict
from tenure.kernel.lane import Acquired, LaneRecord
from tenure.testing.conformance.backend import Caller


def answer(call: Callable[[Caller], Any], caller: Caller) -> str:
    """What the caller is told. Doubts other than a moved revision are raised."""
    try:
        return described(call(caller))
    except (Refused, RevisionConflict) as error:
        return type(error).__name__


def described(value: Any) -> str:
    """An answer in words.

    Raises:
        TypeError: no call answers with this.
    """
    match value:
        case None:
            return "done"
        case AttemptRecord(joined=str(other)):
            return f"joined {other}"
        case AttemptRecord(outcome=None):
            return "bound"
        case AttemptRecord(outcome=str(outcome)):
            return outcome
        case Acquired():
            return f"generation {value.record.generation}"
        case LaneRecord(deleted=True):
            return "deleted"
        case LaneRecord(lease=None):
            return "released"
        case LaneRecord():
            return "held"
        case ClaimRecord():
            return "published"
        case tuple():
            return "+".join(f"{row.work}{' finished' * row.finished}" for row in value) or "nothing"
        case _:
            raise TypeError(f"not an answer: {value!r}")
