"""Picking up work: take a session's lane, drive its turn, let the lane go.

There is no policy here about when: whoever calls decides.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from tenure.kernel.clock import Clock
from tenure.kernel.errors import Doubt, LaneBusy, Refused
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Executor, mint_token, new_id
from tenure.kernel.lane import AcquireRequest
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.points import point
from tenure.kernel.takeover import Licence
from tenure.runtime.access import StoreAccess
from tenure.runtime.agent import Agent
from tenure.runtime.driver import TurnDriver
from tenure.runtime.driving import Assignment
from tenure.runtime.effects.inline import InlineDrive
from tenure.runtime.effects.stored import StoredDrive
from tenure.runtime.errors import AgentUnknown
from tenure.runtime.keeping import LaneKeeper
from tenure.runtime.model.effect import Effect
from tenure.runtime.model.event import TurnEvent
from tenure.runtime.model.message import Message
from tenure.runtime.model.program import InDoubt
from tenure.runtime.model.session import HostKind
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.performing import DepsFactory, Performer, RetryPolicy
from tenure.runtime.ports.effects import Drive
from tenure.runtime.ports.plugin import Plugin, ProtocolFactory
from tenure.runtime.ports.tracing import TraceSink

Emit = Callable[[TurnEvent], None]


#: Finds what licenses a takeover of a session's lane beyond its lapse.
FindLicence = Callable[[str], Awaitable[Licence | None]]


async def _none(session: str) -> Licence | None:
    del session
    return None


class Wiring:
    """What every pick-up in one runtime shares."""

    def __init__(
        self,
        *,
        access: StoreAccess,
        agents: Mapping[str, Agent],
        host: HostKind,
        timings: LeaseTimings,
        clock: Clock,
        protocol: ProtocolFactory,
        plugins: Sequence[Plugin],
        sink: TraceSink | None,
        deps: DepsFactory,
        retry: RetryPolicy,
        cancel_poll: float,
    ) -> None:
        self.access = access
        self.agents = agents
        self.host = host
        self.timings = timings
        self.clock = clock
        self.protocol = protocol
        self.plugins = plugins
        self.sink = sink
        self.deps = deps
        self.retry = retry
        self.cancel_poll = cancel_poll
        self.licence: FindLicence = _none  #: what operators declared of a lane's holder

    def agent(self, name: str) -> Agent:
        """A registered agent. Raises: AgentUnknown."""
        found = self.agents.get(name)
        if found is None:
            raise AgentUnknown(agent=name)
        return found


class Picker:
    """One executor: drives at most one turn at a time."""

    def __init__(self, wiring: Wiring, session: str, executor: Executor) -> None:
        self._wiring = wiring
        self._session = session
        self._executor = executor
        self._acquisitions = 0
        self._history: list[Message] = []
        self._history_head = -1
        self._one_at_a_time = asyncio.Lock()  # a second hold of one executor would be a re-entry
        self.driving: TurnDriver | None = None

    async def pick_up(self, emit: Emit) -> TurnResult | None:
        """Drive the session's next turn to its commit; None if the lane is not free or nothing is due.

        Cancelled from outside, it records what arrived, hands the turn back and raises.

        Raises:
            Refused: somebody took over, or the session is not ours to drive.
            Doubt: the store did not say within a ttl.
        """
        async with self._one_at_a_time:
            fence = await self.enter()
            return None if fence is None else await self._pick_up(fence, emit)

    async def _pick_up(self, fence: Fence, emit: Emit) -> TurnResult | None:
        store, offload = self._wiring.access.store, self._wiring.access.offload
        claim = new_id()
        assignment: Assignment | None = None
        try:
            assignment = await offload.call(
                lambda: store.assign(self._session, fence, claim, self._wiring.host)
            )
            if assignment is not None:
                return await self._drive(assignment, fence, emit)
        except BaseException:
            await self._let_go(assignment, claim, fence)
            raise
        await self._let_go(None, claim, fence)
        return None

    async def enter(self) -> Fence | None:
        """The session's lane, or None while somebody else has it."""
        self._acquisitions += 1
        request = AcquireRequest(
            lane=self._session,
            executor=self._executor,
            token=mint_token(self._acquisitions),
            timings=self._wiring.timings,
        )
        licence = await self._wiring.licence(self._session)
        store = self._wiring.access.store
        try:
            entered = await self._wiring.access.offload.call(lambda: store.enter(request, licence))
        except LaneBusy:
            return None
        return entered.fence

    async def _drive(self, assignment: Assignment, fence: Fence, emit: Emit) -> TurnResult:
        point("drive.assigned")
        wiring, program = self._wiring, assignment.program
        agent = wiring.agent(program.agent)
        machine = wiring.protocol.machine(
            program,
            opening=assignment.opening,
            head=assignment.head,
            check_output=agent.check_output,
        )
        history = await self._history_of(agent, assignment.head)
        performer = Performer(
            session=self._session,
            turn=assignment.turn.id,
            agent=agent,
            program=program,
            history=history,
            machine=machine,
            emit=emit,
            plugins=wiring.plugins,
            deps=wiring.deps,
            retry=wiring.retry,
        )
        driver = TurnDriver(
            assignment,
            fence,
            machine,
            self._drive_of(assignment, fence, performer),
            agent,
            clock=wiring.clock,
            emit=emit,
            sink=wiring.sink,
            outbox=lambda: (),
        )
        result = await self._kept(driver, assignment, fence)
        for plugin in wiring.plugins:
            try:
                await plugin.after_commit(result)
            except Exception as error:
                emit_failure(error)
        return result

    def _drive_of(self, assignment: Assignment, fence: Fence, performer: Performer) -> Drive:
        access, program = self._wiring.access, assignment.program
        if self._wiring.host == "inline":
            turn = assignment.turn.id
            return InlineDrive(access.store, access.offload, turn, fence, performer)

        def doubt(effect: Effect) -> InDoubt:
            if effect.kind == "model":
                return "rerun"  # asking again has no effect outside but its price
            spec = program.tool(effect.request["name"])
            return "report" if spec is None else spec.in_doubt

        return StoredDrive(access.store, access.offload, assignment, fence, performer, doubt)

    async def _kept(self, driver: TurnDriver, assignment: Assignment, fence: Fence) -> TurnResult:
        """Drive while the lane is kept. A takeover ends the driving with its proof."""
        running = asyncio.ensure_future(driver.run())
        refusals: list[Refused] = []

        def lost(refusal: Refused) -> None:
            refusals.append(refusal)
            running.cancel()

        keeper = LaneKeeper(
            self._wiring.access.store,
            self._wiring.access.offload,
            fence,
            assignment.turn.id,
            self._wiring.timings,
            cancel_poll=self._wiring.cancel_poll,
            lost=lost,
            cancelled=driver.cancel,
        )
        self.driving = driver
        try:
            return await running
        except asyncio.CancelledError:
            if refusals and not _being_cancelled():
                raise refusals[0] from None
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            raise
        finally:
            self.driving = None
            await keeper.stop()

    async def _history_of(self, agent: Agent, head: int) -> list[Message]:
        """What the model is shown of the past. What this picker has seen is not read again."""
        store, offload = self._wiring.access.store, self._wiring.access.offload
        if agent.history is not None:
            shown = agent.history
            _, messages = await offload.call(lambda: store.last_turns(self._session, shown))
            return messages
        known = self._history_head
        if known < 0 or known > head:
            self._history, known = [], 0
        more = await offload.call(lambda: store.messages(self._session, known, head - known))
        self._history.extend(more)
        self._history_head = head
        return list(self._history)

    async def _let_go(self, assignment: Assignment | None, claim: str, fence: Fence) -> None:
        """Hand back what was not committed, and leave the lane. What is refused is not ours any more."""
        store, offload = self._wiring.access.store, self._wiring.access.offload
        try:
            if assignment is None:
                await offload.call(lambda: store.leave(fence))
            else:
                turn = assignment.turn.id
                await offload.call(lambda: store.hand_back(turn, claim, fence))
        except (Refused, Doubt):
            pass  # a lapse gives it back just as well


def _being_cancelled() -> bool:
    """Whether the running task itself was asked to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def emit_failure(error: Exception) -> None:
    """Tell what a hook raised to whoever handles the loop's exceptions."""
    asyncio.get_running_loop().call_exception_handler(
        {"message": "a plugin failed after a commit; the commit stands", "exception": error}
    )
