"""A draft: what a turn is going to commit."""

import msgspec

from tenure.runtime.model.json import Json
from tenure.runtime.model.message import Message
from tenure.runtime.model.turn import TurnStatus
from tenure.runtime.model.usage import Usage
from tenure.runtime.model.work import Wake


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a turn, before it is committed. `messages` are all that it adds to the session."""

    status: TurnStatus
    messages: tuple[Message, ...]
    text: str = ""
    output: Json = None
    reason: str = ""
    usage: Usage = Usage()
    accepted: tuple[str, ...] = ()  #: work that became part of the turn while it was open
    outbox: tuple[Wake, ...] = ()  #: in the order of the calls that said so
