"""A tool call that waits, as the journal has it, and what its answer makes of it."""

from typing import Literal

import msgspec

from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.json import canonical, plain
from tenure.runtime.model.message import ToolStatus
from tenure.runtime.model.wait import Resolution


class Waiting(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The waits, any of which lets a call go on, and whether the answer is what it returns."""

    on: tuple[str, ...]
    result: bool = False

    def outcome(self) -> Outcome:
        """As it is recorded."""
        return Outcome(status="waiting", value=plain(self))


def waiting(outcome: Outcome) -> Waiting | None:
    """What a recorded call waits for; None if it is over."""
    if outcome.status != "waiting":
        return None
    return msgspec.convert(outcome.value, Waiting)


_STATUS: dict[Literal["value", "error", "timeout", "cancelled"], ToolStatus] = {
    "value": "ok",
    "error": "error",
    "timeout": "unknown",
    "cancelled": "cancelled",
}


def returned_by(answer: Resolution) -> Outcome:
    """What a call returns that somebody outside answers in its place."""
    text = answer.value if isinstance(answer.value, str) else canonical(answer.value).decode()
    result = ToolResult(status=_STATUS[answer.word], content=text)
    return Outcome(status="ok", value=plain(result))
