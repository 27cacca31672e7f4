"""What parts record, on its way to the store: in its order, and as much at once as is there."""

import asyncio
from collections.abc import Awaitable, Callable

from tenure.kernel.errors import TenureError
from tenure.runtime.model.effect import Effect, Outcome

#: Outcomes and intents, to be stored in one transaction.
Record = Callable[[tuple[tuple[str, Outcome], ...], tuple[Effect, ...]], Awaitable[None]]

#: Seconds that an outcome waits for what is to be stored with it.
_PATIENCE = 0.05


class Entries:
    """The entries of one call. `record` stores some; what it refuses once, is refused from then on."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._outcomes: list[tuple[str, Outcome]] = []
        self._intents: list[Effect] = []
        self._writing: asyncio.Task[None] | None = None
        self._later: asyncio.TimerHandle | None = None
        self._refused: TenureError | None = None

    def intend(self, effect: Effect) -> None:
        """Have an intent stored with whatever is next."""
        self._intents.append(effect)

    def end(self, key: str, outcome: Outcome) -> None:
        """Have an outcome stored with whatever is next, and soon anyway."""
        self._outcomes.append((key, outcome))
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(_PATIENCE, self.begin)

    def begin(self) -> None:
        """Store what is there, without waiting for it."""
        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._writing is None and (self._outcomes or self._intents) and self._refused is None:
            self._writing = asyncio.ensure_future(self._write())

    async def _write(self) -> None:
        try:
            while self._outcomes or self._intents:
                outcomes, intents = tuple(self._outcomes), tuple(self._intents)
                self._outcomes.clear()
                self._intents.clear()
                await self._record(outcomes, intents)
        except TenureError as error:
            self._refused = error
        finally:
            self._writing = None

    async def stored(self) -> None:
        """Everything so far is stored. Cancelled, it goes on being stored.

        Raises: what the store refused.
        """
        self.begin()
        if self._writing is not None:
            await asyncio.shield(self._writing)
        if self._refused is not None:
            raise self._refused

    async def settled(self, *, keep: bool) -> None:
        """Nothing is under way any more; what had not begun is stored, or of no use to anybody.

        Raises: what the store refused.
        """
        if not keep:
            self._outcomes.clear()
            self._intents.clear()
        await self.stored()
