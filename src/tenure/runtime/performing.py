"""Performing effects: asking the model and calling tools, where that happens.

What an effect does wrong is its outcome. Only cancellation, and faults of our own, are raised.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import msgspec

from tenure.kernel.errors import TenureError
from tenure.runtime import mishap
from tenure.runtime.adopted import AdoptedAgent, AdoptedCall, AdoptedRun
from tenure.runtime.agent import Agent, tools_for
from tenure.runtime.errors import ProviderError
from tenure.runtime.machine.adopted import AdoptedMachine
from tenure.runtime.machine.answers import Answer, ToolResult
from tenure.runtime.machine.machine import Machine
from tenure.runtime.machine.suspended import Waiting
from tenure.runtime.model.effect import Effect, Outcome, effect_key
from tenure.runtime.model.event import (
    ModelRetried,
    TextDelta,
    TextRetracted,
    ToolStarted,
    TurnEvent,
)
from tenure.runtime.model.json import Json, plain, storable
from tenure.runtime.model.message import Message, ToolCall
from tenure.runtime.model.program import Program
from tenure.runtime.ports.plugin import Plugin
from tenure.runtime.ports.provider import ModelRequest, ReadAttachment
from tenure.runtime.tools.calls import Calls, Suspended
from tenure.runtime.tools.context import ToolContext

Emit = Callable[[TurnEvent], None]
#: Makes `ToolContext.deps` for one call, in whatever process it runs.
DepsFactory = Callable[[], Any]
#: Raises what says that there is no such session.
Present = Callable[[str], Awaitable[None]]

_LONGEST_ERROR = 4096  #: characters of an exception that a model is told


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often a model is asked, and how long is waited in between, in seconds.

    A vendor's `Retry-After` is honoured up to `longest`; beyond it the call fails at once.
    """

    attempts: int = 4
    first: float = 0.5
    longest: float = 60.0

    def delay(self, failed: int, asked: float | None) -> float | None:
        """Seconds until the next try after `failed` tries; None for no more."""
        if failed >= self.attempts:
            return None
        if asked is not None:
            return asked if asked <= self.longest else None
        backoff = min(self.longest, self.first * 2.0 ** (failed - 1))
        return float(backoff * random.uniform(0.5, 1.0))


