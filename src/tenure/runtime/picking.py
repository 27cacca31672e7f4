"""Picking up work: take a session's lane, drive its turn, let the lane go.

There is no policy here about when: whoever calls decides.
"""

import asyncio

from tenure.kernel.errors import (
    ClaimSuperseded,
    Doubt,
    HoldEnded,
    HoldLost,
    LaneBusy,
    Refused,
    TenureError,
)
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Executor, mint_token, new_id, this_process
from tenure.kernel.lane import AcquireRequest
from tenure.kernel.points import point
from tenure.runtime import mishap
from tenure.runtime.agent import Agent
from tenure.runtime.driver import TurnDriver
from tenure.runtime.driving import Assignment
from tenure.runtime.effects.inline import InlineDrive
from tenure.runtime.effects.running import Running
from tenure.runtime.effects.stored import StoredDrive
from tenure.runtime.errors import CommitConflict, HeadConflict
from tenure.runtime.keeping import LaneKeeper
from tenure.runtime.model.effect import Effect
from tenure.runtime.model.message import Attachment, Message
from tenure.runtime.model.program import InDoubt, Program
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.performing import Performer
from tenure.runtime.ports.effects import Drive
from tenure.runtime.wiring import Wiring

#: The turn is somebody else's now, or over. That is their success and no failure of ours.
_TAKEN = (HoldLost, HoldEnded, ClaimSuperseded, HeadConflict, CommitConflict)


