"""The one seam between an event loop and a store whose calls block.

A call once started is never abandoned: cancelling whoever waits for it waits for its
answer first, so that nobody is left not knowing what they did.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Offload(Protocol):
    """Runs store calls for an event loop."""

    async def call(self, work: Callable[[], T]) -> T:
        """The answer of `work`, which is one store call. Cancelled, it answers first."""
        ...

    def close(self) -> None:
        """Take no more calls and wait for those under way. Idempotent."""
        ...


class Inline:
    """Runs calls where they are made: for a store in memory, which does not block."""

    async def call(self, work: Callable[[], T]) -> T:
        """The answer of `work`."""
        return work()

    def close(self) -> None:
        """There is nothing to close."""


async def answered(future: "asyncio.Future[Any]") -> Any:
    """Wait for an answer to the end. A cancellation is passed on once it is there."""
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError as error:
            cancelled = error
        except BaseException:
            break
    if cancelled is not None:
        future.exception()  # looked at, whatever it is; the cancellation is what is raised
        raise cancelled
    return future.result()