class Performer:
    """Carries out the effects of one turn."""

    def __init__(
        self,
        *,
        session: str,
        turn: str,
        agent: Agent,
        program: Program,
        history: Sequence[Message],
        machine: Machine,
        emit: Emit,
        plugins: Sequence[Plugin],
        deps: DepsFactory,
        retry: RetryPolicy,
        content: ReadAttachment,
        present: Present,
    ) -> None:
        self._session = session
        self._turn = turn
        self._agent = agent
        self._program = program
        self._history = history
        self._machine = machine
        self._emit = emit
        self._plugins = plugins
        self._deps = deps
        self._retry = retry
        self._content = content
        self._present = present
        self._calls: Callable[[Effect], Calls] | None = None

    def serve(self, calls: Callable[[Effect], Calls]) -> None:
        """Take what gives tool calls the store."""
        self._calls = calls

    async def __call__(self, effect: Effect) -> Outcome:
        """The outcome of one effect. Raises nothing but a cancellation that was meant for it."""
        try:
            if effect.kind == "run":
                return await self._run(effect)
            return await (self._ask(effect) if effect.kind == "model" else self._call(effect))
        except Suspended as suspended:
            return Waiting(on=suspended.on, result=suspended.result).outcome()
        except asyncio.CancelledError:
            if being_cancelled():
                raise
            return Outcome(status="error", value="it was cancelled by itself")

    async def _ask(self, effect: Effect) -> Outcome:
        step = int(effect.occurrence)
        request = ModelRequest(
            model=self._program.model,
            instructions=self._program.instructions,
            messages=[*self._history, *self._machine.messages],
            tools=tools_for(self._program),
            settings=self._program.settings,
            session=self._session,
            turn=self._turn,
            step=step,
            effect_key=effect_key(self._turn, effect.key),
            content=self._content,
        )
        tries = 0
        while True:
            tries += 1
            said: list[str] = []
            try:
                answer = await self._agent.model.provider.answer(request, self._sayer(step, said))
                return Outcome(status="ok", value=_answered(answer))
            except Exception as error:
                if said:
                    self._emit(TextRetracted(turn=self._turn, step=step))
                delay = self._next_try(error, tries)
                reason = _said_of(error)
                if delay is None:
                    return Outcome(status="error", value=f"{reason} (after {tries} tries)")
                self._emit(
                    ModelRetried(
                        turn=self._turn, step=step, tries=tries, delay=delay, reason=reason
                    )
                )
            await asyncio.sleep(delay)

    def _sayer(self, step: int, said: list[str]) -> Callable[[str], None]:
        def say(text: str) -> None:
            said.append(text)
            self._emit(TextDelta(turn=self._turn, step=step, text=text))

        return say

    def _next_try(self, error: Exception, failed: int) -> float | None:
        """Seconds until the next try, None for no more: only a provider knows what may pass."""
        if not isinstance(error, ProviderError) or not error.fields.get("retryable", False):
            return None
        return self._retry.delay(failed, error.fields.get("retry_after"))

    async def _run(self, effect: Effect) -> Outcome:
        """One run of an adopted agent. What the store refuses meanwhile is no outcome, and is raised."""
        agent, machine = self._agent, self._machine
        assert isinstance(agent, AdoptedAgent), "only adopted agents have turns that are runs"
        assert isinstance(machine, AdoptedMachine), "a turn of one has its machine"
        call = self._adopted_call(machine, effect, over=False)
        return Outcome(status="ok", value=plain(await call.run.until_over(agent.answered(call))))

    async def look_back(self) -> None:
        """Have a turn that ends early know what an adopted agent's run of it did."""
        agent, machine = self._agent, self._machine
        if not isinstance(agent, AdoptedAgent) or not isinstance(machine, AdoptedMachine):
            return
        for effect in [effect for effect in machine.wants.values() if effect.kind == "run"]:
            call = self._adopted_call(machine, effect, over=True)
            try:
                machine.leave(plain(await agent.look_back(call)), call.run.usage)
            except Exception as error:  # the turn ends all the same
                mishap.tell("what a run did is not known to the turn that ends", error)

    def _adopted_call(self, machine: AdoptedMachine, effect: Effect, *, over: bool) -> AdoptedCall:
        assert self._calls is not None, "it is driven"
        done, asked = machine.asked()
        emit = _nobody if over else self._emit
        run = AdoptedRun(self._calls(effect), emit, self._turn, self._retry.delay, over=over)
        return AdoptedCall(
            session=self._session,
            turn=self._turn,
            step=int(effect.occurrence),
            effect_key=effect_key(self._turn, effect.key),
            history=[*self._history, *done],
            asked=asked,
            instructions=self._program.instructions,
            deps=self._deps(),
            content=self._content,
            run=run,
        )

    async def _call(self, effect: Effect) -> Outcome:
        asked = effect.request
        call = ToolCall(id=asked["id"], name=asked["name"], arguments=asked["arguments"])
        self._emit(ToolStarted(turn=self._turn, call=call.id, name=call.name))
        try:
            value = plain(await self._result(effect, call))
            msgspec.convert(value, ToolResult)  # what cannot be read again is not recorded
        except Exception as error:
            value = plain(ToolResult(status="error", content=_said_of(error)))
        return Outcome(status="ok", value=value)

    async def _result(self, effect: Effect, call: ToolCall) -> ToolResult:
        made = self._agent.tools.get(call.name)
        if made is None:
            told = f"the tool {call.name!r} is not available any more"
            return ToolResult(status="unavailable", content=told)
        context: ToolContext[Any] = ToolContext(
            session=self._session,
            turn=self._turn,
            call=call.id,
            effect_key=effect_key(self._turn, effect.key),
            deps=self._deps(),
            calls=None if self._calls is None else self._calls(effect),
        )
        result: ToolResult | None = None
        for plugin in self._plugins:
            result = result or await plugin.before_tool(call, context)
        result = result or await made.call(call.arguments, context)
        for plugin in self._plugins:
            result = await plugin.after_tool(call, result)
        if result.status != "ok" or not context.wakes:
            return result
        wakes = tuple(context.wakes)
        for wake in wakes:
            await self._present(wake.session)
        return msgspec.structs.replace(result, wakes=wakes)


def _nobody(event: TurnEvent) -> None:
    """Nobody watches."""
    del event


def _answered(answer: object) -> Json:
    """A provider's answer as it is stored, where nothing but answers may be found later."""
    if not isinstance(answer, Answer):
        raise TypeError(f"the provider returned {type(answer).__name__} and no Answer")
    return plain(answer)


def _said_of(error: Exception) -> str:
    """An exception in words that can be stored. Ours are sentences already."""
    kind = "" if isinstance(error, TenureError) else f"{type(error).__name__}: "
    return storable(f"{kind}{error}"[:_LONGEST_ERROR])


def being_cancelled() -> bool:
    """Whether somebody asked the running task itself to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
