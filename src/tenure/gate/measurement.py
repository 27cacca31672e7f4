"""What a standard came to, for reports and Proofs."""

from typing import Literal

import msgspec

Direction = Literal["up", "down"]

#: unrun: the job that would say it has no result.
Verdict = Literal["met", "missed", "unmeasured", "unrun"]


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """What a standard came to. Numbers are decimal text; `value` is None where there was none."""

    standard: str
    verdict: Verdict
    value: str | None
    limit: str
    margin: str
    direction: Direction
    job: str  #: the requirement whose result was read
    source: str  #: where in it the number stood, in words
    receipt: str | None  #: id of the receipt that was read; None if there was none to read
    detail: str = ""  #: why it is unmeasured


def shortly(found: Measurement) -> str:
    """A limit that was not kept, where a report follows that says the rest."""
    if found.value is None:
        return "not measured"
    side = "below" if found.direction == "up" else "above"
    return f"{found.value} is {side} the limit {found.limit}"


def told(found: Measurement) -> str:
    """A measurement in one sentence, with the numbers that were judged."""
    margin = "" if found.margin == "0" else f", margin {found.margin}"
    limit = f"limit {found.limit}{margin}, direction {found.direction}"
    where = f"read from {found.source} of {found.job}"
    if found.value is None:
        return f"it was not measured: {found.detail} ({limit}, to be {where})"
    side = "below" if found.direction == "up" else "above"
    kept = "keeps the limit" if found.verdict == "met" else f"{found.value} is {side} the limit"
    told = f"{found.value} {kept}" if found.verdict == "met" else kept
    return f"{told} ({limit}; {where})"
