"""What a tool may know about the call it serves."""

from typing import Generic, TypeVar

import msgspec

Deps = TypeVar("Deps")


class ToolContext(msgspec.Struct, Generic[Deps], frozen=True, kw_only=True):
    """Handed to tools that ask for it by a parameter of this type.

    `effect_key` is the same for every try of the same call: give it to outside APIs as their
    idempotency key. `deps` is made anew by the host's factory in whatever process this is.
    """

    session: str
    turn: str
    call: str
    effect_key: str
    deps: Deps
