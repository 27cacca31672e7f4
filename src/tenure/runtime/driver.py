"""The driver: one pick-up of one turn, from its assignment to its commit.

It reads top to bottom: start what the machine wants, wait for one outcome, give it to the
machine, until there is a draft, and commit that. What it may lose its hold by is raised by
the store call that finds it.
"""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from tenure.kernel.clock import Clock
from tenure.kernel.errors import Doubt, TenureError
from tenure.kernel.fence import Fence
from tenure.runtime.agent import Agent
from tenure.runtime.commit import CommitRequest
from tenure.runtime.driving import Assignment
from tenure.runtime.errors import BudgetBreached, ReplayMismatch, TurnCancelRequested
from tenure.runtime.machine.answers import Answer, returned
from tenure.runtime.machine.draft import Draft
from tenure.runtime.machine.machine import Machine
from tenure.runtime.machine.suspended import Waiting, waiting
from tenure.runtime.model.effect import RERUN, Effect, Outcome
from tenure.runtime.model.event import (
    InputAccepted,
    StepFinished,
    ToolFinished,
    TurnEvent,
    TurnFinished,
    TurnWaiting,
)
from tenure.runtime.model.message import Message
from tenure.runtime.model.turn import TurnResult, TurnStatus
from tenure.runtime.ports.effects import Drive, Happened
from tenure.runtime.tracing.guarded import GuardedTraceSink
from tenure.runtime.tracing.spans import effect_span, turn_span

_NOTHING = Outcome(status="ok", value=[])


