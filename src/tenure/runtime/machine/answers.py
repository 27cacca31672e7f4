"""What the outcomes of effects say, as the machine reads them from the journal."""

import msgspec

from tenure.runtime.model.message import ToolCall, ToolStatus, UserMessage
from tenure.runtime.model.usage import Usage
from tenure.runtime.model.work import Wake


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


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """Input that became part of the turn at a boundary."""

    work: str
    message: UserMessage
