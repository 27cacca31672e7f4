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
from tenure.kernel.identity import Executor, Token, mint_token, new_id, this_process
from tenure.kernel.lane import AcquireRequest
from tenure.kernel.points import point
from tenure.runtime import mishap
from tenure.runtime.driver import TurnDriver
from tenure.runtime.driving import Assignment
from tenure.runtime.effects.inline import InlineDrive
from tenure.runtime.effects.running import Running
from tenure.runtime.effects.stored import StoredDrive
from tenure.runtime.errors import CommitConflict, HeadConflict
from tenure.runtime.keeping import LaneKeeper
from tenure.runtime.model.effect import RERUN, Effect
from tenure.runtime.model.message import Attachment
from tenure.runtime.model.program import InDoubt
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.performing import Performer
from tenure.runtime.ports.effects import Drive
from tenure.runtime.starting import First, Past, Started, Starting
from tenure.runtime.tape import Recorder
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
        self._past = Past()
        self._one_at_a_time = asyncio.Lock()  # a second hold of one executor would be a re-entry

    @property
    def idle(self) -> bool:
        """Whether a pick-up would begin at once."""
        return not self._one_at_a_time.locked()

    async def pick_up(self, first: First | None = None) -> TurnResult | None:
        """Drive the session's next turn to its commit; `first` is asked before, in the same call
        of the store.

        None if the lane is not free, nothing is due, the turn waits for an answer, or it was
        taken over meanwhile: look again. Cancelled from outside, it records what arrived, hands the turn back and raises.

        Raises:
            AgentUnknown, SessionDeleted, HostMismatch: it cannot be driven here.
            Doubt: the store did not say within a ttl.
            what `first` raises, and nothing was done.
        """
        async with self._one_at_a_time:
            self._acquisitions += 1
            token = mint_token(self._acquisitions)
            self._wiring.tapes.expect(token.secret)
            try:
                started = await self._start(token, first)
                return None if started is None else await self._driven(started)
            except _TAKEN:
                return None
            finally:
                self._wiring.tapes.done(token.secret)

    async def _start(self, token: Token, first: First | None) -> Started | None:
        """The session's lane and its next turn. Cancelled, both are given back."""
        wiring = self._wiring
        request = AcquireRequest(
            lane=self._session, executor=self._executor, token=token, timings=wiring.timings
        )
        program = wiring.program(self._agent)
        starting = Starting(wiring, self._session, program, request, self._past, first)
        try:
            try:
                return await wiring.asking.call(starting)
            except Doubt:
                if starting.fence is None:
                    raise
                return await wiring.holding.call(starting)  # it may hold the lane by now
        except LaneBusy:
            return None
        except BaseException:
            if starting.fence is not None:
                await self._hand_back(starting.claim, starting.fence)
            raise

    async def _driven(self, started: Started) -> TurnResult | None:
        self._past = started.past
        turn, fence = started.assignment.turn, started.fence
        recorder = self._wiring.tapes.begin(turn.id, fence.token.secret)
        try:
            return await self._drive(started, recorder)
        except BaseException:
            await self._hand_back(turn.claim or "", fence)
            raise
        finally:
            self._wiring.tapes.end(turn.id)

    async def _hand_back(self, claim: str, fence: Fence) -> None:
        """Hand back what the claim has, and leave the lane; what fails is given back by a lapse."""
        store = self._wiring.store
        try:
            await self._wiring.asking.call(lambda: store.hand_back_claim(claim, fence))
        except TenureError:
            pass

    async def _drive(self, started: Started, recorder: Recorder) -> TurnResult | None:
        point("drive.assigned")
        wiring, assignment, machine = self._wiring, started.assignment, started.machine
        program, fence = assignment.program, started.fence
        agent = wiring.agent(program.agent)
        performer = Performer(
            session=self._session,
            turn=assignment.turn.id,
            agent=agent,
            program=program,
            history=started.past.messages,
            machine=machine,
            emit=recorder.emit,
            plugins=wiring.plugins,
            deps=wiring.deps,
            retry=wiring.retry,
            content=self._content,
            present=self._present,
        )
        drive = self._drive_of(started, performer, recorder)
        performer.serve(drive.calls)
        driver = TurnDriver(
            assignment,
            fence,
            machine,
            drive,
            agent,
            clock=wiring.clock,
            emit=recorder.emit,
            look_back=performer.look_back,
            sink=wiring.sink,
        )
        result = await self._kept(driver, assignment, fence)
        if result is None:
            return None
        self._past = started.past.then(driver.committed)
        for plugin in wiring.plugins:
            try:
                await plugin.after_commit(result)
            except Exception as error:
                mishap.tell("a plugin failed after a commit; the commit stands", error)
        return result

    def _drive_of(self, started: Started, performer: Performer, recorder: Recorder) -> Drive:
        store, offload = self._wiring.store, self._wiring.holding
        assignment, fence = started.assignment, started.fence
        running, program = Running(performer, self._wiring.cancel_grace), assignment.program
        if self._wiring.host == "inline":
            poll = self._wiring.cancel_poll
            return InlineDrive(store, offload, assignment.turn, fence, running, poll=poll)

        def doubt(effect: Effect) -> InDoubt:
            if effect.kind in RERUN:
                return "rerun"
            spec = program.tool(effect.request["name"])
            return "report" if spec is None else spec.in_doubt

        intended, moved = started.intended, recorder.moved
        return StoredDrive(store, offload, assignment, fence, running, doubt, intended, moved)

    async def _kept(
        self, driver: TurnDriver, assignment: Assignment, fence: Fence
    ) -> TurnResult | None:
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

    async def _present(self, session: str) -> None:
        """Raises: SessionMissing, SessionDeleted."""
        await self._wiring.asking.call(lambda: self._wiring.store.session(session))

    async def _content(self, attachment: Attachment) -> bytes:
        blobs = self._wiring.access.blobs
        return await asyncio.to_thread(blobs.get, self._session, attachment.digest)


async def _to_its_end(running: "asyncio.Task[TurnResult | None]") -> None:
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