class Picker:
    """One executor: drives at most one turn at a time."""

    def __init__(self, wiring: Wiring, session: str, agent: str) -> None:
        self._wiring = wiring
        self._session = session
        self._agent = agent
        self._executor = Executor(owner=this_process(), executor_id=new_id())
        self._acquisitions = 0
        self._history: list[Message] = []
        self._history_head = -1
        self._one_at_a_time = asyncio.Lock()  # a second hold of one executor would be a re-entry

    async def pick_up(self) -> TurnResult | None:
        """Drive the session's next turn to its commit.

        None if the lane is not free, nothing is due, or the turn was taken over meanwhile: look
        again. Cancelled from outside, it records what arrived, hands the turn back and raises.

        Raises:
            AgentUnknown, SessionDeleted, HostMismatch: it cannot be driven here.
            Doubt: the store did not say within a ttl.
        """
        async with self._one_at_a_time:
            program = self._wiring.program(self._agent)
            fence = await self.enter()
            if fence is None:
                return None
            try:
                return await self._pick_up(fence, program)
            except _TAKEN:
                return None

    async def enter(self) -> Fence | None:
        """The session's lane, or None while somebody else has it. Cancelled, it is let go."""
        self._acquisitions += 1
        request = AcquireRequest(
            lane=self._session,
            executor=self._executor,
            token=mint_token(self._acquisitions),
            timings=self._wiring.timings,
        )
        store, gone = self._wiring.store, dict(self._wiring.gone)
        got: list[Fence] = []

        def ask() -> Fence:
            got.append(store.enter(request, gone).fence)
            return got[-1]

        try:
            return await self._wiring.asking.call(ask)
        except LaneBusy:
            return None
        except BaseException:
            if got:
                await self.leave(got[-1])
            raise

    async def leave(self, fence: Fence) -> None:
        """Let the lane go. What is refused is not ours any more; what fails lapses."""
        store = self._wiring.store
        try:
            await self._wiring.asking.call(lambda: store.leave(fence))
        except (Refused, Doubt):
            pass

    async def _pick_up(self, fence: Fence, program: Program) -> TurnResult | None:
        wiring, store, claim = self._wiring, self._wiring.store, new_id()
        assignment: Assignment | None = None
        try:
            assignment = await wiring.holding.call(
                lambda: store.assign(self._session, fence, claim, wiring.host, program)
            )
            if assignment is not None:
                return await self._drive(assignment, fence)
        except BaseException:
            await self._hand_back(claim, fence)
            raise
        await self.leave(fence)
        return None

    async def _hand_back(self, claim: str, fence: Fence) -> None:
        """Hand back what the claim has, and leave the lane; what fails is given back by a lapse."""
        store = self._wiring.store
        try:
            await self._wiring.asking.call(lambda: store.hand_back_claim(claim, fence))
        except TenureError:
            pass

    async def _drive(self, assignment: Assignment, fence: Fence) -> TurnResult:
        point("drive.assigned")
        wiring, program = self._wiring, assignment.program
        agent = wiring.agent(program.agent)
        machine = wiring.protocol.machine(
            program,
            opening=assignment.opening,
            head=assignment.head,
            check_output=agent.checker(program),
        )
        performer = Performer(
            session=self._session,
            turn=assignment.turn.id,
            agent=agent,
            program=program,
            history=await self._history_of(agent, assignment.head),
            machine=machine,
            emit=wiring.watchers.emit,
            plugins=wiring.plugins,
            deps=wiring.deps,
            retry=wiring.retry,
            content=self._content,
        )
        driver = TurnDriver(
            assignment,
            fence,
            machine,
            self._drive_of(assignment, fence, performer),
            agent,
            clock=wiring.clock,
            emit=wiring.watchers.emit,
            sink=wiring.sink,
            outbox=lambda: (),
        )
        result = await self._kept(driver, assignment, fence)
        for plugin in wiring.plugins:
            try:
                await plugin.after_commit(result)
            except Exception as error:
                mishap.tell("a plugin failed after a commit; the commit stands", error)
        return result

    def _drive_of(self, assignment: Assignment, fence: Fence, performer: Performer) -> Drive:
        store, offload = self._wiring.store, self._wiring.holding
        running, program = Running(performer, self._wiring.cancel_grace), assignment.program
        if self._wiring.host == "inline":
            return InlineDrive(store, offload, assignment.turn.id, fence, running)

        def doubt(effect: Effect) -> InDoubt:
            if effect.kind == "model":
                return "rerun"  # asking again has no effect outside but its price
            spec = program.tool(effect.request["name"])
            return "report" if spec is None else spec.in_doubt

        return StoredDrive(store, offload, assignment, fence, running, doubt)

    async def _kept(self, driver: TurnDriver, assignment: Assignment, fence: Fence) -> TurnResult:
        """Drive while the lane is kept. A takeover ends the driving with its proof."""
        wiring = self._wiring
        running = asyncio.ensure_future(driver.run())
        refusals: list[Refused] = []

        def lost(refusal: Refused) -> None:
            refusals.append(refusal)
            running.cancel()

        keeper = LaneKeeper(
            wiring.store,
            wiring.access.offload,
            fence,
            assignment.turn.id,
            wiring.timings,
            cancel_poll=wiring.cancel_poll,
            lost=lost,
            cancelled=driver.cancel,
        )
        wiring.drivers[driver.turn] = driver
        try:
            await _to_its_end(running)
            if running.cancelled() and refusals:
                raise refusals[0]
            return running.result()
        finally:
            if wiring.drivers.get(driver.turn) is driver:
                del wiring.drivers[driver.turn]
            await keeper.stop()

    async def _content(self, attachment: Attachment) -> bytes:
        blobs = self._wiring.access.blobs
        return await asyncio.to_thread(blobs.get, self._session, attachment.digest)

    async def _history_of(self, agent: Agent, head: int) -> list[Message]:
        """What the model is shown of the past. What this picker has seen is not read again."""
        store, offload = self._wiring.store, self._wiring.holding
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


async def _to_its_end(running: "asyncio.Task[TurnResult]") -> None:
    """Wait until the task is over. A cancellation of ours ends it first, and is raised then."""
    try:
        await asyncio.wait((running,))
    except asyncio.CancelledError:
        running.cancel()
        while not running.done():
            try:
                await asyncio.wait((running,))
            except asyncio.CancelledError:
                continue  # it records what arrived, and that is worth being waited for
        if not running.cancelled():
            running.exception()  # looked at; the cancellation is what is raised
        raise
