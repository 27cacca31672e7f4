"""A list of JSON items as one visitor reads and writes it."""

import json
from collections.abc import Sequence

from tenure.kernel.errors import RecordUnreadable
from tenure.kernel.identity import new_id
from tenure.runtime.errors import SessionDeleted, SessionMissing, WiringError
from tenure.runtime.guests.items import Items, ItemStore
from tenure.runtime.guests.keep import Keep
from tenure.runtime.guests.visit import Visit
from tenure.runtime.model.json import Json
from tenure.runtime.model.session import HostKind


class ItemList:
    """The items of one guest session.

    Every method raises SessionDeleted and HostMismatch; HeadConflict once somebody else wrote
    since this list was first read; and what changes something raises HoldLost if it was held
    and taken over, and LaneBusy while somebody else holds it. A refusal changed nothing.
    """

    def __init__(self, keep: Keep, session: str, host: HostKind) -> None:
        self.visit = Visit(keep, session, host)
        self._store = keep.store.beside(ItemStore)
        self._session = session
        self._host = host

    async def read(self, limit: int | None) -> list[Json]:
        """The last `limit` items in order, or all."""

        async def read() -> list[Json]:
            found = await self._look(limit)
            return [_read(body, self._session) for body in found.bodies]

        return await self.visit.in_turn(read)

    async def add(self, items: Sequence[Json]) -> None:
        """Append items, all or none. Raises: WiringError: one is nothing that JSON can say."""
        bodies, call = [_written(item) for item in items], new_id()

        async def add() -> None:
            if self.visit.unseen:
                await self._look(0)
            await self.visit.write(lambda footing: self._store.add_items(footing, call, bodies))

        if bodies:
            await self.visit.in_turn(add)

    async def pop(self) -> Json | None:
        """Take the last item away; None if there is none."""

        async def pop() -> Json | None:
            found = await self._look(1)
            if not found.bodies:
                return None
            await self.visit.write(lambda footing: self._store.remove_items(footing, found.last))
            return _read(found.bodies[0], self._session)

        return await self.visit.in_turn(pop)

    async def clear(self) -> None:
        """Take all items away. The session stays."""

        async def clear() -> None:
            found = await self._look(1)
            if found.bodies:
                await self.visit.write(lambda footing: self._store.remove_items(footing, 0))

        await self.visit.in_turn(clear)

    async def delete(self) -> None:
        """Delete the session for good; deleted twice, or never written to, nothing happens."""

        async def delete() -> None:
            try:
                await self.visit.delete()
            except (SessionDeleted, SessionMissing):
                pass

        await self.visit.in_turn(delete)

    async def _look(self, limit: int | None) -> Items:
        found = await self.visit.read(lambda: self._store.items(self._session, self._host, limit))
        await self.visit.saw(found.head)
        return found


def _written(item: Json) -> str:
    # The standard library's, because it can say halves of surrogate pairs.
    try:
        return json.dumps(item, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise WiringError(
            what=f"an item is nothing that JSON can say: {error}", next="add plain values"
        ) from error


def _read(body: str, session: str) -> Json:
    try:
        return json.loads(body)
    except ValueError as error:
        noun = f"an item of session {session!r}"
        raise RecordUnreadable(record=noun, reason=str(error)) from error
