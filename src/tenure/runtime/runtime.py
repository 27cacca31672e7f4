"""The runtime as a host embeds it. It starts nothing by itself and handles no signals."""

import asyncio
import random
from collections.abc import Sequence
from typing import Self

from tenure.kernel.identity import Executor, LeaseOwnerIdentity, new_id, this_process
from tenure.kernel.takeover import Licence
from tenure.runtime import admission
from tenure.runtime.access import StoreAccess
from tenure.runtime.admission import OnBusy
from tenure.runtime.errors import WiringError
from tenure.runtime.model.json import digest, plain
from tenure.runtime.model.message import Attachment, UserMessage
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import ParkedSession, SessionRecord
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.work import ActiveTurn, NewWork, turn_of
from tenure.runtime.offload import Offload
from tenure.runtime.picking import Picker, Wiring
from tenure.runtime.ports.plugin import PluginFactory, ProtocolFactory
from tenure.runtime.session import Session
from tenure.runtime.sessions import DrainStatus, SessionStore


class HostedRuntime:
    """A runtime over an opened store. Hosts make it through `tenure.Runtime`."""

    def __init__(
        self,
        wiring: Wiring,
        *,
        protocol: ProtocolFactory,
        factories: Sequence[PluginFactory],
        poll: float,
    ) -> None:
        self.wiring = wiring
        self.poll = poll  #: seconds between looks while somebody else drives
        self._protocol = protocol
        self._factories = factories
        self._handles: set[Session] = set()
        self._gone: dict[LeaseOwnerIdentity, str] = {}
        self._released = False
        wiring.licence = self.licence_for

    @property
    def access(self) -> StoreAccess:
        """The open store."""
        return self.wiring.access

    @property
    def store(self) -> SessionStore:
        """The store, to be called through `offload`."""
        return self.wiring.access.store

    @property
    def offload(self) -> Offload:
        """Where store calls are made."""
        return self.wiring.access.offload

    # sessions

    async def session(self, session: str, *, agent: str) -> Session:
        """A handle on a session, which is created if it is not there.

        Raises:
            AgentUnknown: no such agent is registered.
            SessionDeleted: the id was used and deleted.
            WiringError: the id is empty, or the session belongs to another agent.
        """
        if not session:
            raise WiringError(what="a session's id is empty", next="give it one that is used once")
        self.wiring.agent(agent)
        wanted = SessionRecord(
            id=session,
            agent=agent,
            host=self.wiring.host,
            created_wall_ns=self.wiring.clock.now().wall_ns,
        )
        found = await self.offload.call(lambda: self.store.create(wanted))
        if found.agent != agent:
            raise WiringError(
                what=f"session {session!r} belongs to agent {found.agent!r}, not {agent!r}",
                next="ask for that agent, or use another id",
            )
        return self._handle(found)

    async def resume(self, parked: ParkedSession) -> Session:
        """A handle on a parked session, in this process or any other.

        Raises: SessionMissing, SessionDeleted, AgentUnknown.
        """
        self.wiring.agent(parked.agent)
        found = await self.offload.call(lambda: self.store.session(parked.session))
        return self._handle(found)

    def _handle(self, found: SessionRecord) -> Session:
        handle = Session(self, found.id, found.agent)
        handle.load(found.settings)
        self._handles.add(handle)
        return handle

    def handles_of(self, session: str) -> set[Session]:
        """The open handles on a session in this runtime."""
        return {handle for handle in self._handles if handle.id == session}

    def forget(self, handle: Session) -> None:
        """A handle was parked or closed."""
        self._handles.discard(handle)

    # admission

    async def admit(
        self,
        session: str,
        agent: str,
        text: str,
        *,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        on_busy: OnBusy = "wait",
        active: ActiveTurn | None = None,
    ) -> str:
        """Admit input; the id of its turn, or of the work if it is for an open turn."""
        new, program = self._new(session, agent, text, key, attachments, active)
        row = await self.offload.call(lambda: self.store.admit(new, program, on_busy))
        return row.id if active is not None else turn_of(row.id)

    def submit(
        self,
        session: str,
        text: str,
        *,
        agent: str,
        key: str | None = None,
        connection: object = None,
        on_busy: OnBusy = "wait",
    ) -> str:
        """Admit a turn from a plain thread; its id. Nothing is driven.

        With `connection` it happens in the host's own transaction, and is admitted if and only
        if that commits. See `StoreAccess.inside` for which connections can do that.
        """
        new, program = self._new(session, agent, text, key, (), None)
        if connection is None:
            with self.access.here() as store:
                return turn_of(store.admit(new, program, on_busy).id)
        with self.access.inside(connection) as (tx, rows):
            return turn_of(admission.admit(tx, rows, new, program, on_busy).id)

    def _new(
        self,
        session: str,
        agent: str,
        text: str,
        key: str | None,
        attachments: tuple[Attachment, ...],
        active: ActiveTurn | None,
    ) -> tuple[NewWork, Program | None]:
        if key == "":
            raise WiringError(what="a key is empty", next="leave it out, or give one")
        found = self.wiring.agent(agent)
        more = [text for plugin in self.wiring.plugins if (text := plugin.instructions(agent))]
        content = plain(UserMessage(text=text, attachments=attachments))
        name = new_id() if key is None else digest("work id", [session, key])[:32]
        new = NewWork(id=name, session=session, content=content, source_key=key, active=active)
        return new, None if active is not None else found.program(more)

    # driving

    async def drive_once(self, limit: int = 1, *, concurrency: int = 1) -> list[TurnResult]:
        """Look once for turns that nobody drives, take over what may be taken, and drive them.

        At most `limit` turns, `concurrency` at a time; what was committed. A turn whose driving
        fails is left for whoever looks next.
        """
        sessions = await self.offload.call(lambda: self.store.to_drive(limit))
        gate = asyncio.Semaphore(concurrency)

        async def one(session: str) -> TurnResult | None:
            async with gate:
                return await self._pick_up(session)

        found = await asyncio.gather(*(one(s) for s in sessions), return_exceptions=True)
        failures = [f for f in found if isinstance(f, BaseException)]
        for failure in failures:
            if not isinstance(failure, Exception):
                raise failure
            self._tell(failure)
        return [result for result in found if isinstance(result, TurnResult)]

    async def drive(self, *, concurrency: int = 8) -> None:
        """Drive whatever is due, until this is cancelled. The host starts it and ends it.

        It looks again after `poll` seconds, shortened by chance, so that nothing is missed when a
        notification is, and many drivers do not look in step.
        """
        while True:
            driven = await self.drive_once(concurrency, concurrency=concurrency)
            if not driven:
                await asyncio.sleep(self.poll * random.uniform(0.5, 1.0))

    async def _pick_up(self, session: str) -> TurnResult | None:
        executor = Executor(owner=this_process(), executor_id=new_id())
        return await Picker(self.wiring, session, executor).pick_up(lambda _: None)

    def _tell(self, error: Exception) -> None:
        context = {"message": "a turn could not be driven; it stays admitted", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)

    # levers

    async def cancel_turn(self, turn: str, reason: str) -> bool:
        """Ask for a turn's end: before it starts, while it waits, or while anybody drives it.

        Whether it was still to come; what was committed stays. Its driver ends it at its next
        step, with a history that any provider accepts.
        """
        for handle in self._handles:
            handle.hear_cancel(turn, reason)
        counts = await self.offload.call(lambda: self.store.cancel_turn(turn, reason))
        return counts is not None

    async def abandon_turn_input_claim(self, turn: str, claim: str) -> str:
        """Hand a claimed turn back at once: handed_back, superseded or unknown.

        It does not stop whoever drives it; what they commit afterwards is refused.
        """
        return await self.offload.call(lambda: self.store.hand_back(turn, claim))

    async def abandon_turn_input_claims(self, owner: LeaseOwnerIdentity) -> dict[str, str]:
        """Hand back every turn that one incarnation of an owner has claimed; what became of each."""
        return await self.offload.call(lambda: self.store.hand_back_all(owner))

    async def declare_gone(self, owner: LeaseOwnerIdentity, evidence: str) -> None:
        """License takeovers from one incarnation of an owner, on an operator's word.

        It ends nothing by itself: lanes are taken over when somebody drives. The evidence is
        recorded with each takeover.
        """
        self._gone[owner] = evidence

    async def licence_for(self, session: str) -> Licence | None:
        """What was declared of the present holder of a session's lane."""
        if not self._gone:
            return None
        lane = await self.offload.call(lambda: self.store.lane(session))
        if lane is None or not lane.held:
            return None
        evidence = self._gone.get(lane.executor.owner)
        return None if evidence is None else Licence(ground="declared", evidence=evidence)

    async def delete_session(self, session: str) -> bool:
        """Delete a session for good; False while somebody holds its lane."""
        executor = Executor(owner=this_process(), executor_id=new_id())
        fence = await Picker(self.wiring, session, executor).enter()
        if fence is None:
            return False
        await self.offload.call(lambda: self.store.delete(fence))
        return True

    async def drain_status(self, limit: int = 1000) -> DrainStatus:
        """What is not at rest; read-only."""
        return await self.offload.call(lambda: self.store.drain_status(limit))

    async def inventory(self, after: str = "", limit: int = 100) -> list[SessionRecord]:
        """Sessions by id, a page at a time: pass the last id of a page as `after`."""
        return await self.offload.call(lambda: self.store.sessions(after, limit))

    async def vacuum(self, *, before_wall_ns: int, limit: int = 1000) -> int:
        """Drop old journals, at most `limit` turns'; how many. Called by the host, never by us."""
        return await self.offload.call(lambda: self.store.vacuum(before_wall_ns, limit))

    async def shutdown(self) -> None:
        """*Drains nothing.* Releases the protocol factory, then plugin factories in their order.

        Every one is visited; the first error is raised afterwards. Turns, handles, providers and
        sinks are not touched. Called again, nothing happens.
        """
        if self._released:
            return
        self._released = True
        first: Exception | None = None
        releases = [self._protocol.release, *(factory.release for factory in self._factories)]
        for release in releases:
            try:
                await release()
            except Exception as error:
                first = first or error
        if first is not None:
            raise first

    async def aclose(self) -> None:
        """Close the store and its threads. Drives nothing, releases no plugin, closes no provider."""
        self._handles.clear()
        await asyncio.to_thread(self.access.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
