"""Intake: from what somebody says to work that is admitted."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from tenure.kernel.identity import new_id_at
from tenure.runtime.admission import OnBusy
from tenure.runtime.errors import BlobMissing, WiringError
from tenure.runtime.model.json import digest, plain
from tenure.runtime.model.message import Attachment, UserMessage
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.work import OVER, ActiveTurn, NewWork, WorkKind, WorkRow, due, turn_of
from tenure.runtime.wiring import Wiring


class Prepared(NamedTuple):
    """Work that can be admitted, however often that is tried."""

    work: NewWork
    program: Program | None

    @property
    def turn(self) -> str:
        """The id of the turn that it becomes, unless it is meant for one that is open."""
        return turn_of(self.work.id)


class Intake:
    """Prepares and admits work for the sessions of one store."""

    def __init__(self, wiring: Wiring) -> None:
        self._wiring = wiring
        self._kicks: set[Callable[[], None]] = set()

    def listen(self, kick: Callable[[], None]) -> Callable[[], None]:
        """Have `kick` called, in whatever thread, when something was admitted here. A hint.

        Returns what ends it.
        """
        self._kicks.add(kick)
        return lambda: self._kicks.discard(kick)

    def record(self, session: str, agent: str) -> SessionRecord:
        """A session to be created. Raises: AgentUnknown; WiringError: an id that cannot be one."""
        checked(session, "a session's id")
        self._wiring.agent(agent)
        now = self._wiring.clock.now().wall_ns
        return SessionRecord(id=session, agent=agent, host=self._wiring.host, created_wall_ns=now)

    def prepare(
        self,
        session: str,
        agent: str | None,
        text: str,
        *,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        active: ActiveTurn | None = None,
        kind: WorkKind = "input",
        delay: float = 0.0,
    ) -> Prepared:
        """Work with an id, which the key decides if there is one.

        Without an agent it is pinned to what the agent is when it starts.

        Raises:
            AgentUnknown; WiringError: a key or a text that cannot be stored.
        """
        if key is not None:
            checked(key, "a key")
        content = _content(text, attachments)
        now = self._wiring.clock.now().wall_ns
        name = new_id_at(now) if key is None else work_id(session, key)
        work = NewWork(
            id=name,
            session=session,
            content=content,
            kind=kind,
            source_key=key,
            active=active,
            available_at=due(now, delay),
        )
        return Prepared(work, None if agent is None else self._wiring.program(agent))

    async def admit(
        self,
        prepared: Prepared,
        attachments: tuple[Attachment, ...] = (),
        on_busy: OnBusy = "wait",
    ) -> WorkRow:
        """Admit it; asked again, the row as it is now. Raises what `admission.admit` raises, and
        BlobMissing."""
        if attachments:
            await asyncio.to_thread(self._check, prepared.work.session, attachments)
        store = self._wiring.store
        row = await self._wiring.asking.call(
            lambda: store.admit(prepared.work, prepared.program, on_busy)
        )
        self.kick()
        return row

    def admission(self, prepared: Prepared, on_busy: OnBusy) -> Callable[[], bool]:
        """The admission as part of a call of the store; it says whether the turn is not over.

        Whoever does not drive it then has to `kick`. Raises what `admission.admit` raises.
        """
        store = self._wiring.store
        return lambda: store.admit(prepared.work, prepared.program, on_busy).state not in OVER

    def submit(
        self,
        session: str,
        agent: str,
        text: str,
        *,
        key: str | None,
        attachments: tuple[Attachment, ...],
        connection: object,
        on_busy: OnBusy,
    ) -> str:
        """The same from a plain thread, with its session if that is new; the turn's id."""
        wanted = self.record(session, agent)
        prepared = self.prepare(session, agent, text, key=key, attachments=attachments)
        self._check(session, attachments)
        access = self._wiring.access
        with access.here() if connection is None else access.inside(connection) as store:
            store.create(wanted)
            store.admit(prepared.work, prepared.program, on_busy)
        if connection is None:
            self.kick()
        return prepared.turn

    def _check(self, session: str, attachments: tuple[Attachment, ...]) -> None:
        for attachment in attachments:
            if not self._wiring.access.blobs.has(session, attachment.digest):
                raise BlobMissing(digest=attachment.digest)

    def kick(self) -> None:
        """Tell everybody who listens that something is admitted."""
        for kick in tuple(self._kicks):
            kick()


def work_id(session: str, key: str) -> str:
    """The id of the work that a key stands for in a session."""
    return digest("work id", [session, key])


def checked(name: str, what: str) -> str:
    """A name that can be stored.

    Raises: WiringError: it is empty, no text, or holds what no store keeps.
    """
    if not isinstance(name, str) or not name or "\0" in name or not _encodes(name):
        raise WiringError(what=f"{what} is {name!r}", next="give a text that is not empty")
    return name


def _content(text: str, attachments: tuple[Attachment, ...]) -> object:
    if not isinstance(text, str) or not _encodes(text):
        raise WiringError(
            what="what is said to an agent is no text, or is made of bytes that were never decoded",
            next="decode it properly before it is passed on",
        )
    return plain(UserMessage(text=text, attachments=attachments))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
