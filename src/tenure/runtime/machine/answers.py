"""What the outcomes of effects say, as the machine reads them from the journal."""

import msgspec

from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.message import ToolCall, ToolStatus, UserMessage
from tenure.runtime.model.usage import Usage
from tenure.runtime.model.work import Wake

#: What a model is told of a call in doubt.
UNKNOWN = (
    "This call was started, and whether it took effect is unknown. Find out before you repeat it."
)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One complete answer of the model."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a tool returned, as text for the model, and whom it wakes."""

    status: ToolStatus
    content: str
    wakes: tuple[Wake, ...] = ()


def returned(outcome: Outcome) -> ToolResult:
    """What a tool returned, as it is recorded. What cannot be read is an error of the call."""
    if outcome.status == "in_doubt":
        return ToolResult(status="unknown", content=UNKNOWN)
    if outcome.status == "error":
        return ToolResult(status="error", content=str(outcome.value))
    try:
        return msgspec.convert(outcome.value, ToolResult)
    except msgspec.ValidationError as error:
        return ToolResult(status="error", content=f"its recorded result cannot be read: {error}")


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """Input that became part of the turn at a boundary."""

    work: str
    message: UserMessage
