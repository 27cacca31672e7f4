"""The levers: what a host composes its operations from. Each is explicit and may be repeated.

There is no drain, no signal handler and no policy here. When to stop admitting, how long to
wait and what to do with stragglers is the host's to decide, and every such decision can be
carried out with these.
"""

import asyncio
from collections.abc import Sequence

import msgspec

from tenure.kernel.errors import LaneBusy
from tenure.kernel.identity import (
    Executor,
    LeaseOwnerIdentity,
    mint_token,
    new_id,
    this_process,
)
from tenure.kernel.lane import AcquireRequest
from tenure.runtime.driving import HandedBack
from tenure.runtime.errors import SessionDeleted, SessionMissing, WiringError
from tenure.runtime.loop_thread import LoopThread
from tenure.runtime.model.json import Json, plain
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.wait import Answered, OpenWait, Resolution
from tenure.runtime.ports.await_events import AwaitEventResolver
from tenure.runtime.ports.plugin import PluginFactory, ProtocolFactory
from tenure.runtime.resolving import StoredWaits
from tenure.runtime.sessions import DrainStatus
from tenure.runtime.wiring import Wiring

_SECOND = 1_000_000_000


class Levers:
    """The levers of one runtime."""

    def __init__(
        self,
        wiring: Wiring,
        *,
        protocol: ProtocolFactory,
        factories: Sequence[PluginFactory],
        resolver: AwaitEventResolver | None = None,
    ) -> None:
        self.wiring = wiring
        self._protocol = protocol
        self._factories = factories
        self._releasing: asyncio.Future[None] | None = None
        self._loop_thread = LoopThread()
        self._stored_waits = StoredWaits(wiring)
        self.waits_of = resolver or self._stored_waits  #: where answers from outside go

    @property
    def owner(self) -> LeaseOwnerIdentity:
        """What this process is called in the store, for levers that other processes pull."""
        return this_process()

    # turns

    async def cancel_turn(self, turn: str, reason: str) -> bool:
        """Ask for a turn's end: before it starts, while it waits, or while anybody drives it.

        Whether it was still to come; what was committed stays. It waits for nobody: whoever
        drives the turn, here or elsewhere, ends it at its next step, with a history that any
        provider accepts. A turn that nobody drives ends when somebody does.
        """
        store = self.wiring.store
        counts = await self.wiring.asking.call(lambda: store.cancel_turn(turn, reason))
        driver = self.wiring.drivers.get(turn)
        if driver is not None and counts is not None:
            driver.cancel(counts)
        return counts is not None

    # claims

    async def abandon_turn_input_claim(self, turn: str, claim: str) -> HandedBack:
        """Hand a claimed turn back at once: handed_back, superseded or unknown.

        It ends the hold under which it was claimed, so that the next driver waits for no lease.
        It does not stop whoever drives it; whatever they write afterwards is refused.
        """
        store = self.wiring.store
        return await self.wiring.asking.call(lambda: store.hand_back(turn, claim, "input"))

    async def abandon_turn_input_claims(self, owner: LeaseOwnerIdentity) -> dict[str, HandedBack]:
        """Hand back every turn that one incarnation of an owner has claimed; what became of each."""
        store = self.wiring.store
        return await self.wiring.asking.call(lambda: store.hand_back_all(owner, "input"))

    async def abandon_queued_work_claim(self, turn: str, claim: str) -> HandedBack:
        """The same for a turn that the system's own work became: a wake."""
        store = self.wiring.store
        return await self.wiring.asking.call(lambda: store.hand_back(turn, claim, "queued"))

    async def abandon_queued_work_claims(self, owner: LeaseOwnerIdentity) -> dict[str, HandedBack]:
        """The same for everything of the system's own that an incarnation has claimed."""
        store = self.wiring.store
        return await self.wiring.asking.call(lambda: store.hand_back_all(owner, "queued"))

    # waits

    async def resolve(self, key: str, value: Json = None) -> Answered:
        """Answer a wait with a value, None included. Whoever is first does; everybody else gets
        the first one's answer, with `first` False. Its turn goes on with whoever drives next.

        Raises: WaitKeyUnknown; WiringError: the value is nothing that JSON can say.
        """
        return await self._answer(key, Resolution(word="value", value=_stored(value)))

    async def resolve_error(self, key: str, reason: str) -> Answered:
        """Answer a wait with an error, in words. Raises what `resolve` raises."""
        return await self._answer(key, Resolution(word="error", value=_stored(reason)))

    async def revoke_wait(self, key: str, reason: str = "revoked") -> Answered:
        """Cancel one wait: its turn is told so and goes on. Raises what `resolve` raises."""
        return await self._answer(key, Resolution(word="cancelled", value=_stored(reason)))

    async def revoke_durable_waits(self, session: str, reason: str = "revoked") -> int:
        """Cancel whatever a session waits for; how many waits. The session stays usable, and
        may wait again; its turns go on, and are told. Raises: SessionMissing, SessionDeleted.
        """
        count = await self.waits_of.cancel_await_events_for_session(session, _stored(reason))
        self._look_again()
        return count

    def resolve_sync(self, key: str, value: Json = None) -> Answered:
        """`resolve` from a plain thread, straight to the store."""
        got = self._stored_waits.resolve_here(key, Resolution(word="value", value=_stored(value)))
        self._look_again()
        return got

    async def waits(
        self, session: str | None = None, *, after: str = "", limit: int = 100
    ) -> list[OpenWait]:
        """What nobody has answered yet, of one session or of all: pass the `id` of a page's last
        as `after`; read-only."""
        store = self.wiring.store
        return await self.wiring.asking.call(lambda: store.open_waits(session, after, limit))

    async def _answer(self, key: str, answer: Resolution) -> Answered:
        got = await self.waits_of.resolve_await_event(key, answer)
        self._look_again()
        return got

    def _look_again(self) -> None:
        """Have whoever drives here look for turns that may go on. A hint."""

    # owners

    async def declare_gone(self, owner: LeaseOwnerIdentity, evidence: str) -> None:
        """License this runtime to take over from one incarnation of an owner, on your word.

        It ends nothing by itself: lanes are taken over when somebody drives, and the evidence is
        recorded there. Other runtimes are not told. If the owner lives after all, its work is
        refused from then on, and nothing is lost or done twice that was recorded.
        """
        self.wiring.gone[owner] = evidence

    # looking

    async def drain_status(self, *, after: str = "", limit: int = 100) -> DrainStatus:
        """What is not at rest, for at most `limit` sessions; read-only.

        Pass `next` of a page as `after` for the page that follows. A page is one moment; the
        pages together are none.
        """
        store = self.wiring.store
        return await self.wiring.asking.call(lambda: store.drain_status(limit, after))

    async def inventory(self, *, after: str = "", limit: int = 100) -> list[SessionRecord]:
        """Sessions by id, deleted ones too: pass the last id of a page as `after`; read-only."""
        store = self.wiring.store
        return await self.wiring.asking.call(lambda: store.sessions(after, limit))

    # keeping house

    async def delete_session(self, session: str) -> bool:
        """Delete a session for good with all it has, blobs too; its id is not used again.

        False while somebody drives it, and nothing happened. Deleted twice, it is deleted.

        Raises: SessionMissing.
        """
        store, gone = self.wiring.store, dict(self.wiring.gone)
        request = AcquireRequest(
            lane=session,
            executor=Executor(owner=this_process(), executor_id=new_id()),
            token=mint_token(),
            timings=self.wiring.timings,
        )
        try:
            await self.wiring.asking.call(lambda: store.delete_free(request, gone))
        except LaneBusy:
            return False
        except SessionDeleted:
            pass
        await self._remove_blobs(session)
        return True

    async def vacuum(self, *, older_than: float, limit: int = 1000) -> int:
        """Drop what nobody needs any more: work that was taken back that many seconds ago and that
        no key stands for, and blobs that a deleted session left; at most `limit` of them. How
        many were dropped.

        Results, messages and idempotency keys stay as long as their session; a journal goes with
        the commit of its turn. Called by the host again until there is nothing left, and never
        by us.
        """
        store = self.wiring.store
        before = self.wiring.clock.now().wall_ns - round(older_than * _SECOND)
        work = await self.wiring.asking.call(lambda: store.vacuum(before, limit))
        return work + await self._vacuum_blobs(limit - work)

    async def _vacuum_blobs(self, limit: int) -> int:
        removed = 0
        for owner in await asyncio.to_thread(self.wiring.access.blobs.owners):
            if removed >= limit:
                break
            if not await self._exists(owner):
                await self._remove_blobs(owner)
                removed += 1
        return removed

    async def _exists(self, session: str) -> bool:
        store = self.wiring.store
        try:
            await self.wiring.asking.call(lambda: store.session(session))
        except (SessionDeleted, SessionMissing):
            return False
        return True

    async def _remove_blobs(self, session: str) -> None:
        await asyncio.to_thread(self.wiring.access.blobs.remove, session)

    # the end

    async def shutdown(self) -> None:
        """*Drains nothing.* Releases the protocol factory, then plugin factories in their order.

        Every one is visited, once; the first error is raised afterwards, to everybody who asks.
        Turns, handles, providers and sinks are not touched.
        """
        if self._releasing is None:
            self._releasing = asyncio.ensure_future(self._release_all())
        if self._releasing.done():
            return self._releasing.result()
        return await asyncio.shield(self._releasing)

    async def _release_all(self) -> None:
        first: BaseException | None = None
        for release in (self._protocol.release, *(f.release for f in self._factories)):
            try:
                await release()
            except (Exception, asyncio.CancelledError) as error:
                first = first or error
        if first is not None:
            raise first

    async def aclose(self) -> None:
        """Close the store and its threads. Drives nothing, releases no plugin, closes no provider.

        Turns that are being driven end with RuntimeClosed and stay admitted. Closed twice,
        nothing happens.
        """
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """`aclose` for hosts without an event loop."""
        self._loop_thread.close()
        self.wiring.access.close()


def _stored(value: Json) -> Json:
    """A value as it is stored."""
    try:
        return plain(value)
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise WiringError(
            what=f"an answer is no JSON: {error}", next="answer with plain values"
        ) from error
