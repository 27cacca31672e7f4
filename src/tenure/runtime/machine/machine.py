"""The turn machine: no I/O, no clock, no randomness, no await.

It says which effects it wants and is told their outcomes, in whatever order they come. Fed
the same outcomes it makes the same messages, which is all that a replay is.

    model answers ─► calls? ─► every tool ─► boundary after_work ─► model again
                       └ no ─► boundary before_completion ─► input? ─► model again
                                                            └ none ─► done
"""

from collections.abc import Callable, Sequence
from typing import Self

import msgspec

from tenure.runtime.machine.answers import Accepted, Answer, ToolResult, returned
from tenure.runtime.machine.draft import Draft
from tenure.runtime.model.effect import Effect, EffectKind, Outcome
from tenure.runtime.model.json import Json, digest
from tenure.runtime.model.message import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    dangling,
)
from tenure.runtime.model.program import Program
from tenure.runtime.model.turn import TurnStatus
from tenure.runtime.model.usage import Usage
from tenure.runtime.model.work import Boundary, Wake

#: The call by which a model gives a typed answer.
FINAL = "final_result"

#: What a model is told of a call that was under way when its turn ended.
ENDED = "The turn ended before this call returned; it may or may not have taken effect."

#: Checks a typed answer: the value, or a sentence that tells the model what is wrong with it.
CheckOutput = Callable[[Json], tuple[Json, str]]