class TurnDriver:
    """Drives one turn. Made on the loop that runs it."""

    def __init__(
        self,
        assignment: Assignment,
        fence: Fence,
        machine: Machine,
        drive: Drive,
        agent: Agent,
        *,
        clock: Clock,
        emit: Callable[[TurnEvent], None],
        look_back: Callable[[], Awaitable[None]],
        sink: GuardedTraceSink | None,
    ) -> None:
        self._assignment = assignment
        self.turn = assignment.turn.id
        self._fence = fence
        self._machine = machine
        self._drive = drive
        self._agent = agent
        self._clock = clock
        self._emit = emit
        self._look_back = look_back
        self._sink = sink
        self._started: dict[str, tuple[Effect, int]] = {}
        self._waiting: dict[str, Waiting] = {}  #: calls that wait for an answer, by their key
        self._suspended = False
        self._began = clock.now().wall_ns
        self._loop = asyncio.get_running_loop()
        self._asked: asyncio.Future[None] = self._loop.create_future()
        self._ending: tuple[TurnStatus, str] | None = None  #: how it is to end early, and why
        self._cut = False  #: its messages were too many, and are not kept
        self.committed: tuple[Message, ...] = ()  #: what it added to the session
        if assignment.cancel is not None:
            self._hear(assignment.cancel)

    def cancel(self, reason: str) -> None:
        """End the turn as cancelled at the next possible moment. Called from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._hear, reason)
        except RuntimeError:
            pass  # that loop is gone, and the driving with it

    def _hear(self, reason: str) -> None:
        if self._ending is None or self._ending[0] != "cancelled":
            self._ending = ("cancelled", reason)
        if not self._asked.done():
            self._asked.set_result(None)

    async def run(self) -> TurnResult | None:
        """Drive to the commit, or until it waits for an answer: None then, and it is let go.

        Cancelled from outside, it records what arrived and raises."""
        budget = self._assignment.program.budget
        if self._ending is None and self._assignment.turn.drives > budget.drives:
            why = f"no_progress: {budget.drives} pick-ups recorded nothing"
            self._ending = ("stopped", why)
        try:
            while True:
                result = await self._advance()
                if result is not None:
                    return self._finished(result)
                if self._suspended:
                    return None
        except BaseException as error:
            await self._give_up(error)
            raise

    async def _give_up(self, error: BaseException) -> None:
        """End what runs, and record what it returned if the store can be asked."""
        try:
            await self._drive.stop()
            if not isinstance(error, Doubt):
                await self._drive.record()
        except TenureError:
            pass  # what is not recorded is in doubt, and the first error is the one to tell

    async def _advance(self) -> TurnResult | None:
        """One move: to a commit, over a boundary, or by one outcome."""
        if self._ending is not None:
            await self._end(*self._ending)
        if self._machine.draft is not None:
            return await self._commit(self._machine.draft)
        boundary = self._boundary()
        if boundary is not None:
            return await self._cross(boundary)
        for effect in self._machine.wants.values():
            if effect.key not in self._started:
                self._started[effect.key] = (effect, self._clock.now().wall_ns)
                self._drive.start(effect)
        if self._waiting and self._waiting.keys() >= self._machine.wants.keys():
            await self._suspend()
            return None
        happened = await self._drive.next(self._asked)
        if happened is not None:
            self._give(happened)
        return None

    async def _suspend(self) -> None:
        """Wait for an answer, or go on with one that is there."""
        on = [wait for waits in self._waiting.values() for wait in waits.on]
        try:
            got = await self._drive.suspend(self._assignment.turn.claim or "", on)
        except TurnCancelRequested as asked:
            self._hear(asked.reason)
            return
        ended = {wait.id for wait in got.ended}
        if not ended:
            self._suspended = True
            self._emit(TurnWaiting(turn=self.turn, waits=got.waiting))
        for key in [key for key, waits in self._waiting.items() if ended.intersection(waits.on)]:
            del self._waiting[key], self._started[key]

    async def _end(self, status: TurnStatus, reason: str) -> None:
        """End early, with everything that is known to have happened in the history."""
        if self._machine.draft is None:
            self._replay()
            for happened in await self._drive.stop():
                self._give(happened)
            await self._look_back()
        self._machine.end(status, reason)

    def _replay(self) -> None:
        """Take what the journal has of what would come next, and start nothing."""
        while self._machine.draft is None:
            known = [
                Happened(effect.key, outcome, replayed=True)
                for effect in self._machine.wants.values()
                if effect.key not in self._started and (outcome := self._recorded(effect))
            ]
            if not known:
                return
            for happened in known:
                self._give(happened)

    def _recorded(self, effect: Effect) -> Outcome | None:
        """What the journal says of an effect that is not going to be started."""
        try:
            outcome = self._drive.recorded(effect)
        except ReplayMismatch:
            return None  # what ends the turn may be this very mismatch
        if outcome is not None and outcome.status == "in_doubt" and effect.kind in RERUN:
            return None  # nothing came of it
        if outcome is not None and outcome.status == "waiting":
            return None  # nothing came of it yet
        if outcome is not None:
            self._started[effect.key] = (effect, self._clock.now().wall_ns)
        return outcome

    # boundaries

    def _boundary(self) -> Effect | None:
        wanted = self._machine.wants.values()
        return next((effect for effect in wanted if effect.kind == "accept"), None)

    async def _cross(self, boundary: Effect) -> TurnResult | None:
        """Cross a boundary, on the guess that nothing waits there: the store says if it is right."""
        outcome = self._drive.recorded(boundary)
        if outcome is None:
            ahead = self._machine.copy()
            ahead.take(boundary.key, _NOTHING)
            if ahead.draft is not None:
                return await self._commit(ahead.draft, boundary)
            outcome = await self._drive.accept(boundary, tuple(ahead.wants.values()))
        self._take_in(boundary, outcome)
        return None

    def _take_in(self, boundary: Effect, outcome: Outcome) -> None:
        for item in outcome.value:
            self._emit(InputAccepted(turn=self.turn, work=item["work"]))
        self._machine.take(boundary.key, outcome)

    # the commit

    async def _commit(self, draft: Draft, boundary: Effect | None = None) -> TurnResult | None:
        """Commit a draft; None if the turn goes on instead."""
        request = CommitRequest(
            turn=self.turn,
            session=self._assignment.turn.session,
            head=self._assignment.head,
            claim=self._assignment.turn.claim or "",
            draft=draft,
            fence=self._fence,
            budget=None if self._cut else self._agent.commit_budget,
        )
        try:
            got = await self._drive.commit(request, boundary)
        except TurnCancelRequested as asked:
            self._hear(asked.reason)
            return None
        except BudgetBreached as breach:
            self._cut = True
            self._machine.cut(*(self._ending or ("stopped", str(breach))))
            return None
        if isinstance(got, TurnResult):
            self.committed = draft.messages
            return got
        assert boundary is not None, "input is only taken in at a boundary"
        self._take_in(boundary, got)
        return None

    def _finished(self, result: TurnResult) -> TurnResult:
        self._emit(TurnFinished(turn=self.turn, result=result))
        if self._sink is not None:
            self._sink.span(
                turn_span(
                    result,
                    self._assignment.program,
                    started_wall_ns=self._began,
                    ended_wall_ns=self._clock.now().wall_ns,
                )
            )
        return result

    # one outcome

    def _give(self, happened: Happened) -> None:
        """Give an outcome to the machine, after showing it to whoever watches."""
        effect, started = self._started[happened.key]
        if effect.kind == "accept":
            self._take_in(effect, happened.outcome)
            return
        waits = waiting(happened.outcome)
        if waits is not None:
            self._waiting[happened.key] = waits
            return
        self._tell(effect, happened)
        if self._sink is not None and effect.kind != "run":
            self._sink.span(
                effect_span(
                    self.turn,
                    effect,
                    happened.outcome,
                    self._assignment.program,
                    started_wall_ns=started,
                    ended_wall_ns=self._clock.now().wall_ns,
                    replayed=happened.replayed,
                )
            )
        self._machine.take(happened.key, happened.outcome)

    def _tell(self, effect: Effect, happened: Happened) -> None:
        if happened.replayed:
            return  # it was told when it was recorded
        outcome = happened.outcome
        if effect.kind == "model" and outcome.status == "ok":
            step = int(effect.occurrence)
            text = msgspec.convert(outcome.value, Answer).text
            self._emit(StepFinished(turn=self.turn, step=step, text=text))
        elif effect.kind == "tool":
            call, name = effect.request["id"], effect.request["name"]
            status = returned(outcome).status
            self._emit(ToolFinished(turn=self.turn, call=call, name=name, status=status))
