"""The driver: one pick-up of one turn, from its assignment to its commit.

It reads top to bottom: start what the machine wants, wait for one outcome, give it to the
machine, until there is a draft, and commit that. What it may lose its hold by is raised by
the store call that finds it.
"""

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from tenure.kernel.clock import Clock
from tenure.kernel.fence import Fence
from tenure.runtime.agent import Agent
from tenure.runtime.commit import CommitRequest
from tenure.runtime.driving import Assignment
from tenure.runtime.errors import BudgetBreached, TurnCancelRequested
from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.machine.draft import Draft
from tenure.runtime.machine.machine import Machine
from tenure.runtime.model.effect import Effect, Outcome
from tenure.runtime.model.event import (
    InputAccepted,
    StepFinished,
    ToolFinished,
    TurnEvent,
    TurnFinished,
)
from tenure.runtime.model.message import ToolStatus
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.work import NewWork
from tenure.runtime.performing import answer_of
from tenure.runtime.ports.effects import Drive
from tenure.runtime.ports.tracing import TraceSink
from tenure.runtime.tracing.spans import effect_span, turn_span

_NOTHING = Outcome(status="ok", value=[])


class Cancelled(Exception):
    """The turn's end was asked for while it was driven. Internal: it never leaves the driver."""


class TurnDriver:
    """Drives one turn. `cancel` may be called at any time from the same loop."""

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
        sink: TraceSink | None,
        outbox: Callable[[], Sequence[NewWork]],
    ) -> None:
        self._assignment = assignment
        self.turn = assignment.turn.id
        self._fence = fence
        self._machine = machine
        self._drive = drive
        self._agent = agent
        self._clock = clock
        self._emit = emit
        self._sink = sink
        self._outbox = outbox
        self._started: dict[str, tuple[Effect, int]] = {}
        self._began = clock.now().wall_ns
        self._reason = assignment.cancel
        self._asked = asyncio.Event()
        if self._reason is not None:
            self._asked.set()

    def cancel(self, reason: str) -> None:
        """End the turn as cancelled at the next possible moment."""
        self._reason = self._reason or reason
        self._asked.set()

    async def run(self) -> TurnResult:
        """Drive to the commit. Cancelled from outside, it records what arrived and raises."""
        budget = self._assignment.program.budget
        if self._assignment.turn.drives > budget.drives:
            self._machine.end("stopped", f"no_progress: {budget.drives} pick-ups recorded nothing")
        try:
            while True:
                result = await self._advance()
                if result is not None:
                    return self._finished(result)
        finally:
            await self._drive.stop()

    async def _advance(self) -> TurnResult | None:
        """One move: to a commit, over a boundary, or by one outcome."""
        if self._reason is not None:
            self._machine.end("cancelled", self._reason)
        if self._machine.draft is not None:
            return await self._commit(self._machine.draft)
        boundary = self._boundary()
        if boundary is not None:
            return await self._cross(boundary)
        for effect in self._machine.wants.values():
            if effect.key not in self._started:
                self._started[effect.key] = (effect, self._clock.now().wall_ns)
                self._drive.start(effect)
        try:
            key, outcome, replayed = await self._next()
        except Cancelled:
            return None
        self._tell(key, outcome, replayed=replayed)
        self._machine.take(key, outcome)
        return None

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

    async def _next(self) -> tuple[str, Outcome, bool]:
        """The next outcome, or `Cancelled` if somebody asks for the turn's end first."""
        waiting = asyncio.ensure_future(self._drive.next())
        asked = asyncio.ensure_future(self._asked.wait())
        try:
            await asyncio.wait((waiting, asked), return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                return waiting.result()
            raise Cancelled
        finally:
            asked.cancel()
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    async def _commit(self, draft: Draft, boundary: Effect | None = None) -> TurnResult | None:
        """Commit a draft; None if the turn goes on instead."""
        if draft.status != "completed":
            await self._drive.stop()
        request = CommitRequest(
            turn=self.turn,
            session=self._assignment.turn.session,
            head=self._assignment.head,
            claim=self._assignment.turn.claim or "",
            draft=draft,
            fence=self._fence,
            outbox=tuple(self._outbox()),
            budget=self._agent.commit_budget,
        )
        try:
            got = await self._drive.commit(request, boundary)
        except TurnCancelRequested as asked:
            self._reason = asked.reason
            return None
        except BudgetBreached as breach:
            return await self._stop_short(breach)
        if isinstance(got, TurnResult):
            return got
        assert boundary is not None, "input is only taken in at a boundary"
        self._take_in(boundary, got)
        return None

    async def _stop_short(self, breach: BudgetBreached) -> TurnResult | None:
        """A commit that is too large ends the turn: its messages are dropped, its reason kept."""
        opening = self._assignment.opening
        small = Machine(
            self._assignment.program,
            opening=opening,
            head=self._assignment.head,
            check_output=self._agent.check_output,
        )
        small.end("cancelled" if self._reason else "stopped", self._reason or str(breach))
        assert small.draft is not None, "an ended machine has a draft"
        return await self._commit(small.draft)

    def _tell(self, key: str, outcome: Outcome, *, replayed: bool) -> None:
        """Show an outcome to whoever watches, and to the trace."""
        effect, started = self._started[key]
        if effect.kind == "model" and outcome.status == "ok":
            step = int(effect.occurrence)
            text = answer_of(outcome).text
            self._emit(StepFinished(turn=self.turn, step=step, text=text, replayed=replayed))
        elif effect.kind == "tool":
            status: ToolStatus = "unknown"
            if outcome.status == "ok":
                status = msgspec.convert(outcome.value, ToolResult).status
            call, name = effect.request["id"], effect.request["name"]
            told = ToolFinished(
                turn=self.turn, call=call, name=name, status=status, replayed=replayed
            )
            self._emit(told)
        if self._sink is not None:
            self._sink.span(
                effect_span(
                    self.turn,
                    effect,
                    outcome,
                    self._assignment.program,
                    started_wall_ns=started,
                    ended_wall_ns=self._clock.now().wall_ns,
                    replayed=replayed,
                )
            )

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
