"""A session's handle: what a host holds to have turns run. It holds no lane between turns."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Mapping
from typing import Protocol, Self

import msgspec

from tenure.runtime.admission import OnBusy
from tenure.runtime.errors import HandleClosed, SessionStillInUse, TurnNotOver, WiringError
from tenure.runtime.intake import Intake, Prepared
from tenure.runtime.model.event import Event, Moved, TurnEvent, TurnFinished
from tenure.runtime.model.json import Json, plain
from tenure.runtime.model.message import Attachment, Message
from tenure.runtime.model.session import ParkedSession
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.work import OVER, ActiveTurn, Boundary, turn_of
from tenure.runtime.observing import BUFFER, Observation
from tenure.runtime.picking import Picker
from tenure.runtime.starting import First
from tenure.runtime.watching import until_set
from tenure.runtime.wiring import Wiring


class SessionHost(Protocol):
    """What a handle needs of the runtime that made it."""

    wiring: Wiring
    intake: Intake
    poll: float

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
        self._wiring = runtime.wiring
        self._picker = Picker(runtime.wiring, session, agent)
        self._settings: dict[str, Json] = {}
        self._unsaved = False
        self._turns = 0  #: turns this handle waits for right now
        self._ending = asyncio.Lock()
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
            BlobMissing: an attachment was never put.
        """
        prepared = self._prepare(text, key, attachments)
        return await self._turn(prepared, attachments, on_busy)

    async def submit(
        self,
        text: str,
        *,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        on_busy: OnBusy = "wait",
    ) -> str:
        """Admit a turn and return its id; nothing is driven. Raises what `turn` raises."""
        prepared = self._prepare(text, key, attachments)
        await self._runtime.intake.admit(prepared, attachments, on_busy)
        return prepared.turn

    async def say(
        self,
        text: str,
        *,
        to: str,
        at: Boundary = "after_work",
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
    ) -> str:
        """Say something to an open turn, at its next boundary; the id of the work.

        `after_work` is after the tools that it waits for, or else when it is about to complete;
        `before_completion` only then. If the turn is over by that time, it simply is the next
        turn's input, and that turn's id is `turn-` and the id of the work.

        Raises: TurnMissing: this session never had that turn.
        """
        self._check_open()
        active = ActiveTurn(turn=to, boundary=at)
        intake = self._runtime.intake
        prepared = intake.prepare(
            self.id, self.agent, text, key=key, attachments=attachments, active=active
        )
        row = await intake.admit(prepared, attachments)
        return row.id

    async def wait(self, turn: str) -> TurnResult:
        """Wait for an admitted turn, driving this session whenever its lane is free.

        Raises: TurnMissing: this session never had that turn.
        """
        self._check_open()
        try:
            return await self._result(turn)
        except TurnNotOver:
            return await self._counted(turn)

    async def _turn(
        self, prepared: Prepared, attachments: tuple[Attachment, ...], on_busy: OnBusy
    ) -> TurnResult:
        intake = self._runtime.intake
        if self._picker.idle and not attachments:  # admitted with what begins its driving
            return await self._counted(prepared.turn, intake.admission(prepared, on_busy))
        row = await intake.admit(prepared, attachments, on_busy)
        if row.state in OVER:
            return await self._result(turn_of(row.id))
        return await self._counted(turn_of(row.id))

    async def _counted(self, turn: str, first: First | None = None) -> TurnResult:
        self._turns += 1
        try:
            return await self._until_over(turn, first)
        finally:
            self._turns -= 1

    async def _until_over(self, turn: str, first: First | None) -> TurnResult:
        look = asyncio.Event()

        def seen(event: TurnEvent) -> None:
            if isinstance(event, TurnFinished) or (isinstance(event, Moved) and event.may_go_on):
                look.set()

        with self._wiring.watchers.watching(turn, seen):
            while True:
                picked = await self._picker.pick_up(first)
                if first is not None and picked is None:
                    self._runtime.intake.kick()
                first = None
                if picked is not None and picked.turn == turn:
                    return picked
                if picked is not None:
                    continue
                try:
                    return await self._result(turn)
                except TurnNotOver:
                    await until_set(look, self._runtime.poll * random.uniform(0.5, 1.0))
                    look.clear()

    async def _result(self, turn: str) -> TurnResult:
        store = self._wiring.store
        return await self._wiring.asking.call(lambda: store.result(turn, self.id))

    async def stream(
        self,
        text: str,
        *,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        on_busy: OnBusy = "wait",
    ) -> AsyncGenerator[Event, None]:
        """Admit a turn, drive it, and show what happens in it from its beginning; the last event
        is its commit.

        Leaving the iteration stops driving, as cancelling `turn` does; `contextlib.aclosing` has
        it stopped by the end of its block. To watch without driving, and to go on where a
        connection was lost, see `Runtime.observe`, whose events these are.
        """
        prepared = self._prepare(text, key, attachments)
        driving = asyncio.ensure_future(self._turn(prepared, attachments, on_busy))
        try:
            observation = Observation(
                self._wiring, prepared.turn, None, buffer=BUFFER, poll=self._runtime.poll
            )
            async with contextlib.aclosing(observation.observe(driving)) as shown:
                async for observed in shown:
                    yield observed.event
        finally:
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)

    def _prepare(self, text: str, key: str | None, attachments: tuple[Attachment, ...]) -> Prepared:
        self._check_open()
        intake = self._runtime.intake
        return intake.prepare(self.id, self.agent, text, key=key, attachments=attachments)

    # attachments

    async def attach(self, content: bytes, *, media_type: str, name: str = "") -> Attachment:
        """Store bytes for this session, to be attached to what is said in it.

        They are on the disk when this returns, and stay as long as the session.
        """
        self._check_open()
        blobs = self._wiring.access.blobs
        digest = await asyncio.to_thread(blobs.put, self.id, content)
        return Attachment(digest=digest, media_type=media_type, name=name, size=len(content))

    async def content(self, attachment: Attachment) -> bytes:
        """The bytes of an attachment. Raises: BlobMissing: this session has none like that."""
        self._check_open()
        blobs = self._wiring.access.blobs
        return await asyncio.to_thread(blobs.get, self.id, attachment.digest)

    # reading and settings

    async def messages(self, *, after: int = 0, limit: int | None = None) -> list[Message]:
        """Committed messages with a number above `after`, at most `limit` of them.

        Raises: WiringError: a number below zero.
        """
        self._check_open()
        if after < 0 or (limit is not None and limit < 0):
            raise WiringError(
                what=f"after={after} and limit={limit} ask for no messages",
                next="count both from 0",
            )
        store = self._wiring.store
        return await self._wiring.asking.call(lambda: store.messages(self.id, after, limit))

    @property
    def settings(self) -> Mapping[str, Json]:
        """The settings as this handle has them; written by `save`, `park` and `close`."""
        return self._settings

    def set(self, **settings: Json) -> None:
        """Change settings of the session in this handle.

        Raises: WiringError: a value is nothing that JSON can say.
        """
        self._check_open()
        try:
            self._settings.update(plain(settings))
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise WiringError(
                what=f"settings of session {self.id!r} are no JSON: {error}",
                next="use plain values",
            ) from error
        self._unsaved = True

    async def save(self) -> None:
        """Write changed settings."""
        if self._unsaved:
            store, settings = self._wiring.store, dict(self._settings)
            self._unsaved = False
            try:
                await self._wiring.asking.call(lambda: store.configure(self.id, settings))
            except BaseException:
                self._unsaved = True
                raise

    def load(self, settings: Mapping[str, Json]) -> None:
        """Take settings as they are stored."""
        self._settings = dict(settings)
        self._unsaved = False

    # ending

    async def park(self) -> ParkedSession:
        """Hand the handle back for a ticket to resume from, in any process. Drives nothing.

        Unsaved settings are written. Admitted turns stay admitted. Parked again, the same ticket.

        Raises:
            SessionStillInUse: another handle is open, or this one waits for a turn; nothing
                happened and this handle stays usable.
            HandleClosed: it was closed.
        """
        async with self._ending:
            if self._ended != "parked":
                self._check_open()
                await self._end("parked")
        return ParkedSession(session=self.id, agent=self.agent, settings=dict(self._settings))

    async def close(self) -> None:
        """Park without a ticket. Raises what `park` raises. Closed twice, nothing happens."""
        async with self._ending:
            if self._ended is None:
                await self._end("closed")

    def drop(self) -> None:
        """Let go of this handle alone, whoever else has one; unsaved settings are lost.

        As if nobody had it any more, which does the same once it is collected. Idempotent.
        """
        self._ended = self._ended or "dropped"
        self._runtime.forget(self)

    async def _end(self, how: str) -> None:
        others = self._runtime.handles_of(self.id) - {self}
        if others or self._turns:
            raise SessionStillInUse(session=self.id, handles=len(others), turns=self._turns)
        self._ended = how  # from here on it takes nothing new
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
        """Write changed settings and drop the handle: other handles are no failure here."""
        if self._ended is None:
            await self.save()
            self.drop()
