"""Keeping a session's lane while a turn is driven, and listening for its cancellation."""

import asyncio
import random
from collections.abc import Callable

from tenure.kernel.errors import Doubt, HoldEnded, Refused
from tenure.kernel.fence import Fence
from tenure.kernel.lease import LeaseTimings
from tenure.runtime import mishap
from tenure.runtime.errors import RuntimeFault
from tenure.runtime.offload import Offload
from tenure.runtime.sessions import SessionStore


class LaneKeeper:
    """One task that renews a lane on the loop that drives the turn.

    A loop that is blocked does not renew; that loses nothing unless somebody takes over, and
    then `lost` is called with the proof. Doubt is asked again and changes nothing.
    """

    def __init__(
        self,
        store: SessionStore,
        offload: Offload,
        fence: Fence,
        turn: str,
        timings: LeaseTimings,
        *,
        cancel_poll: float,
        lost: Callable[[Refused], None],
        cancelled: Callable[[str], None],
    ) -> None:
        self._store = store
        self._offload = offload
        self._fence = fence
        self._turn = turn
        self._timings = timings
        self._cancel_poll = cancel_poll
        self._lost = lost
        self._cancelled = cancelled
        self._task: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        self._due = loop.time() + timings.renew_interval
        pause = min(cancel_poll, timings.renew_interval)
        self._first = loop.call_later(pause, self._begin)  # most turns are over by then

    def _begin(self) -> None:
        self._task = asyncio.ensure_future(self._keep())

    async def stop(self) -> None:
        """Renew no more."""
        self._first.cancel()
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        due = self._due
        while True:
            try:
                reason = await self._offload.call(lambda: self._store.cancel_marker(self._turn))
                if reason is not None:
                    self._cancelled(reason)
                if loop.time() >= due:
                    await self._offload.call(lambda: self._store.renew(self._fence))
                    due = loop.time() + self._timings.renew_interval
            except HoldEnded:
                return  # its own commit let it go, or whoever drives finds out at its next step
            except Refused as refusal:
                self._lost(refusal)
                return
            except Exception as error:
                if not isinstance(error, Doubt | RuntimeFault):
                    mishap.tell("a lane could not be renewed; it is tried again", error)
                due = loop.time() + self._timings.retry_pace * random.uniform(0.75, 1.0)
            await asyncio.sleep(min(self._cancel_poll, max(0.0, due - loop.time())))
