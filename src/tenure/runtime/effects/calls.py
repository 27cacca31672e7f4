"""A tool call over a session store: its waits are rows, and its parts are in the turn's journal."""

import asyncio
from collections import Counter
from collections.abc import MutableMapping
from functools import partial
from typing import NamedTuple

from tenure.kernel.fence import Fence
from tenure.runtime.errors import PartFailed, PartInDoubt
from tenure.runtime.model.effect import Effect, Journaled, Outcome
from tenure.runtime.model.json import Json, canonical, plain
from tenure.runtime.model.program import InDoubt
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.wait import OpenWait, Resolution, WaitRow, wait_id
from tenure.runtime.offload import Offload
from tenure.runtime.sessions import SessionStore
from tenure.runtime.tools.calls import Doing, Suspended


class HeldTurn(NamedTuple):
    """A turn that is being driven: where it is stored, and under which fence."""

    store: SessionStore
    offload: Offload
    fence: Fence
    turn: TurnRecord


class WaitingCalls:
    """Waits of one tool call of a turn; `effect` is what it is."""

    def __init__(self, held: HeldTurn, effect: Effect) -> None:
        self._held = held
        self._effect = effect
        self._asked: Counter[bytes] = Counter()

    async def open_wait(self, name: str, asked: Json, seconds: float | None) -> OpenWait:
        """See `Calls`. Asked twice alike in one call, it is two waits."""
        question = canonical([name, asked])
        self._asked[question] += 1
        occurrence = f"{self._effect.key}.{self._asked[question]}"
        store, offload, fence, turn = self._held
        row = WaitRow(
            id=wait_id(turn.id, occurrence, name, asked),
            session=turn.session,
            turn=turn.id,
            name=name,
            asked=plain(asked),
            created_wall_ns=0,
        )
        return await offload.call(lambda: store.open_wait(fence, row, seconds))


class StoredCalls(WaitingCalls):
    """`Calls` of a drive that keeps a journal: a call that waits is over for now."""

    def __init__(
        self,
        held: HeldTurn,
        effect: Effect,
        *,
        journal: MutableMapping[str, Journaled],
        in_doubt: InDoubt,
    ) -> None:
        super().__init__(held, effect)
        self._journal = journal
        self._in_doubt = in_doubt
        self._parts: Counter[str] = Counter()

    async def answer(self, wait: OpenWait) -> Resolution:
        if wait.resolution is None:
            raise Suspended((wait.id,))
        return wait.resolution

    async def once(self, name: str, doing: Doing) -> Json:
        self._parts[name] += 1
        part = Effect(
            kind="part",
            occurrence=f"{self._effect.occurrence}.{name}.{self._parts[name]}",
            request={"of": self._effect.request_hash, "name": name},
        )
        known = self._journal.get(part.key)
        if known is not None and known.outcome is not None:
            return _value(name, known.outcome)
        if known is not None and self._in_doubt != "rerun":
            raise PartInDoubt(part=name, turn=self._held.turn.id)
        await self._record((), (part,))
        outcome = await _carried_out(doing)
        await self._record(((part.key, outcome),), ())
        self._journal[part.key] = Journaled(
            key=part.key,
            request_hash=part.request_hash,
            generation=self._held.fence.generation,
            token=self._held.fence.token.secret,
            outcome=outcome,
        )
        return _value(name, outcome)

    async def _record(
        self, outcomes: tuple[tuple[str, Outcome], ...], intents: tuple[Effect, ...]
    ) -> None:
        store, offload, fence, turn = self._held
        await offload.call(lambda: store.journal(turn.id, fence, outcomes, intents))


class InlineCalls(WaitingCalls):
    """`Calls` of a drive without a journal: a call waits where it is, and its turn is held."""

    def __init__(self, held: HeldTurn, effect: Effect, *, poll: float) -> None:
        super().__init__(held, effect)
        self._poll = poll

    async def answer(self, wait: OpenWait) -> Resolution:
        store, offload, _, _ = self._held
        while wait.resolution is None:
            await asyncio.sleep(self._poll)
            wait = await offload.call(partial(store.look, wait))
        return wait.resolution

    async def once(self, name: str, doing: Doing) -> Json:
        return _value(name, await _carried_out(doing))


async def _carried_out(doing: Doing) -> Outcome:
    try:
        return Outcome(status="ok", value=plain(await doing()))
    except Exception as error:  # whatever it is, it is what the part came to
        return Outcome(status="error", value=f"{type(error).__name__}: {error}")


def _value(name: str, outcome: Outcome) -> Json:
    if outcome.status != "ok":
        raise PartFailed(part=name, what=outcome.value)
    return outcome.value
