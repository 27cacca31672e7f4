"""A tool call over a session store: its waits are rows, and its parts are in the turn's journal."""

import asyncio
from collections import Counter
from collections.abc import MutableMapping
from functools import partial
from typing import NamedTuple

from tenure.kernel.fence import Fence
from tenure.runtime.effects.entries import Entries
from tenure.runtime.errors import PartFailed, PartInDoubt, ReplayMismatch
from tenure.runtime.model.effect import Effect, Journaled, Outcome
from tenure.runtime.model.json import Json, canonical, plain
from tenure.runtime.model.program import InDoubt
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.wait import OpenWait, Resolution, WaitRow, wait_id
from tenure.runtime.offload import Offload
from tenure.runtime.sessions import SessionStore
from tenure.runtime.tools.calls import Doing, Part, Suspended


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
        most: int,
    ) -> None:
        super().__init__(held, effect)
        self._most = most  #: bytes of an outcome
        self._journal = journal
        self._in_doubt = in_doubt
        self._parts: Counter[str] = Counter()
        self._entries = Entries(self._record)

    async def answer(self, wait: OpenWait) -> Resolution:
        if wait.resolution is None:
            raise Suspended((wait.id,))
        return wait.resolution

    async def once(self, name: str, doing: Doing) -> Json:
        return (await self._part(name, {"name": name}, self._in_doubt, doing, lazily=False)).value

    async def part(self, name: str, request: Json, in_doubt: InDoubt, doing: Doing) -> Part:
        asked, lazily = {"name": name, "asked": request}, in_doubt == "rerun"
        return await self._part(name, asked, in_doubt, doing, lazily=lazily)

    async def _part(
        self,
        name: str,
        request: dict[str, Json],
        in_doubt: InDoubt,
        doing: Doing,
        *,
        lazily: bool,
    ) -> Part:
        part, known = self._next(name, request)
        if known is not None and known.outcome is not None:
            return Part(_value(name, known.outcome), replayed=True)
        if known is not None and in_doubt != "rerun":
            raise PartInDoubt(part=name, turn=self._held.turn.id)
        self._entries.intend(part)  # with what came before, and before anything happens
        await self._entries.stored()
        self._note(part, None)
        outcome = self._sized(await _carried_out(doing))
        self._entries.end(part.key, outcome)
        if not lazily:
            await self._entries.stored()
        self._note(part, outcome)
        return Part(_value(name, outcome), replayed=False)

    def known(self, name: str, request: Json) -> Part | None:
        _, known = self._next(name, {"name": name, "asked": request})
        if known is None or known.outcome is None:
            return None
        return Part(_value(name, known.outcome), replayed=True)

    def _next(self, name: str, request: dict[str, Json]) -> tuple[Effect, Journaled | None]:
        """The next part of a name, and what the journal has of it."""
        self._parts[name] += 1
        part = Effect(
            kind="part",
            occurrence=f"{self._effect.occurrence}.{name}.{self._parts[name]}",
            request={"of": self._effect.request_hash, **request},
        )
        known = self._journal.get(part.key)
        if known is not None and known.request_hash != part.request_hash:
            raise ReplayMismatch(turn=self._held.turn.id, key=part.key)
        return part, known

    async def settled(self, *, keep: bool) -> None:
        await self._entries.settled(keep=keep)

    def _note(self, part: Effect, outcome: Outcome | None) -> None:
        """Have it be found if the call is made again in this drive."""
        self._journal[part.key] = Journaled(
            key=part.key,
            request_hash=part.request_hash,
            generation=self._held.fence.generation,
            token=self._held.fence.token.secret,
            outcome=outcome,
        )

    def _sized(self, outcome: Outcome) -> Outcome:
        """The outcome, or that it is larger than what is kept."""
        size = len(canonical(outcome.value))
        if size <= self._most:
            return outcome
        what = f"it returned {size} bytes, this host keeps {self._most} at most"
        return Outcome(status="error", value=what)

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

    async def part(self, name: str, request: Json, in_doubt: InDoubt, doing: Doing) -> Part:
        del request, in_doubt  # nothing is kept that they could be compared with
        return Part(await self.once(name, doing), replayed=False)

    def known(self, name: str, request: Json) -> Part | None:
        """Nothing is kept."""
        del name, request
        return None

    async def settled(self, *, keep: bool) -> None:
        """Nothing is ever under way."""


async def _carried_out(doing: Doing) -> Outcome:
    try:
        return Outcome(status="ok", value=plain(await doing()))
    except Exception as error:  # whatever it is, it is what the part came to
        return Outcome(status="error", value=f"{type(error).__name__}: {error}")


def _value(name: str, outcome: Outcome) -> Json:
    if outcome.status != "ok":
        raise PartFailed(part=name, what=outcome.value)
    return outcome.value