class Machine:
    """One turn. `wants` are the effects to have in flight; `draft` is there when it is over."""

    _asks: EffectKind = "model"  #: what a step asks for
    _steps = "steps"  #: what people call them

    def __init__(
        self, program: Program, *, opening: UserMessage, head: int, check_output: CheckOutput
    ) -> None:
        self.draft: Draft | None = None
        self.wants: dict[str, Effect] = {}
        self.messages: list[Message] = [opening]  #: of this turn, so far
        self.step = 0  #: model calls asked for
        self._program = program
        self._head = head
        self._check_output = check_output
        self._usage = Usage()
        self._accepted: list[str] = []
        self._calls: tuple[ToolCall, ...] = ()
        self._results: dict[str, ToolMessage] = {}
        self._wakes: dict[str, tuple[Wake, ...]] = {}  #: by call, of those that returned
        self._outbox: list[Wake] = []
        self._output: tuple[Json] | None = None
        self._ask_model()

    def take(self, key: str, outcome: Outcome) -> None:
        """Take the outcome of a wanted effect. Anything else, late or unknown, is ignored."""
        effect = self.wants.pop(key, None)
        if effect is None or self.draft is not None:
            return
        if effect.kind == "model":
            self._take_answer(outcome)
        elif effect.kind == "tool":
            self._take_result(effect, outcome)
        else:
            self._take_accepted(effect, outcome)

    def copy(self) -> Self:
        """A machine in the same state, to see what an outcome would lead to."""
        twin = object.__new__(type(self))
        twin.__dict__.update(
            self.__dict__,
            wants=dict(self.wants),
            messages=list(self.messages),
            _accepted=list(self._accepted),
            _results=dict(self._results),
            _wakes=dict(self._wakes),
            _outbox=list(self._outbox),
        )
        return twin

    def end(self, status: TurnStatus, reason: str) -> None:
        """End the turn early, as stopped or cancelled, with a history any provider accepts.

        A draft that is not committed yet can still be cancelled; nothing else changes one.
        """
        if self.draft is not None:
            if status != "cancelled" or self.draft.status == "cancelled":
                return
            if self.draft.status == "stopped":
                self.messages.pop()  # the note that it stopped
        self._close_calls()
        self._note(status, reason)

    def cut(self, status: TurnStatus, reason: str) -> None:
        """End the turn with what people said to it alone: what it did is too much to keep."""
        self._calls = ()
        self._outbox = []
        self.messages = [m for m in self.messages if isinstance(m, UserMessage)]
        self._note(status, reason)

    def _note(self, status: TurnStatus, reason: str) -> None:
        self._output = None
        self.messages.append(AssistantMessage(stopped=f"{status}: {reason}"))
        self._finish(status, reason=reason)

    # the model

    def _ask_model(self) -> None:
        if self.step >= self._program.budget.steps:
            self.end("stopped", f"its budget of {self.step} {self._steps} is used up")
            return
        self.step += 1
        request = {
            "program": self._program.digest,
            "head": self._head,
            "messages": digest("messages", self.messages),
        }
        self._want(Effect(kind=self._asks, occurrence=str(self.step), request=request))

    def _take_answer(self, outcome: Outcome) -> None:
        if outcome.status != "ok":
            self.end("stopped", f"the model gave no answer: {outcome.value}")
            return
        answer = msgspec.convert(outcome.value, Answer)
        self._usage += answer.usage + Usage(requests=1, tool_calls=len(answer.calls))
        calls = distinct(answer.calls, self.step)
        self.messages.append(AssistantMessage(text=answer.text, calls=calls))
        if calls:
            self._run_calls(calls)
        elif self._program.output is not None:
            self._correct(f"Answer by calling {FINAL}.")
        else:
            self._reach("before_completion")

    def _correct(self, text: str) -> None:
        """Tell the model what is wrong with its answer, and ask again."""
        self.messages.append(UserMessage(text=text))
        self._ask_model()

    # tools

    def _run_calls(self, calls: tuple[ToolCall, ...]) -> None:
        self._calls = calls
        self._results, self._wakes = {}, {}
        for index, call in enumerate(calls):
            if self._program.output is not None and call.name == FINAL:
                self._take_typed(call)
            elif self._program.tool(call.name) is None:
                self._put(
                    call, ToolResult(status="error", content=f"no tool is called {call.name!r}")
                )
            else:
                request = {"name": call.name, "arguments": call.arguments, "id": call.id}
                occurrence = f"{self.step}.{index}"
                self._want(Effect(kind="tool", occurrence=occurrence, request=request))
        self._after_results()

    def _take_typed(self, call: ToolCall) -> None:
        value, wrong = self._check_output(call.arguments)
        if wrong:
            self._put(call, ToolResult(status="error", content=wrong))
        else:
            self._put(call, ToolResult(status="ok", content="taken"))
            self._output = (value,)

    def _take_result(self, effect: Effect, outcome: Outcome) -> None:
        call = self._calls[int(effect.occurrence.partition(".")[2])]
        self._put(call, returned(outcome))
        self._after_results()

    def _put(self, call: ToolCall, result: ToolResult) -> None:
        self._results[call.id] = ToolMessage(
            call=call.id, name=call.name, status=result.status, content=result.content
        )
        self._wakes[call.id] = result.wakes

    def _after_results(self) -> None:
        """Once every call has returned: the results in the order of the calls, then the boundary."""
        if self.draft is not None or len(self._results) < len(self._calls):
            return
        self._tell_results()
        self._reach("before_completion" if self._output is not None else "after_work")

    def _close_calls(self) -> None:
        """Give every open call a result: those that returned theirs, the others *cancelled*."""
        for call in self._calls:
            if call.id not in self._results:
                self._put(call, ToolResult(status="cancelled", content=ENDED))
        self._tell_results()

    def _tell_results(self) -> None:
        for call in self._calls:
            self.messages.append(self._results[call.id])
            self._outbox += self._wakes[call.id]
        self._calls = ()

    # boundaries

    def _reach(self, boundary: Boundary) -> None:
        occurrence = f"{self.step}.{boundary}"
        self._want(Effect(kind="accept", occurrence=occurrence, request={"boundary": boundary}))

    def _take_accepted(self, effect: Effect, outcome: Outcome) -> None:
        inputs = msgspec.convert(outcome.value, tuple[Accepted, ...])
        for item in inputs:
            self._accepted.append(item.work)
            self.messages.append(item.message)
        if inputs or effect.request["boundary"] == "after_work":
            self._output = None if inputs else self._output
            self._ask_model()
            return
        last = next(m for m in reversed(self.messages) if isinstance(m, AssistantMessage))
        self._finish("completed", text=last.text)

    # the end

    def _want(self, effect: Effect) -> None:
        self.wants[effect.key] = effect

    def _finish(self, status: TurnStatus, *, text: str = "", reason: str = "") -> None:
        assert not dangling(self.messages), "a committed history has no open call"
        self.wants.clear()
        self.draft = Draft(
            status=status,
            messages=tuple(self.messages),
            text=text,
            output=self._output[0] if self._output is not None else None,
            reason=reason,
            usage=self._usage,
            accepted=tuple(self._accepted),
            outbox=tuple(self._outbox),
        )


def distinct(calls: Sequence[ToolCall], step: int) -> tuple[ToolCall, ...]:
    """The calls with ids that are there and differ, which not every provider guarantees."""
    given = {call.id for call in calls}
    seen: set[str] = set()
    found = []
    for index, call in enumerate(calls):
        name = call.id
        if not name or name in seen:
            name = f"call-{step}.{index}"
            while name in given:
                name += "+"
        seen.add(name)
        found.append(msgspec.structs.replace(call, id=name))
    return tuple(found)
