"""Sessions: a line of committed messages, and whatever waits to move it on."""

from typing import Literal

import msgspec

from tenure.runtime.model.json import Json

#: What moves a session: an effect host of ours, or the framework that keeps it here as a guest.
HostKind = Literal[
    "inline", "sqlite", "postgres", "restate", "temporal", "openai-agents", "langgraph"
]


class SessionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One session as it is stored. `head` is the number of its committed messages; a guest's
    counts what was written to it."""

    id: str
    agent: str
    host: HostKind
    head: int = 0
    open_turn: str | None = None
    settings: dict[str, Json] = {}
    created_wall_ns: int = 0
    deleted: bool = False


class ParkedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A ticket for a session that was parked. It is plain data and outlives any process."""

    session: str
    agent: str
    settings: dict[str, Json] = {}
