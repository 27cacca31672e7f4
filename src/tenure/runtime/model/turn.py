"""Turns: one unit of agent work, admitted, driven, committed."""

from typing import Literal

import msgspec

from tenure.runtime.model.json import Json
from tenure.runtime.model.usage import Usage

TurnStatus = Literal["completed", "stopped", "cancelled"]


class TurnResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a committed turn returned. The same for everybody who asks, for ever."""

    turn: str
    session: str
    status: TurnStatus
    text: str = ""
    output: Json = None  #: the typed answer, where the agent has one
    reason: str = ""  #: why it was stopped or cancelled
    usage: Usage = Usage()

    @property
    def completed(self) -> bool:
        """Whether the model came to its own end."""
        return self.status == "completed"


class TurnEnd(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """How a turn ended, as it is stored: fields by position, new ones come last.

    What it said last is in the history and not here.
    """

    status: TurnStatus
    head: int  #: the session's head after it
    text_at: int | None = None  #: the number of the message that has the text
    usage: tuple[int, ...] = ()  #: the fields of its `Usage`
    reason: str = ""
    output: Json = None
    text: str = ""  #: the text, where no message has it
    order: str = ""  #: of what happened in it, where its messages do not say it; see `happenings`


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One turn as it is stored."""

    id: str
    session: str
    work: str  #: the input that it is
    program: str
    opened_at_head: int
    drives: int = 0  #: pick-ups in a row, this one included, that found nothing new recorded
    recorded: int = 0  #: outcomes that were recorded when it was last picked up
    claim: str | None = None
    waits: bool = False  #: for an answer from outside; nobody drives it meanwhile
    receipt: str | None = None  #: hash of the commit that finished it
    committed_wall_ns: int | None = None
    end: TurnEnd | None = None

    @property
    def over(self) -> bool:
        """Whether it is committed."""
        return self.end is not None


class CommitBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The largest commit: bytes of message bodies, and rows. A breach ends the turn as stopped."""

    bytes: int = 4 * 1024 * 1024
    rows: int = 1000
