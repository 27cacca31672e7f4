"""The runtime as a host embeds it. It starts nothing by itself and handles no signals."""

import contextlib
import weakref
from collections.abc import AsyncGenerator, Sequence
from typing import Self

from tenure.runtime.admission import OnBusy
from tenure.runtime.errors import WiringError
from tenure.runtime.intake import Intake, work_id
from tenure.runtime.levers import Levers
from tenure.runtime.model.event import Observed
from tenure.runtime.model.message import Attachment
from tenure.runtime.model.session import ParkedSession, SessionRecord
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.work import turn_of
from tenure.runtime.observing import BUFFER, Observation
from tenure.runtime.ports.await_events import AwaitEventResolver
from tenure.runtime.ports.plugin import PluginFactory, ProtocolFactory
from tenure.runtime.scanner import Scanner
from tenure.runtime.session import Session
from tenure.runtime.wiring import Wiring


class HostedRuntime(Levers):
    """A runtime over an opened store. Hosts make it through `tenure.Runtime`."""

    def __init__(
        self,
        wiring: Wiring,
        *,
        protocol: ProtocolFactory,
        factories: Sequence[PluginFactory],
        poll: float,
        resolver: AwaitEventResolver | None = None,
    ) -> None:
        super().__init__(wiring, protocol=protocol, factories=factories, resolver=resolver)
        self.poll = poll  #: seconds between looks while somebody else drives
        self.intake = Intake(wiring)
        self._scanner = Scanner(wiring, self.intake, poll)
        self._handles: weakref.WeakSet[Session] = weakref.WeakSet()

    def _look_again(self) -> None:
        self.intake.kick()

    # sessions

    async def session(self, session: str, *, agent: str) -> Session:
        """A handle on a session, which is created if it is not there.

        Raises:
            AgentUnknown: no such agent is registered.
            SessionDeleted: the id was used and deleted.
            WiringError: the id is empty, or the session belongs to another agent.
        """
        wanted, store = self.intake.record(session, agent), self.wiring.store
        return self._handle(await self.wiring.asking.call(lambda: store.create(wanted)), agent)

    async def resume(self, parked: ParkedSession) -> Session:
        """A handle on a parked session, in this process or any other.

        Raises: SessionMissing, SessionDeleted, AgentUnknown.
        """
        self.wiring.agent(parked.agent)
        store = self.wiring.store
        found = await self.wiring.asking.call(lambda: store.session(parked.session))
        return self._handle(found, parked.agent)

    def _handle(self, found: SessionRecord, agent: str) -> Session:
        if found.agent != agent:
            raise WiringError(
                what=f"session {found.id!r} belongs to agent {found.agent!r}, not {agent!r}",
                next="ask for that agent, or use another id",
            )
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

    def turn_id(self, session: str, key: str) -> str:
        """The id of the turn that a key stands for, also before it is admitted: for cancelling."""
        return turn_of(work_id(session, key))

    # admission without a handle

    def submit(
        self,
        session: str,
        text: str,
        *,
        agent: str,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        connection: object = None,
        on_busy: OnBusy = "wait",
    ) -> str:
        """Admit a turn from a plain thread, in a session that is created if it is not there; the
        turn's id. Nothing is driven.

        With `connection` it happens in the host's own open transaction, and the turn is admitted
        if and only if that commits. Only an apsw connection to the store's own file can do that.

        Raises:
            what `Session.submit` raises; WiringError: the connection would lose rows.
        """
        return self.intake.submit(
            session,
            agent,
            text,
            key=key,
            attachments=attachments,
            connection=connection,
            on_busy=on_busy,
        )

    async def wake(
        self, session: str, text: str, *, key: str | None = None, delay: float = 0.0
    ) -> str:
        """Say something to a session on the system's own behalf, `delay` seconds from now at the
        earliest; the turn's id. It is one turn in the session's order, with whatever its agent is
        when it starts, and counts as nobody's waiting.
        """
        prepared = self.intake.prepare(session, None, text, key=key, kind="queued", delay=delay)
        await self.intake.admit(prepared)
        return prepared.turn

    def turn_sync(
        self,
        session: str,
        text: str,
        *,
        agent: str,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        on_busy: OnBusy = "wait",
    ) -> TurnResult:
        """`Session.turn` for a plain thread, on the one loop thread of this runtime.

        Raises: what it raises; WiringError: the calling thread runs an event loop.
        """

        async def turn() -> TurnResult:
            handle = await self.session(session, agent=agent)
            try:
                return await handle.turn(text, key=key, attachments=attachments, on_busy=on_busy)
            finally:
                self.forget(handle)

        return self._loop_thread.run(turn)

    # observing

    async def observe(
        self, turn: str, after: str | None = None, *, buffer: int = BUFFER
    ) -> AsyncGenerator[Observed, None]:
        """Show what happens in a turn from its beginning, or behind a cursor; the last event is
        its commit.

        What is recorded is shown to everybody in one order, at any time, whoever drives the turn.
        The pieces of an answer are shown by the runtime that drives, as long as it has them; what
        is lost of them, also because more than `buffer` wait for this observer, a `Resync` says.
        A turn that waits is not over. Events of another process are seen within `poll` seconds.
        Nothing is admitted and nothing driven, and nobody waits for an observer.

        Raises:
            TurnMissing: there is no such turn.
            CursorUnknown: `after` is no cursor of it.
            SessionDeleted: the turn went with its session.
        """
        observation = Observation(self.wiring, turn, after, buffer=buffer, poll=self.poll)
        async with contextlib.aclosing(observation.observe()) as shown:
            async for observed in shown:
                yield observed

    # driving

    async def drive_once(self, limit: int = 1, *, concurrency: int = 1) -> list[TurnResult]:
        """Look once for turns that nobody drives, take over what may be taken, and drive them.

        At most `limit` turns, `concurrency` at a time; what was committed. A turn whose driving
        fails is told to the loop's exception handler and left for whoever looks next.
        """
        return await self._scanner.once(limit, concurrency)

    async def drive(self, *, concurrency: int = 8) -> None:
        """Drive whatever is due, until this is cancelled. The host starts it and ends it.

        It looks again whenever a turn is over and after `poll` seconds, shortened by chance, so
        that nothing is missed when a notification is, and many drivers do not look in step.
        Cancelled, it hands back what it drives.
        """
        await self._scanner.forever(concurrency)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
