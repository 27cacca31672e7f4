"""One writer's time with a guest session, on an event loop."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from tenure.kernel.errors import Doubt, LaneBusy, Refused
from tenure.kernel.identity import Executor, mint_token, new_id, this_process
from tenure.kernel.lane import AcquireRequest
from tenure.runtime.errors import HeadConflict, RuntimeClosed, WiringError
from tenure.runtime.guests.footing import Footing, Seat
from tenure.runtime.guests.keep import Keep
from tenure.runtime.guests.store import GuestStore
from tenure.runtime.model.session import HostKind

T = TypeVar("T")


async def finished(work: Awaitable[T]) -> T:
    """The answer of `work`, which is not left half done: cancelled, it is awaited first."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        if not task.cancelled():
            task.exception()  # looked at; the cancellation is what is raised
        raise cancelled
    return task.result()


class Visit:
    """Who writes to one guest session, and on what they stand.

    Calls are made one after the other. Outside of `hold` and `leave` no lane is held, and a
    session that moved on since the first look refuses whatever comes later: whoever wants to
    go on makes another visit.
    """

    def __init__(self, keep: Keep, session: str, host: HostKind) -> None:
        executor = Executor(owner=this_process(), executor_id=new_id())
        self.keep = keep
        self._holds = keep.store.beside(GuestStore)
        self._footing = Footing(
            session=session, host=host, executor=executor, timings=keep.timings, seen=None
        )
        self._one_at_a_time = asyncio.Lock()
        self._renewing: asyncio.Task[None] | None = None

    # the lane

    async def hold(self, wait: float) -> None:
        """Take the lane and look, waiting at most `wait` seconds for whoever has it.

        Raises: LaneBusy, SessionDeleted, HostMismatch; WiringError: it is held here already.
        """
        if self._footing.fence is not None:
            raise WiringError(
                what=f"session {self._footing.session!r} is held by this very object already",
                next="leave the block it is held for, or make another object",
            )
        await finished(self._hold(wait))

    async def _hold(self, wait: float) -> None:
        seat = await self._seat(wait, new_id())
        self._footing = msgspec.structs.replace(self._footing, fence=seat.fence, seen=seat.head)
        self._renewing = asyncio.ensure_future(self._renew())

    async def _seat(self, wait: float, secret: str) -> Seat:
        """Ask until the lane is free, at a lease's retry pace."""
        loop, store = asyncio.get_running_loop(), self._holds
        deadline = loop.time() + wait
        while True:
            try:
                return await self.keep.asking.call(lambda: store.hold(self._footing, secret))
            except LaneBusy:
                pause = self.keep.timings.retry_pace * random.uniform(0.75, 1.0)
                if loop.time() + pause > deadline:
                    raise
            await asyncio.sleep(pause)

    async def leave(self) -> None:
        """Let the lane go. What was lost meanwhile is not raised: every write said so."""
        await finished(self._leave())

    async def _leave(self) -> None:
        renewing, fence = self._renewing, self._footing.fence
        self._footing = msgspec.structs.replace(self._footing, fence=None)
        self._renewing = None
        if renewing is not None:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
        if fence is not None:
            store = self._holds
            try:
                await self.keep.asking.call(lambda: store.leave(fence))
            except (Refused, Doubt, RuntimeClosed):
                pass  # somebody else has it, or a lapse gives it to them

    async def _renew(self) -> None:
        fence, store, timings = self._footing.fence, self._holds, self.keep.timings
        assert fence is not None, "what is renewed is held"
        pause = timings.renew_interval
        while True:
            await asyncio.sleep(pause)
            try:
                await self.keep.asking.call(lambda: store.renew(fence))
                pause = timings.renew_interval
            except Doubt:
                pause = timings.retry_pace * random.uniform(0.75, 1.0)
            except (Refused, RuntimeClosed):
                return  # the next write says what became of it

    # reading and writing

    @property
    def unseen(self) -> bool:
        """Whether nothing was read yet."""
        return self._footing.seen is None

    async def saw(self, head: int) -> None:
        """The session was read at that head.

        Raises: HeadConflict: somebody else wrote since this visit's first look; HoldLost: and
            took over the hold.
        """
        seen, fence, store = self._footing.seen, self._footing.fence, self._holds
        if seen is None:
            self._footing = msgspec.structs.replace(self._footing, seen=head)
        elif head != seen:
            if fence is not None:
                await self.keep.asking.call(lambda: store.renew(fence))
            raise HeadConflict(session=self._footing.session, now=head, expected=seen)

    async def in_turn(self, work: Callable[[], Awaitable[T]]) -> T:
        """The answer of `work`, after whatever this visit was asked before."""
        async with self._one_at_a_time:
            return await finished(work())

    async def read(self, call: Callable[[], T]) -> T:
        """The answer of one store call that reads."""
        return await self.keep.asking.call(call)

    async def delete(self) -> None:
        """Delete the session for good, under its own hold or when nobody has it.

        Raises: LaneBusy; HoldLost: it was held here and taken over; SessionMissing,
            SessionDeleted: there is nothing to delete.
        """
        store, footing = self.keep.store, self._footing
        if footing.fence is not None:
            fence = footing.fence
            await self.keep.asking.call(lambda: store.delete(fence))
            return
        request = AcquireRequest(
            lane=footing.session,
            executor=Executor(owner=this_process(), executor_id=new_id()),
            token=mint_token(),
            timings=footing.timings,
        )
        await self.keep.asking.call(lambda: store.delete_free(request))

    async def write(self, call: Callable[[Footing], int]) -> None:
        """One store call that writes, and answers with the head after it."""
        footing = self._footing
        head = await self.keep.asking.call(lambda: call(footing))
        self._footing = msgspec.structs.replace(self._footing, seen=head)
