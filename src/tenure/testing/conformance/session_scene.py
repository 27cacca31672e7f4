"""The people of the session store's law book: a chat, its agent, and those who drive it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from tenure.kernel.fence import Fence
from tenure.kernel.store import Transaction
from tenure.runtime.commit import CommitRequest
from tenure.runtime.driving import Assignment
from tenure.runtime.machine.draft import Draft
from tenure.runtime.model.effect import Effect
from tenure.runtime.model.message import AssistantMessage, UserMessage
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import CommitBudget
from tenure.runtime.model.work import ActiveTurn, NewWork, Wake
from tenure.runtime.sessions import SessionStore
from tenure.runtime.store import RuntimeRows
from tenure.testing.conformance.backend import PATIENT, Backend
from tenure.testing.conformance.requests import acquire_request
from tenure.testing.wire import Wire

CHAT = "chat"
PROGRAM = Program(agent="support", instructions="help", model="m")

#: The runtime's rows of an open transaction.
Rows = Callable[[Transaction], RuntimeRows]


class SessionBackend:
    """One store with one session in it, `chat`, which nobody has asked anything yet."""

    def __init__(self, backend: Backend, rows: Rows) -> None:
        self.kernel = backend
        self._rows = rows
        self.store, self.wire = self.handle()
        self.store.create(SessionRecord(id=CHAT, agent="support", host="sqlite"))

    def handle(self, busy_seconds: float = PATIENT) -> tuple[SessionStore, Wire]:
        """Another handle on the same store, and the wire it goes over."""
        wire = Wire(self.kernel.open(busy_seconds))
        return SessionStore(wire, self._rows, self.kernel.clock), wire

    @contextmanager
    def transaction(self) -> Iterator[tuple[Transaction, RuntimeRows]]:
        """One transaction for many calls, and the runtime's rows in it."""
        with self.wire.write() as tx:
            yield tx, self._rows(tx)

    def ask(self, name: str, text: str = "?") -> str:
        """Admit input `name`; the id of its turn."""
        self.store.admit(work(name, text), PROGRAM)
        return f"turn-{name}"

    def enter(self, who: str, n: int = 1) -> Fence:
        """Acquire the lane for somebody."""
        return self.store.enter(acquire_request(who, n, lane=CHAT)).fence

    def assign(self, who: str, n: int = 1) -> tuple[Assignment, Fence]:
        """Have somebody enter and claim the turn that is due."""
        fence = self.enter(who, n)
        got = self.store.assign(CHAT, fence, f"{who}-claim-{n}", "sqlite")
        assert got is not None, "a turn is due"
        return got, fence


def work(
    name: str,
    text: str = "?",
    *,
    key: str | None = None,
    active: ActiveTurn | None = None,
    available_at: int = 0,
) -> NewWork:
    """Input called `name`."""
    return NewWork(
        id=name,
        session=CHAT,
        content=msgspec.to_builtins(UserMessage(text=text)),
        source_key=key,
        active=active,
        available_at=available_at,
    )


def draft(
    said: str = "Done.",
    *,
    status: str = "completed",
    accepted: tuple[str, ...] = (),
    outbox: tuple[Wake, ...] = (),
) -> Draft:
    """A turn's two messages."""
    made = Draft(
        status="completed",
        messages=(UserMessage(text="?"), AssistantMessage(text=said)),
        text=said,
        accepted=accepted,
        outbox=outbox,
    )
    return made if status == "completed" else msgspec.structs.replace(made, status=status)


def commit_of(
    assignment: Assignment,
    fence: Fence | None,
    made: Draft | None = None,
    *,
    budget: CommitBudget | None = None,
) -> CommitRequest:
    """The commit of an assigned turn."""
    assert assignment.turn.claim is not None, "an assigned turn is claimed"
    return CommitRequest(
        turn=assignment.turn.id,
        session=assignment.turn.session,
        head=assignment.head,
        claim=assignment.turn.claim,
        draft=made or draft(),
        fence=fence,
        budget=budget or CommitBudget(),
    )


def effect(occurrence: str = "1", asked: str = "hello") -> Effect:
    """A model call."""
    return Effect(kind="model", occurrence=occurrence, request={"asked": asked})


def boundary(occurrence: str = "1.after_work") -> Effect:
    """A boundary of a turn."""
    return Effect(
        kind="accept",
        occurrence=occurrence,
        request={"boundary": occurrence.partition(".")[2]},
    )
