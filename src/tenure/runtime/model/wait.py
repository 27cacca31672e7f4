"""Waits: questions of a turn that somebody outside answers, once, whenever that may be.

A wait is answered by its row. Whoever is first writes it; everybody else is told what that was.
"""

import hashlib
import hmac
from typing import Literal

import msgspec

from tenure.runtime.model.json import Json, digest

#: How a wait ended. `None` is a value; none of the others is one.
WaitWord = Literal["value", "error", "timeout", "cancelled"]

_SIGNED = 32  #: hexadecimal digits of a signature


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """How a wait ended, the same for everybody who asks."""

    word: WaitWord
    value: Json = None  #: what was answered; of the other words, why, as text

    @property
    def approved(self) -> bool:
        """Whether the answer is a plain yes."""
        return self.word == "value" and self.value is True


class WaitRow(msgspec.Struct, frozen=True, kw_only=True):
    """One wait as it is stored.

    `due_at` is the store's time in ns from which on it has timed out, if it has not been
    answered. `blocking` says that its turn waits for it, and is not driven meanwhile.
    """

    id: str
    session: str
    turn: str
    name: str
    asked: Json  #: what whoever answers is shown
    created_wall_ns: int
    due_at: int | None = None
    blocking: bool = False
    resolution: Resolution | None = None
    resolved_wall_ns: int | None = None

    def ended(self, now: int) -> bool:
        """Whether it is answered, or will be found to have timed out."""
        return self.resolution is not None or (self.due_at is not None and self.due_at <= now)


class OpenWait(msgspec.Struct, frozen=True, kw_only=True):
    """A wait that can be answered: show somebody what is `asked`, and resolve its `key`."""

    key: str
    session: str
    turn: str
    name: str
    asked: Json
    due_at: int | None = None  #: wall time in ns
    resolution: Resolution | None = None  #: how it ended, if it has

    @property
    def id(self) -> str:
        """The wait itself, which its key is made for."""
        return self.key.partition(".")[0]


def shown(row: WaitRow, key: str) -> OpenWait:
    """A wait as people are shown it, with the key that answers it."""
    return OpenWait(
        key=key,
        session=row.session,
        turn=row.turn,
        name=row.name,
        asked=row.asked,
        due_at=row.due_at,
        resolution=row.resolution,
    )


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """What answering a wait came to: how it ended, and whether that was this answer."""

    resolution: Resolution
    first: bool
    turn: str = ""  #: whose wait it was; empty if that is deleted


def wait_id(turn: str, effect: str, name: str, asked: Json) -> str:
    """The id of a wait: a changed question is another wait, and no answer to the old one counts."""
    return digest("wait", [turn, effect, name, asked])


def signed(wait: str, secret: str) -> str:
    """The key by which a wait is answered. Nobody can make one without the store's secret."""
    return f"{wait}.{_signature(wait, secret)}"


def read_key(key: str, secret: str) -> str | None:
    """The id of the wait that a key was made for, None if this store made no such key."""
    if not isinstance(key, str) or not key.isascii():
        return None
    wait, _, signature = key.partition(".")
    return wait if hmac.compare_digest(signature, _signature(wait, secret)) else None


def _signature(wait: str, secret: str) -> str:
    made = hmac.new(secret.encode(), f"tenure wait {wait}".encode(), hashlib.sha256)
    return made.hexdigest()[:_SIGNED]
