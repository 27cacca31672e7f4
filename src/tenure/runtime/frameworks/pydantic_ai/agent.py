"""A Pydantic AI agent, as a runtime has it among its agents."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar, Union

from pydantic import PydanticSchemaGenerationError, TypeAdapter
from pydantic_ai import (
    AgentRunResult,
    NativeOutput,
    PromptedOutput,
    ToolOutput,
    capture_run_messages,
)
from pydantic_ai.agent import AbstractAgent
from pydantic_ai.models import Model
from pydantic_core import to_jsonable_python

from tenure.runtime.admission import OnBusy
from tenure.runtime.adopted import AdoptedAgent, AdoptedCall
from tenure.runtime.errors import TurnMissing, TurnStopped, WiringError
from tenure.runtime.frameworks.pydantic_ai import history
from tenure.runtime.frameworks.pydantic_ai.current import running
from tenure.runtime.frameworks.pydantic_ai.durability import TenureDurability
from tenure.runtime.machine.adopted import AdoptedAnswer
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import Attachment, Message
from tenure.runtime.model.program import TurnBudget
from tenure.runtime.model.turn import CommitBudget, TurnResult
from tenure.runtime.runtime import HostedRuntime
from tenure.runtime.tools.calls import Suspended

DepsT = TypeVar("DepsT")
OutputT = TypeVar("OutputT")


class DurableAgent(AdoptedAgent, Generic[DepsT, OutputT]):
    """An agent of Pydantic AI to be registered with a `Runtime`. Made by `durable`."""

    def __init__(
        self,
        agent: AbstractAgent[DepsT, OutputT],
        *,
        history: int | None = None,
        budget: TurnBudget | None = None,
        commit_budget: CommitBudget | None = None,
    ) -> None:
        durability = TenureDurability.from_agent(agent)
        if durability is None:
            raise WiringError(
                what=f"agent {agent.name!r} has no TenureDurability",
                next="make it with capabilities=[TenureDurability()]",
            )
        self._agent = agent
        self._output = _adapter(agent)
        super().__init__(
            durability.name,
            model=_name_of(agent),
            history=history,
            budget=budget,
            commit_budget=commit_budget,
        )

    async def run(self, call: AdoptedCall) -> AdoptedAnswer:
        """One run of the agent, as part of a turn."""
        result = await self._run(call)
        output = result.output
        return AdoptedAnswer(
            text=output if isinstance(output, str) else "",
            output=None if isinstance(output, str) else to_jsonable_python(output),
            kept=history.kept(result.new_messages()),
        )

    async def look_back(self, call: AdoptedCall) -> Json:
        """The messages of a run that is not going on, each call with what is known of it."""
        before = len(history.told(call.history))
        with capture_run_messages() as messages:
            try:
                await call.run.until_over(self._run(call))
            except (Suspended, Exception):
                pass  # that is as far as it came
        return history.kept(history.closed(messages[before:], call.run.returned))

    async def _run(self, call: AdoptedCall) -> AgentRunResult[OutputT]:
        call.run.model = self.model.name
        with running(call.run):
            return await self._agent.run(
                await history.prompt(call.asked, call.content),
                message_history=history.told(call.history),
                deps=call.deps,
                instructions=call.instructions or None,
                conversation_id=call.session,
                run_id=f"{call.turn}.{call.step}",
            )

    async def ask(
        self,
        runtime: HostedRuntime,
        session: str,
        text: str,
        *,
        key: str | None = None,
        attachments: tuple[Attachment, ...] = (),
        on_busy: OnBusy = "wait",
    ) -> AgentRunResult[OutputT]:
        """`Session.turn`, answered as `agent.run` answers. With the same key, the same result.

        Its messages are those of this turn: the session has what was said before.

        Raises:
            TurnStopped: the turn ended without an answer.
            what `Session.turn` raises.
        """
        async with await runtime.session(session, agent=self.name) as chat:
            result = await chat.turn(text, key=key, attachments=attachments, on_busy=on_busy)
            return await self.result(runtime, result)

    async def result(self, runtime: HostedRuntime, result: TurnResult) -> AgentRunResult[OutputT]:
        """What a turn of this agent returned, as `agent.run` returns it.

        Raises: TurnStopped: it ended without an answer.
        """
        if not result.completed:
            raise TurnStopped(turn=result.turn, status=result.status, reason=result.reason)
        said = history.told(await _said(runtime, result))
        output = result.text if result.output is None else result.output
        made: TypeAdapter[AgentRunResult[Any]] = TypeAdapter(AgentRunResult[Any])
        usage = result.usage
        value = {
            "output": self._output.validate_python(output),
            "messages": history.kept(said),
            "new_message_index": 0,
            "usage": {
                "requests": usage.requests,
                "tool_calls": usage.tool_calls,
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
            },
            "run_id": result.turn,
            "conversation_id": result.session,
        }
        return made.validate_python(value)


def durable(
    agent: AbstractAgent[DepsT, OutputT],
    *,
    history: int | None = None,
    budget: TurnBudget | None = None,
    commit_budget: CommitBudget | None = None,
) -> DurableAgent[DepsT, OutputT]:
    """An agent that has a `TenureDurability`, to be passed to `Runtime(agents=[…])`.

    The session keeps the history: a run is given what the last `history` turns said, None for all.

    Raises:
        WiringError: it has no `TenureDurability`, or something that no turn can do.
    """
    return DurableAgent(agent, history=history, budget=budget, commit_budget=commit_budget)


async def _said(runtime: HostedRuntime, result: TurnResult) -> list[Message]:
    """The messages of a committed turn."""
    wiring = runtime.wiring

    def read() -> list[Message]:
        record, _ = wiring.store.turn(result.turn)
        if record is None or record.end is None:
            raise TurnMissing(turn=result.turn)
        head = record.opened_at_head
        return wiring.store.messages(record.session, head, record.end.head - head)

    return await wiring.asking.call(read)


def _name_of(agent: AbstractAgent[Any, Any]) -> str:
    model = agent.model
    if isinstance(model, Model):
        return model.model_name
    return model or "chosen by a capability"


def _adapter(agent: AbstractAgent[Any, Any]) -> TypeAdapter[Any]:
    """What reads a stored answer. Raises: WiringError: it has a type that none can be read as."""
    try:
        return TypeAdapter(_type(agent.output_type))
    except PydanticSchemaGenerationError as error:
        raise WiringError(
            what=f"an answer of agent {agent.name!r} cannot be stored: {error}",
            next="have it answer with a type that Pydantic knows",
        ) from error


def _type(output: Any) -> Any:
    if isinstance(output, ToolOutput):
        return output.output
    if isinstance(output, NativeOutput | PromptedOutput):
        return _type(output.outputs)
    if isinstance(output, Sequence) and not isinstance(output, str):
        return Union[tuple(_type(one) for one in output)]  # noqa: UP007
    return output
