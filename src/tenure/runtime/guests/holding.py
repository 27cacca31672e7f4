"""A thread of a graph held for a block, from plain code and from an event loop."""

import asyncio
import random
import time
from types import TracebackType

from tenure.kernel.errors import Doubt, LaneBusy, Refused
from tenure.kernel.identity import new_id
from tenure.runtime.errors import RuntimeClosed
from tenure.runtime.guests.threads import UNTOLD, Threads
from tenure.runtime.guests.visit import finished


class Holding:
    """Holds a thread's lane in a `with` or an `async with` block.

    In a plain block the lease is renewed by every write, and in an asynchronous one by a task of
    the loop as well. A lapse alone loses nothing; whoever takes over then ends the hold.

    Raises: LaneBusy: after `wait` seconds somebody else still has it; SessionDeleted,
        HostMismatch; WiringError: this saver holds it already.
    """

    def __init__(self, threads: Threads, thread: str, wait: float) -> None:
        self._threads = threads
        self._asking = threads.keep.asking
        self._thread = thread
        self._wait = wait
        self._secret = new_id()
        self._spent = 0.0
        self._renewing: asyncio.Task[None] | None = None

    def _try(self) -> bool:
        return self._threads.hold(self._thread, self._secret)

    def _pause(self) -> float:
        """Seconds until the next try. Raises: LaneBusy: there is none."""
        pause = self._threads.keep.timings.retry_pace * random.uniform(0.75, 1.0)
        self._spent += pause
        if self._spent > self._wait:
            lane = self._threads.keep.store.lane
            found = self._asking.ask(lambda: lane(self._thread))
            holder = "somebody else" if found is None else str(found.executor)
            raise LaneBusy(lane=self._thread, holder=holder, expires_in=0.0)
        return pause

    def __enter__(self) -> None:
        while not self._asking.ask(self._try):
            time.sleep(self._pause())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._asking.ask(lambda: self._threads.leave(self._thread))
        except UNTOLD:
            pass

    async def __aenter__(self) -> None:
        await finished(self._enter())

    async def _enter(self) -> None:
        free = await self._asking.call(self._try)
        while not free:
            await asyncio.sleep(self._pause())
            free = await self._asking.call(self._try)
        self._renewing = asyncio.ensure_future(self._renew())

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await finished(self._leave())

    async def _leave(self) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        try:
            await self._asking.call(lambda: self._threads.leave(self._thread))
        except UNTOLD:
            pass

    async def _renew(self) -> None:
        timings = self._threads.keep.timings
        pause = timings.renew_interval
        while True:
            await asyncio.sleep(pause)
            try:
                await self._asking.call(lambda: self._threads.renew(self._thread))
                pause = timings.renew_interval
            except Doubt:
                pause = timings.retry_pace * random.uniform(0.75, 1.0)
            except (Refused, RuntimeClosed):
                return  # the next write says what became of it
