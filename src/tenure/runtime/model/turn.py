"""Turns: one unit of agent work, admitted, driven, committed."""

from typing import Literal

import msgspec

from tenure.runtime.model.json import Json
from tenure.runtime.model.usage import Usage

TurnState = Literal["open", "committed"]
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


class TurnRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One turn as it is stored."""

    id: str
    session: str
    work: str  #: the input that it is
    program: str
    state: TurnState
    opened_at_head: int
    drives: int = 0  #: pick-ups since something was last recorded
    claim: str | None = None
    receipt: str | None = None  #: hash of the commit that finished it
    committed_wall_ns: int | None = None
    result: TurnResult | None = None


class CommitBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The largest commit: bytes of message bodies, and rows. A breach ends the turn as stopped."""

    bytes: int = 4 * 1024 * 1024
    rows: int = 1000
