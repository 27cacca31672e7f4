"""Work: what a session was asked to do. One sequence, one idempotency rule for all of it."""

from functools import cached_property
from typing import Literal

import msgspec

from tenure.runtime.model.json import Json, digest

#: input: a person's; queued: the system's own, a wake. Both become turns, in one order.
WorkKind = Literal["input", "queued"]
#: waiting: it is an open turn that waits for an answer from outside.
WorkState = Literal["pending", "accepted", "waiting", "completed", "cancelled"]
#: Work in these states has nothing left to be driven.
OVER: tuple[WorkState, ...] = ("completed", "cancelled")
Boundary = Literal["after_work", "before_completion"]
BOUNDARIES: tuple[Boundary, ...] = ("after_work", "before_completion")


class ActiveTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Meant for a turn that is open, at its next boundary of this kind."""

    turn: str
    boundary: Boundary = "after_work"


class Wake(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a turn says to another session, on the system's own behalf, once it is committed."""

    session: str
    text: str
    delay: float = 0.0  #: seconds after the commit before which it is nobody's turn


class NewWork(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What a caller mints before it enqueues; repeating it is safe."""

    id: str
    session: str
    content: Json
    kind: WorkKind = "input"
    source_key: str | None = None  #: the caller's idempotency key, kept as long as the session
    active: ActiveTurn | None = None
    available_at: int = 0  #: store time in ns before which nobody may claim it

    @cached_property
    def content_hash(self) -> str:
        """What a repeated source key is compared by."""
        active = None if self.active is None else [self.active.turn, self.active.boundary]
        return digest("work", [self.kind, self.content, active])


class WorkRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row as it is stored.

    Completed rows stay as long as their session. Cancelled ones that no key stands for stay
    until they are vacuumed.
    """

    id: str
    session: str
    sequence: int
    kind: WorkKind
    content: Json
    content_hash: str
    source_key: str | None
    program: str | None  #: digest of the program pinned at admission; None is pinned at the start
    active: ActiveTurn | None
    available_at: int
    state: WorkState = "pending"
    turn: str | None = None  #: the turn that it became, or that accepted it
    cancelled_wall_ns: int | None = None


def due(wall_ns: int, delay: float) -> int:
    """`available_at` of work that waits `delay` seconds from now on; 0 for what does not wait."""
    return wall_ns + round(delay * 1_000_000_000) if delay else 0


def turn_of(work: str) -> str:
    """The id of the turn that a next_turn input is."""
    return f"turn-{work}"


def is_turn(name: str) -> bool:
    """Whether this can be the id of a turn."""
    return name.startswith(turn_of(""))


def work_of(turn: str) -> str:
    """The input that a turn is, by the turn's id."""
    return turn.removeprefix(turn_of(""))
