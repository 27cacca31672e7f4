"""A session's handle: what a host holds to have turns run. It holds no lane between turns."""

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from typing import Protocol, Self

from tenure.kernel.identity import Executor, new_id, this_process
from tenure.runtime.admission import OnBusy
from tenure.runtime.errors import HandleClosed, SessionStillInUse, TurnNotOver
from tenure.runtime.model.event import Event, TurnEvent, TurnFinished
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import Attachment, Message
from tenure.runtime.model.session import ParkedSession
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.work import ActiveTurn, Boundary
from tenure.runtime.offload import Offload
from tenure.runtime.picking import Emit, Picker, Wiring
from tenure.runtime.sessions import SessionStore


class SessionHost(Protocol):
    """What a handle needs of the runtime that made it."""

    wiring: Wiring
    poll: float

    @property
    def store(self) -> SessionStore:
        """The store, to be called through `offload`."""
        ...

    @property
    def offload(self) -> Offload:
        """Where store calls are made."""
        ...

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
        ...

    def handles_of(self, session: str) -> "set[Session]":
        """The open handles on a session."""
        ...

    def forget(self, handle: "Session") -> None:
        """A handle was parked or closed."""
        ...


class Session:
    """One open handle. Made by `Runtime.session` and `Runtime.resume`."""

    def __init__(self, runtime: SessionHost, session: str, agent: str) -> None:
        self.id = session
        self.agent = agent
        self._runtime = runtime
        executor = Executor(owner=this_process(), executor_id=new_id())
        self._picker = Picker(runtime.wiring, session, executor)
        self._settings: dict[str, Json] = {}
        self._unsaved = False
        self._turns = 0  #: turns this handle waits for right now
        self._ended: str | None = None

    # turns

    async def turn(
        self,
        text: str,
        *,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        on_busy: OnBusy = "wait",
    ) -> TurnResult:
        """Admit a turn and drive it, and whatever is before it, to its commit.

        With `key` the same question is one turn, however often and from wherever it is asked.
        Cancelling the task that awaits this stops driving and hands the turn back: it stays
        admitted. Only `Runtime.cancel_turn` cancels it.

        Raises:
            SessionBusy: with on_busy="fail", and nothing was admitted.
            WorkConflict: the key was used with other content.
        """
        turn = await self.submit(text, key=key, attachments=attachments, on_busy=on_busy)
        return await self.wait(turn)

    async def submit(
        self,
        text: str,
        *,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        on_busy: OnBusy = "wait",
    ) -> str:
        """Admit a turn and return its id; nothing is driven."""
        self._check_open()
        return await self._runtime.admit(
            self.id, self.agent, text, key=key, attachments=attachments, on_busy=on_busy
        )

    async def say(
        self, text: str, *, to: str, at: Boundary = "after_work", key: str | None = None
    ) -> str:
        """Say something to an open turn, at its next boundary; the id of the work.

        If the turn is over by then, it simply is the next turn's input.
        """
        self._check_open()
        active = ActiveTurn(turn=to, boundary=at)
        return await self._runtime.admit(self.id, self.agent, text, key=key, active=active)

    async def wait(self, turn: str, emit: Emit | None = None) -> TurnResult:
        """Wait for an admitted turn, driving this session whenever its lane is free."""
        self._check_open()
        self._turns += 1
        try:
            return await self._until_over(turn, emit or _nobody)
        finally:
            self._turns -= 1

    async def _until_over(self, turn: str, emit: Emit) -> TurnResult:
        store, offload = self._runtime.store, self._runtime.offload
        while True:
            picked = await self._picker.pick_up(emit)
            if picked is not None and picked.turn == turn:
                return picked
            if picked is not None:
                continue
            try:
                return await offload.call(lambda: store.result(turn))
            except TurnNotOver:
                await asyncio.sleep(self._runtime.poll * random.uniform(0.5, 1.0))

    async def stream(self, text: str, *, key: str | None = None) -> AsyncIterator[Event]:
        """Admit a turn and show what happens in it; the last event is its commit.

        Leaving the iteration stops driving, as cancelling `turn` does. Events of what another
        process drives are not seen here; the commit is.
        """
        turn = await self.submit(text, key=key)
        queue: asyncio.Queue[TurnEvent] = asyncio.Queue()
        driving = asyncio.ensure_future(self.wait(turn, queue.put_nowait))
        try:
            seen_end = False
            while not seen_end:
                event = await _next_event(queue, driving)
                if event is None:
                    break
                if event.turn == turn:
                    seen_end = isinstance(event, TurnFinished)
                    yield _told(event)
            result = await driving
            if not seen_end:
                yield TurnFinished(turn=turn, result=result)
        finally:
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)

    # reading and settings

    async def messages(self, *, after: int = 0, limit: int | None = None) -> list[Message]:
        """Committed messages with a number above `after`."""
        self._check_open()
        store = self._runtime.store
        return await self._runtime.offload.call(lambda: store.messages(self.id, after, limit))

    @property
    def settings(self) -> Mapping[str, Json]:
        """The settings as this handle has them; written by `save`, `park` and `close`."""
        return self._settings

    def set(self, **settings: Json) -> None:
        """Change settings of the session in this handle."""
        self._check_open()
        self._settings.update(settings)
        self._unsaved = True

    async def save(self) -> None:
        """Write changed settings."""
        if self._unsaved:
            store, settings = self._runtime.store, dict(self._settings)
            await self._runtime.offload.call(lambda: store.configure(self.id, settings))
            self._unsaved = False

    def load(self, settings: Mapping[str, Json]) -> None:
        """Take settings as they are stored."""
        self._settings = dict(settings)
        self._unsaved = False

    def hear_cancel(self, turn: str, reason: str) -> None:
        """If this handle drives the turn, tell its driver at once."""
        driver = self._picker.driving
        if driver is not None and driver.turn == turn:
            driver.cancel(reason)

    # ending

    async def park(self) -> ParkedSession:
        """Hand the handle back for a ticket to resume from, in any process. Drives nothing.

        Unsaved settings are written. Admitted turns stay admitted.

        Raises:
            SessionStillInUse: another handle is open, or this one waits for a turn; nothing
                happened and this handle stays usable.
        """
        await self._end("parked")
        return ParkedSession(session=self.id, agent=self.agent, settings=dict(self._settings))

    async def close(self) -> None:
        """Park without a ticket. Raises what `park` raises. Closed twice, nothing happens."""
        if self._ended is None:
            await self._end("closed")

    async def _end(self, how: str) -> None:
        self._check_open()
        others = self._runtime.handles_of(self.id) - {self}
        if others or self._turns:
            raise SessionStillInUse(session=self.id, handles=len(others) + bool(self._turns))
        self._ended = how
        try:
            await self.save()
        except BaseException:
            self._ended = None
            raise
        self._runtime.forget(self)

    def _check_open(self) -> None:
        if self._ended is not None:
            raise HandleClosed(session=self.id, how=self._ended)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _next_event(
    queue: "asyncio.Queue[TurnEvent]", driving: "asyncio.Future[TurnResult]"
) -> TurnEvent | None:
    """The next event, None once the driving is over and everything was shown."""
    while queue.empty() and not driving.done():
        getting = asyncio.ensure_future(queue.get())
        try:
            await asyncio.wait((getting, driving), return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                return getting.result()
        finally:
            getting.cancel()
    return None if queue.empty() else queue.get_nowait()


def _told(event: TurnEvent) -> Event:
    assert isinstance(event, Event), "every event is one of those that are declared"
    return event


def _nobody(event: TurnEvent) -> None:
    """Nobody watches."""
    del event
