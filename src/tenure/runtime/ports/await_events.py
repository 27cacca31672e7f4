"""Where answers from outside come in. Waits are rows of the store; a host may keep them elsewhere."""

from typing import NoReturn

from tenure.runtime.errors import WiringError
from tenure.runtime.model.wait import Answered, Resolution


class AwaitEventResolver:
    """Answers and cancels waits. What a subclass does not say is refused, never ignored."""

    async def resolve_await_event(self, key: str, answer: Resolution) -> Answered:
        """Answer a wait; whoever is first does, and everybody else is told how it ended.

        Raises: WaitKeyUnknown: it is nobody's key; WiringError: not supported here.
        """
        _refuse(self, "resolve_await_event")

    async def cancel_await_events_for_session(self, session: str, reason: str) -> int:
        """Cancel what a session waits for, and leave the session usable; how many waits.

        Raises: WiringError: not supported here.
        """
        _refuse(self, "cancel_await_events_for_session")


def _refuse(resolver: AwaitEventResolver, method: str) -> NoReturn:
    raise WiringError(
        what=f"{type(resolver).__name__} does not say how to {method}",
        next="override it, or leave waits to the store",
    )
