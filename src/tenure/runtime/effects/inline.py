"""A drive without a journal: the commit is durable, what leads to it is not.

A turn that loses its process starts anew, and every effect of it happens again. It says so,
loudly, when a runtime is built on it.
"""

import asyncio
from collections.abc import Sequence

from tenure.kernel.fence import Fence
from tenure.runtime.commit import CommitRequest
from tenure.runtime.effects.calls import HeldTurn, InlineCalls
from tenure.runtime.effects.running import Running
from tenure.runtime.model.effect import Effect, Outcome
from tenure.runtime.model.turn import TurnRecord, TurnResult
from tenure.runtime.offload import Offload
from tenure.runtime.ports.effects import Happened, HostCaps
from tenure.runtime.sessions import SessionStore
from tenure.runtime.tools.calls import Calls
from tenure.runtime.wait_store import Suspension

CAPS = HostCaps(kind="inline", durable=False, max_outcome_bytes=1 << 62)

WARNING = (
    "effects of this runtime are not journaled: a turn that loses its process starts anew and "
    "repeats every model and tool call it had made"
)


class InlineDrive:
    """`tenure.runtime.ports.effects.Drive` that keeps nothing but what is accepted and committed."""

    def __init__(
        self,
        store: SessionStore,
        offload: Offload,
        turn: TurnRecord,
        fence: Fence,
        running: Running,
        *,
        poll: float,
    ) -> None:
        self._store = store
        self._offload = offload
        self._of = turn
        self._turn = turn.id
        self._poll = poll
        self._fence = fence
        self._running = running

    def recorded(self, effect: Effect) -> Outcome | None:
        return None

    def start(self, effect: Effect) -> None:
        self._running.start(effect)

    async def next(self, ended: "asyncio.Future[None]") -> Happened | None:
        return await self._running.next(ended)

    async def accept(self, boundary: Effect, otherwise: Sequence[Effect]) -> Outcome:
        return await self._offload.call(
            lambda: self._store.accept(self._turn, self._fence, (), boundary, ())
        )

    async def commit(self, request: CommitRequest, boundary: Effect | None) -> TurnResult | Outcome:
        return await self._offload.call(lambda: self._store.commit(request, (), boundary))

    async def suspend(self, claim: str, on: Sequence[str]) -> Suspension:
        """Nothing of it waits but its calls, where they are."""
        raise AssertionError("a drive without a journal does not suspend")

    def calls(self, effect: Effect) -> Calls:
        held = HeldTurn(self._store, self._offload, self._fence, self._of)
        return InlineCalls(held, effect, poll=self._poll)

    async def stop(self) -> list[Happened]:
        return await self._running.stop()

    async def record(self) -> None:
        """There is nothing to record it in."""
