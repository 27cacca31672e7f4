"""A drive whose journal lies in the session store: intent first, outcome after, both fenced.

The outcome of one effect and the intents of what follows from it are one transaction.
Nothing outside happens before its intent is stored.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from tenure.kernel.fence import Fence
from tenure.runtime.commit import CommitRequest
from tenure.runtime.driving import Assignment
from tenure.runtime.effects.calls import HeldTurn, StoredCalls
from tenure.runtime.effects.running import Running
from tenure.runtime.errors import ReplayMismatch
from tenure.runtime.machine.suspended import Waiting, returned_by, waiting
from tenure.runtime.model.effect import Effect, Journaled, Outcome
from tenure.runtime.model.json import canonical
from tenure.runtime.model.program import InDoubt
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.wait import WaitRow, wait_id
from tenure.runtime.offload import Offload
from tenure.runtime.ports.effects import Happened, HostCaps
from tenure.runtime.sessions import SessionStore
from tenure.runtime.tools.calls import Calls
from tenure.runtime.wait_store import Suspension

CAPS = HostCaps(kind="sqlite", durable=True, max_outcome_bytes=8 * 1024 * 1024)

#: What happens to an effect that was started by somebody else and has no outcome.
Doubt = Callable[[Effect], InDoubt]

_IN_DOUBT = Outcome(status="in_doubt")


class StoredDrive:
    """`tenure.runtime.ports.effects.Drive` over a session store."""

    def __init__(
        self,
        store: SessionStore,
        offload: Offload,
        assignment: Assignment,
        fence: Fence,
        running: Running,
        doubt: Doubt,
        intended: Sequence[Effect] = (),
        moved: Callable[[], None] = lambda: None,
        caps: HostCaps = CAPS,
    ) -> None:
        self._store = store
        self._offload = offload
        self._turn = assignment.turn.id
        self._fence = fence
        self._running = running
        self._doubt = doubt
        self._moved = moved  #: called when the journal has more than before
        self._caps = caps
        self._assignment = assignment
        self._journal = {entry.key: entry for entry in assignment.journal}
        self._waits = {wait.id: wait for wait in assignment.waits}
        self._waiting: dict[str, Outcome] = {}  #: calls of this drive that wait, by effect
        self._to_open: list[WaitRow] = []  #: before what waits for them is recorded
        self._ready: deque[Happened] = deque()
        self._intended = {effect.key for effect in intended}  #: stored before they are started
        self._intents: list[Effect] = []  #: to be stored before they are started
        self._outcomes: list[tuple[str, Outcome]] = []  #: to be stored with what follows

    def recorded(self, effect: Effect) -> Outcome | None:
        if effect.key in self._waiting:
            return self._waiting[effect.key]
        entry = self._known(effect)
        if entry is None or entry.outcome is not None:
            return None if entry is None else entry.outcome
        return None if self._mine(entry) else _IN_DOUBT

    def start(self, effect: Effect) -> None:
        outcome = self.recorded(effect)
        if outcome is _IN_DOUBT:
            outcome = self._doubted(effect)
        if outcome is not None and outcome.status == "waiting":
            outcome = self._answered(effect, outcome)
        if outcome is None:
            self._intents.append(effect)
        else:
            self._ready.append(Happened(effect.key, outcome, replayed=True))

    def _doubted(self, effect: Effect) -> Outcome | None:
        """The outcome of what somebody else started and did not record; None to run it again."""
        how = self._doubt(effect)
        if how == "rerun":
            return None
        outcome = _IN_DOUBT
        if how == "wait":
            wait = self._evidence_for(effect)
            self._to_open.append(wait)
            outcome = Waiting(on=(wait.id,), result=True).outcome()
        self._outcomes.append((effect.key, outcome))
        return outcome

    def _evidence_for(self, effect: Effect) -> WaitRow:
        """The question that only somebody outside can answer: what came of this call."""
        asked = {"in_doubt": effect.request}
        return WaitRow(
            id=wait_id(self._turn, effect.key, "in doubt", asked),
            session=self._assignment.turn.session,
            turn=self._turn,
            name="in doubt",
            asked=asked,
            created_wall_ns=0,
        )

    def _answered(self, effect: Effect, outcome: Outcome) -> Outcome | None:
        """A call that waited: None to make it again with its answer, or what it returns."""
        waits = waiting(outcome)
        assert waits is not None, "it waits"
        ended = [self._waits[wait] for wait in waits.on if wait in self._waits]
        answer = next((wait.resolution for wait in ended if wait.resolution is not None), None)
        if answer is None:
            return outcome
        if not waits.result:
            self._intended.discard(effect.key)  # from here on it is in doubt once more
            return None
        final = returned_by(answer)
        self._outcomes.append((effect.key, final))
        return final

    async def suspend(self, claim: str, on: Sequence[str]) -> Suspension:
        await self._open_waits()
        outcomes = tuple(self._outcomes)
        got = await self._offload.call(
            lambda: self._store.suspend(self._turn, claim, self._fence, outcomes, on)
        )
        del self._outcomes[: len(outcomes)]
        self._waits.update((wait.id, wait) for wait in got.ended)
        return got

    def calls(self, effect: Effect) -> Calls:
        held = HeldTurn(self._store, self._offload, self._fence, self._assignment.turn)
        return StoredCalls(
            held,
            effect,
            journal=self._journal,
            in_doubt=self._doubt(effect),
            most=self._caps.max_outcome_bytes,
        )

    async def next(self, ended: "asyncio.Future[None]") -> Happened | None:
        if self._ready:
            return self._ready.popleft()
        await self._launch()
        happened = await self._running.next(ended)
        return None if happened is None else self._kept(happened)

    async def accept(self, boundary: Effect, otherwise: Sequence[Effect]) -> Outcome:
        outcomes, intents = tuple(self._outcomes), tuple(otherwise)
        outcome = await self._offload.call(
            lambda: self._store.accept(self._turn, self._fence, outcomes, boundary, intents)
        )
        del self._outcomes[: len(outcomes)]
        self._moved()
        if not outcome.value:
            self._intended.update(effect.key for effect in intents)
        return outcome

    async def commit(self, request: CommitRequest, boundary: Effect | None) -> TurnResult | Outcome:
        outcomes = tuple(self._outcomes)
        got = await self._offload.call(lambda: self._store.commit(request, outcomes, boundary))
        self._outcomes.clear()
        return got

    async def stop(self) -> list[Happened]:
        self._intents.clear()
        return [self._kept(happened) for happened in await self._running.stop()]

    async def record(self) -> None:
        await self._flush([])

    async def _launch(self) -> None:
        """Store what has to be, then start what may be.

        What arrived is stored before more is waited for, unless more is there already.
        """
        if not self._intents and self._running.arrived:
            return
        await self._flush([e for e in self._intents if e.key not in self._intended])
        for effect in self._intents:
            self._running.start(effect)
        self._intents.clear()

    async def _flush(self, intents: Sequence[Effect]) -> None:
        await self._open_waits()
        outcomes = tuple(self._outcomes)
        if not outcomes and not intents:
            return
        await self._offload.call(
            lambda: self._store.journal(self._turn, self._fence, outcomes, intents)
        )
        self._intended.update(effect.key for effect in intents)
        del self._outcomes[: len(outcomes)]
        self._moved()

    async def _open_waits(self) -> None:
        for wait in self._to_open:
            await self._offload.call(partial(self._store.open_wait, self._fence, wait, None))
        self._to_open.clear()

    def _known(self, effect: Effect) -> Journaled | None:
        entry = self._journal.get(effect.key)
        if entry is not None and entry.request_hash != effect.request_hash:
            raise ReplayMismatch(turn=self._turn, key=effect.key)
        return entry

    def _mine(self, entry: Journaled) -> bool:
        return (entry.generation, entry.token) == (self._fence.generation, self._fence.token.secret)

    def _kept(self, happened: Happened) -> Happened:
        """What arrived, to be stored; said in short if it is larger than this host can keep."""
        outcome = happened.outcome
        size = len(canonical(outcome.value))
        if size > self._caps.max_outcome_bytes:
            most = self._caps.max_outcome_bytes
            outcome = Outcome(
                status="error", value=f"it returned {size} bytes, this host keeps {most} at most"
            )
        self._outcomes.append((happened.key, outcome))
        if outcome.status == "waiting":
            self._waiting[happened.key] = outcome  # found so if it is started again
        return Happened(happened.key, outcome)
