"""The one seam between an event loop and a store whose calls block.

A call once started is never abandoned: cancelling whoever waits for it waits for its
answer first, so that nobody is left not knowing what they did.
"""

import asyncio
import random
import time
from collections.abc import Callable
from typing import Protocol, TypeVar

from tenure.kernel.errors import Doubt
from tenure.runtime.errors import RuntimeClosed

T = TypeVar("T")


class Offload(Protocol):
    """Runs store calls for an event loop."""

    async def call(self, work: Callable[[], T]) -> T:
        """The answer of `work`, which is one store call. Cancelled, it answers first.

        Raises what `work` raises, and RuntimeClosed.
        """
        ...

    def ask(self, work: Callable[[], T]) -> T:
        """`call` for a plain thread, which is kept waiting for the answer."""
        ...

    def close(self) -> None:
        """Take no more calls and wait for those under way. Idempotent."""
        ...


class Inline:
    """Runs calls where they are made: for a store in memory, which does not block."""

    def __init__(self) -> None:
        self._closed = False

    async def call(self, work: Callable[[], T]) -> T:
        """The answer of `work`."""
        if self._closed:
            raise RuntimeClosed
        return work()

    def ask(self, work: Callable[[], T]) -> T:
        """The answer of `work`."""
        if self._closed:
            raise RuntimeClosed
        return work()

    def close(self) -> None:
        """Take no more calls."""
        self._closed = True


class Steady:
    """Another `Offload` that asks again while the store is in doubt, at a lease's retry pace.

    A call may therefore be made several times, which every method of a store allows. After
    `seconds` the last doubt is raised.
    """

    def __init__(
        self,
        offload: Offload,
        pace: float,
        *,
        seconds: float,
        doubts: tuple[type[Doubt], ...] = (Doubt,),
    ) -> None:
        self._offload = offload
        self._pace = pace
        self._seconds = seconds
        self._doubts = doubts

    async def call(self, work: Callable[[], T]) -> T:
        """The answer of `work`, however often it has to be asked. Cancelled, it asks no more."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._seconds
        while True:
            try:
                return await self._offload.call(work)
            except self._doubts:
                pause = self._pace * random.uniform(0.75, 1.0)
                if loop.time() + pause > deadline:
                    raise
            await asyncio.sleep(pause)

    def ask(self, work: Callable[[], T]) -> T:
        """The answer of `work`, however often it has to be asked."""
        spent = 0.0
        while True:
            try:
                return self._offload.ask(work)
            except self._doubts:
                pause = self._pace * random.uniform(0.75, 1.0)
                spent += pause
                if spent > self._seconds:
                    raise
            time.sleep(pause)

    def close(self) -> None:
        """Close the one behind."""
        self._offload.close()
