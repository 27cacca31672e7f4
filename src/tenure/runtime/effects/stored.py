"""A drive whose journal lies in the session store: intent first, outcome after, both fenced.

The outcome of one effect and the intents of what follows from it are one transaction.
Nothing outside happens before its intent is stored.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence

from tenure.kernel.fence import Fence
from tenure.runtime.commit import CommitRequest
from tenure.runtime.driving import Assignment
from tenure.runtime.errors import ReplayMismatch
from tenure.runtime.model.effect import Effect, Journaled, Outcome
from tenure.runtime.model.json import canonical
from tenure.runtime.model.program import InDoubt
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.offload import Offload
from tenure.runtime.ports.effects import HostCaps, Perform
from tenure.runtime.sessions import SessionStore

CAPS = HostCaps(kind="sqlite", durable=True, max_outcome_bytes=8 * 1024 * 1024)

#: What happens to an effect that was started by somebody else and has no outcome.
Doubt = Callable[[Effect], InDoubt]


class StoredDrive:
    """`tenure.runtime.ports.effects.Drive` over a session store."""

    def __init__(
        self,
        store: SessionStore,
        offload: Offload,
        assignment: Assignment,
        fence: Fence,
        perform: Perform,
        doubt: Doubt,
        caps: HostCaps = CAPS,
    ) -> None:
        self._store = store
        self._offload = offload
        self._turn = assignment.turn.id
        self._fence = fence
        self._perform = perform
        self._doubt = doubt
        self._caps = caps
        self._journal = {entry.key: entry for entry in assignment.journal}
        self._ready: deque[tuple[str, Outcome]] = deque()
        self._intended: set[str] = set()
        self._intents: list[Effect] = []  #: to be stored before they are started
        self._outcomes: list[tuple[str, Outcome]] = []  #: to be stored with what follows
        self._tasks: dict[asyncio.Task[Outcome], Effect] = {}

    def recorded(self, effect: Effect) -> Outcome | None:
        entry = self._known(effect)
        return None if entry is None else entry.outcome

    def start(self, effect: Effect) -> None:
        entry = self._known(effect)
        if entry is not None and entry.outcome is not None:
            self._ready.append((effect.key, entry.outcome))
        elif entry is not None and not self._mine(entry) and self._doubt(effect) == "report":
            outcome = Outcome(status="in_doubt")
            self._outcomes.append((effect.key, outcome))
            self._ready.append((effect.key, outcome))
        else:
            self._intents.append(effect)

    async def next(self) -> tuple[str, Outcome, bool]:
        if self._ready:
            key, outcome = self._ready.popleft()
            return key, outcome, True
        await self._launch()
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        task = next(iter(done))
        effect = self._tasks.pop(task)
        outcome = self._within(task.result())
        self._outcomes.append((effect.key, outcome))
        return effect.key, outcome, False

    async def accept(self, boundary: Effect, otherwise: Sequence[Effect]) -> Outcome:
        outcomes, intents = tuple(self._outcomes), tuple(otherwise)
        outcome = await self._offload.call(
            lambda: self._store.accept(self._turn, self._fence, outcomes, boundary, intents)
        )
        del self._outcomes[: len(outcomes)]
        if not outcome.value:
            self._intended.update(effect.key for effect in intents)
        return outcome

    async def commit(self, request: CommitRequest, boundary: Effect | None) -> TurnResult | Outcome:
        outcomes = tuple(self._outcomes)
        got = await self._offload.call(lambda: self._store.commit(request, outcomes, boundary))
        self._outcomes.clear()
        return got

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task, effect in self._tasks.items():
            await asyncio.wait([task])
            if not task.cancelled() and task.exception() is None:
                self._outcomes.append((effect.key, self._within(task.result())))
        self._tasks.clear()
        await self._flush([])

    async def _launch(self) -> None:
        """Store what has to be, then start what may be."""
        new = [effect for effect in self._intents if effect.key not in self._intended]
        await self._flush(new)
        for effect in self._intents:
            self._tasks[asyncio.ensure_future(self._perform(effect))] = effect
        self._intents.clear()

    async def _flush(self, intents: Sequence[Effect]) -> None:
        outcomes = tuple(self._outcomes)
        if not outcomes and not intents:
            return
        await self._offload.call(
            lambda: self._store.journal(self._turn, self._fence, outcomes, intents)
        )
        self._intended.update(effect.key for effect in intents)
        del self._outcomes[: len(outcomes)]

    def _known(self, effect: Effect) -> Journaled | None:
        entry = self._journal.get(effect.key)
        if entry is not None and entry.request_hash != effect.request_hash:
            raise ReplayMismatch(turn=self._turn, key=effect.key)
        return entry

    def _mine(self, entry: Journaled) -> bool:
        return (entry.generation, entry.token) == (self._fence.generation, self._fence.token.secret)

    def _within(self, outcome: Outcome) -> Outcome:
        """The outcome, if it is not larger than this host can keep."""
        size = len(canonical(outcome.value))
        if size <= self._caps.max_outcome_bytes:
            return outcome
        what = f"it returned {size} bytes, this host keeps {self._caps.max_outcome_bytes} at most"
        return Outcome(status="error", value=what)
