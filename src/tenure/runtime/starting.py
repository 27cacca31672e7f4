"""The start of a drive: everything up to the first effect, in one call of the store.

It is several transitions, each as repeatable and as fenced as ever. Being one call, they
share a commit where a store commits many calls at once.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tenure.kernel.fence import Fence
from tenure.kernel.identity import new_id_at
from tenure.kernel.lane import AcquireRequest
from tenure.runtime.driving import Assignment
from tenure.runtime.machine.machine import Machine
from tenure.runtime.model.effect import Effect
from tenure.runtime.model.message import Message
from tenure.runtime.model.program import Program
from tenure.runtime.sessions import SessionStore
from tenure.runtime.wiring import Wiring

#: Admits what is to be driven; whether there is anything left to drive.
First = Callable[[], bool]


class Past(NamedTuple):
    """Committed messages of a session: those with the numbers `after + 1` to `head`.

    `starts` are the heads at which its last turns began, of all its turns if `from_start`.
    """

    after: int = 0
    head: int = 0
    messages: tuple[Message, ...] = ()
    starts: tuple[int, ...] = ()
    from_start: bool = True

    def read(self, store: SessionStore, session: str, shown: int | None, head: int) -> "Past":
        """The messages of the last `shown` turns up to `head`, None for all; what is known
        already is not read again, since it never changes."""
        after = self._start(shown) if self.head == head else None
        if after is not None:
            starts = tuple(start for start in self.starts if start >= after)
            kept = self.messages[after - self.after :]
            return Past(after, head, kept, starts, self.from_start and after == 0)
        after = 0 if shown is None else store.start_of_turns(session, shown)
        known = self if self.after <= after <= self.head <= head else Past(after, after)
        messages = known.messages[after - known.after :]
        if known.head < head:
            messages += tuple(store.messages(session, known.head, head - known.head))
        return Past(after, head, messages, (), head == 0)

    def _start(self, shown: int | None) -> int | None:
        """Where the last `shown` turns begin, if it is known from here."""
        if shown is None:
            return 0 if self.after == 0 else None
        if shown == 0:
            return self.head
        if shown <= len(self.starts):
            return self.starts[-shown]
        return 0 if self.from_start else None

    def then(self, messages: Sequence[Message]) -> "Past":
        """With the turn that was committed next."""
        said = self.messages + tuple(messages)
        head = self.head + len(messages)
        return Past(self.after, head, said, (*self.starts, self.head), self.from_start)


class Started(NamedTuple):
    """A turn to be driven. The intents of `intended` are stored."""

    fence: Fence
    assignment: Assignment
    machine: Machine
    past: Past
    intended: tuple[Effect, ...]


class Starting:
    """One try to take up a session's next turn. Called again, it is the same try."""

    def __init__(
        self,
        wiring: Wiring,
        session: str,
        program: Program,
        request: AcquireRequest,
        past: Past,
        first: First | None,
    ) -> None:
        self.claim = new_id_at(wiring.clock.now().wall_ns)
        self.fence: Fence | None = None  #: the lane, once a call got it
        self._wiring = wiring
        self._gone = dict(wiring.gone)
        self._session = session
        self._program = program
        self._request = request
        self._past = past
        self._first = first

    def __call__(self) -> Started | None:
        """Take the lane, claim the turn, and intend its first effects; None if nothing is due.

        Raises: what the transitions raise, LaneBusy before anything else was done but `first`;
            AgentUnknown: the turn is of an agent that is not registered here.
        """
        store = self._wiring.store
        if self._first is not None and not self._first():
            return None
        if store.rests(self._session):
            return None
        fence = self.fence = store.enter(self._request, self._gone).fence
        host = self._wiring.host
        assignment = store.assign(self._session, fence, self.claim, host, self._program)
        if assignment is None:
            store.leave(fence)
            return None
        program = assignment.program
        agent = self._wiring.agent(program.agent)
        protocol = agent.protocol or self._wiring.protocol
        machine = protocol.machine(
            program,
            opening=assignment.opening,
            head=assignment.head,
            check_output=agent.checker(program),
        )
        intended = self._intended(assignment, machine)
        if intended:
            store.journal(assignment.turn.id, fence, (), intended)
        past = self._past.read(store, self._session, agent.history, assignment.head)
        return Started(fence, assignment, machine, past, intended)

    def _intended(self, assignment: Assignment, machine: Machine) -> tuple[Effect, ...]:
        """What is certain to be started. A turn that was begun before is for its driver to say."""
        if self._wiring.host == "inline" or assignment.journal or assignment.cancel is not None:
            return ()
        if assignment.turn.drives > assignment.program.budget.drives:
            return ()
        return tuple(effect for effect in machine.wants.values() if effect.kind != "accept")
