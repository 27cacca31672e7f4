"""Pydantic AI agents for tests: models that say what a script says, and runtimes for them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tenure import RetryPolicy, Runtime
from tenure.faces.pydantic_ai import DurableAgent, TenureDurability
from tests.runtime.scene import LEASE, POLL

#: What a model says: text, or calls by name and arguments, or what a function makes of it all.
Line = str | list[tuple[str, dict[str, Any]]] | Callable[[list[ModelMessage]], ModelResponse]


class Script:
    """A model that says one line after another, whatever it is told; what it was asked is kept.

    The first `recorded` lines were said elsewhere.
    """

    def __init__(self, *lines: Line, recorded: int = 0) -> None:
        self.asked: list[list[ModelMessage]] = []
        self._recorded = recorded
        self._lines = lines

    @property
    def model(self) -> FunctionModel:
        """The model."""
        return FunctionModel(self._say, model_name="scripted")

    async def _say(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        del info
        self.asked.append(messages)
        line = self._lines[len(self.asked) - 1 + self._recorded]
        if callable(line):
            return line(messages)
        if isinstance(line, str):
            return ModelResponse(parts=[TextPart(line)])
        return ModelResponse(
            parts=[
                ToolCallPart(name, arguments, f"call-{number}")
                for number, (name, arguments) in enumerate(line, 1)
            ]
        )


def told(messages: Sequence[ModelMessage]) -> list[tuple[str, Any, str]]:
    """What calls returned: the tool, the content and the outcome."""
    return [
        (part.tool_name, part.content, part.outcome)
        for message in messages
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]


def agent(script: Script, **given: Any) -> Agent[Any, Any]:
    """An agent as people have it, with one argument more."""
    given.setdefault("capabilities", [TenureDurability(**given.pop("durability", {}))])
    return Agent(script.model, name="clerk", **given)


def hosted(
    durable: DurableAgent[Any, Any], store: str = "memory://", **given: Any
) -> AbstractAsyncContextManager[Runtime]:
    """A runtime with that agent alone."""
    given.setdefault("retry", RetryPolicy(attempts=2, first=0.0))
    return Runtime(store=store, agents=[durable], poll=POLL, lease_timings=LEASE, **given)
