"""Answers from outside, as far as they go to the store's own waits."""

from tenure.runtime.model.event import Moved
from tenure.runtime.model.wait import Answered, Resolution
from tenure.runtime.ports.await_events import AwaitEventResolver
from tenure.runtime.wiring import Wiring


class StoredWaits(AwaitEventResolver):
    """The waits of a runtime's store. Whoever watches a turn here is told at once."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring

    async def resolve_await_event(self, key: str, answer: Resolution) -> Answered:
        """Answer a wait's row. Raises: WaitKeyUnknown."""
        store = self._wiring.store
        got = await self._wiring.asking.call(lambda: store.resolve(key, answer))
        self.tell(got)
        return got

    def resolve_here(self, key: str, answer: Resolution) -> Answered:
        """The same from a plain thread."""
        with self._wiring.access.here() as store:
            got = store.resolve(key, answer)
        self.tell(got)
        return got

    async def cancel_await_events_for_session(self, session: str, reason: str) -> int:
        """Cancel its open waits, a page at a time. Raises: SessionMissing, SessionDeleted."""
        store, count = self._wiring.store, 0
        await self._wiring.asking.call(lambda: store.session(session))
        while page := await self._wiring.asking.call(lambda: store.revoke_waits(session, reason)):
            count += page
        return count

    def tell(self, got: Answered) -> None:
        """Tell whoever watches the turn here that it may go on. A hint."""
        if got.first:
            self._wiring.watchers.emit(Moved(turn=got.turn, may_go_on=True))
