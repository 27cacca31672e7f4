"""What a tool may know about the call it serves, and whom it may wake with it."""

from typing import Generic, TypeVar

import msgspec

from tenure.runtime.errors import WiringError
from tenure.runtime.model.json import storable
from tenure.runtime.model.work import Wake

Deps = TypeVar("Deps")

_LONGEST_DELAY = 10 * 365 * 86_400  #: seconds


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
    wakes: list[Wake] = []  #: what `wake` was told so far

    def wake(self, session: str, text: str, *, delay: float = 0.0) -> None:
        """Say something to another session on the system's own behalf, once this turn is committed.

        It is recorded with the call's result and sent by the commit, once, whoever drives the
        turn by then; `delay` seconds later it is a turn of its own there. Nothing is sent by a
        call that fails, and nothing to a session that is deleted before the commit. If there is
        no such session when the call returns, the call has failed, and the model is told.

        Raises: WiringError: there is nothing to say, nobody to say it to, or a delay that is none.
        """
        named = bool(session) and storable(session) == session
        if not named or not text or not 0 <= delay <= _LONGEST_DELAY:
            raise WiringError(
                what=f"a wake of session {session!r} with the text {text!r} after {delay!r} s",
                next="name a session, say something, and wait between 0 s and ten years",
            )
        self.wakes.append(Wake(session=session, text=storable(text), delay=float(delay)))
