"""What a tool call may ask of the store while it runs: waits, and parts that happen once."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol

from tenure.runtime.model.json import Json
from tenure.runtime.model.program import InDoubt
from tenure.runtime.model.wait import OpenWait, Resolution

#: One part of a tool call. What it returns is recorded, and has to be something JSON can say.
Doing = Callable[[], Awaitable[Json]]


class Suspended(BaseException):
    """The call waits for an answer from outside, and is made again once there is one.

    No failure, so no `except Exception` of a tool catches it, as with a cancellation.
    """

    def __init__(self, on: tuple[str, ...], *, result: bool = False) -> None:
        self.on = on  #: the waits, any of which lets it go on
        self.result = result  #: whether the answer is what the call returns
        super().__init__("waiting for an answer from outside")


class Part(NamedTuple):
    """What a part returned, and whether the journal had it."""

    value: Json
    replayed: bool


class Calls(Protocol):
    """The store, as one tool call sees it."""

    async def open_wait(self, name: str, asked: Json, seconds: float | None) -> OpenWait:
        """Have a wait that can be answered from now on. The same one whenever it is asked again."""
        ...

    async def answer(self, wait: OpenWait) -> Resolution:
        """How a wait ended.

        Raises: Suspended: it has not; where nothing is driven meanwhile, the call is over for now.
        """
        ...

    async def once(self, name: str, doing: Doing) -> Json:
        """What a part of the call returned, which is carried out once and recorded.

        Raises: PartFailed: it failed, now or when it was carried out; PartInDoubt: it was
            started by somebody else, and whether it took effect is unknown.
        """
        ...

    async def part(self, name: str, request: Json, in_doubt: InDoubt, doing: Doing) -> Part:
        """`once` for a part that was asked for `request`, and says for itself what is in doubt.

        Its intent is stored before it is carried out and its outcome before this returns. Of one
        that may be rerun both are stored soon after, and before anything that may not be begins.

        Raises: what `once` raises; ReplayMismatch: the journal has another request.
        """
        ...

    def known(self, name: str, request: Json) -> Part | None:
        """What the journal has of a part that nobody is going to carry out; None for nothing.

        Raises: what `part` raises.
        """
        ...

    async def settled(self, *, keep: bool) -> None:
        """No part is being stored any more. What was not begun to be stored is, if it is to be kept.

        Raises: what the store refused.
        """
        ...
