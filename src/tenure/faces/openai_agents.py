"""Sessions of the OpenAI Agents SDK in a Tenure store. Needs the extra `openai-agents`."""

from types import TracebackType
from typing import Self, cast

from agents import TResponseInputItem
from agents.memory import SessionSettings

from tenure.faces.guests import keep_of
from tenure.runtime.guests.item_list import ItemList
from tenure.runtime.guests.keep import OpenStore
from tenure.runtime.runtime import HostedRuntime


class TenureSession:
    """One conversation of the OpenAI Agents SDK, which no two runs can interleave.

    Pass it as `Runner.run(agent, text, session=TenureSession("chat-1", store))`: one object for
    each run, they cost nothing. Then no lane is held between two calls, and a write is refused
    with HeadConflict if anybody else wrote since this object first read the session: of two runs
    at once the first to write goes on, and the other one has to run again on what is there now.

    Inside `async with TenureSession(…) as session` the session's lane is held from the beginning
    of the block to its end and renewed by a task of the loop. Others are refused with LaneBusy,
    or wait up to their own `wait` seconds to get in. If the process stalls for longer than the
    lease, others may take over; whatever it writes afterwards is refused with HoldLost, which says
    by whom. A stall alone loses nothing.

    A refusal changes nothing, and what was refused once stays refused: make another object to go
    on. Every write is one transaction, on disk when it is answered, and completes when whoever
    awaits it is cancelled.
    """

    def __init__(
        self,
        session_id: str,
        store: OpenStore | HostedRuntime,
        *,
        session_settings: SessionSettings | None = None,
        wait: float = 0.0,
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = session_settings
        self._wait = wait
        self._items = ItemList(keep_of(store), session_id, "openai-agents")

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The conversation in order, or its last `limit` items; the default is the settings'.

        Raises: HeadConflict, SessionDeleted; HostMismatch: the id is an agent's of a runtime.
        """
        most = limit
        if most is None and self.session_settings is not None:
            most = self.session_settings.limit
        found = await self._items.read(None if most is None or most < 0 else most)
        return cast("list[TResponseInputItem]", found)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Append items, all or none.

        Raises: what `get_items` raises; LaneBusy, HoldLost; WiringError: one is not JSON.
        """
        await self._items.add(items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item away; None if there is none. Raises: what `add_items` raises."""
        return cast("TResponseInputItem | None", await self._items.pop())

    async def clear_session(self) -> None:
        """Take all items away; the session stays. Raises: what `add_items` raises."""
        await self._items.clear()

    async def delete_session(self) -> None:
        """Delete the session for good, with its items. Its id is never used again.

        Raises: LaneBusy: somebody else holds it.
        """
        await self._items.delete()

    async def __aenter__(self) -> Self:
        """Hold the session for a block. Raises: LaneBusy, SessionDeleted, HostMismatch."""
        await self._items.visit.hold(self._wait)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._items.visit.leave()
