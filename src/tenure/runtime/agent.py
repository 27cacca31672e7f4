"""Agents: what a host registers by name, and what turns are pinned to."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tenure.runtime.errors import WiringError
from tenure.runtime.machine.machine import FINAL
from tenure.runtime.model.json import Json
from tenure.runtime.model.program import Program, ToolSpec, TurnBudget
from tenure.runtime.model.turn import CommitBudget
from tenure.runtime.ports.provider import Provider
from tenure.runtime.tools import foreign
from tenure.runtime.tools.tool import Tool, as_tool, output_schema


class Model:
    """A provider, the name of one of its models, and settings sent with every request."""

    def __init__(self, provider: Provider, name: str, **settings: Json) -> None:
        self.provider = provider
        self.name = name
        self.settings = settings


class Agent:
    """An agent as this process has it. A turn keeps the one it was admitted with.

    `history` is how many past turns the model is shown, None for all. `output` is the type of
    the answer, text by default.

    Raises:
        WiringError: two tools have one name, or a name is taken by the typed answer.
    """

    def __init__(
        self,
        name: str,
        *,
        instructions: str,
        model: Model,
        tools: Sequence[Tool | Callable[..., Any]] = (),
        output: Any = None,
        history: int | None = None,
        budget: TurnBudget | None = None,
        commit_budget: CommitBudget | None = None,
    ) -> None:
        self.name = name
        self.instructions = instructions
        self.model = model
        self.history = history
        self.output = output
        self.commit_budget = commit_budget or CommitBudget()
        self.tools: dict[str, Tool] = {}
        for given in tools:
            self.add(as_tool(given))
        self._budget = budget or TurnBudget()

    def add(self, made: Tool) -> None:
        """Add a tool; plugins do."""
        if made.name in self.tools or made.name == FINAL:
            raise WiringError(
                what=f"agent {self.name!r} has two tools called {made.name!r}",
                next="rename one",
            )
        self.tools[made.name] = made

    def program(self, extra_instructions: Sequence[str] = ()) -> Program:
        """What a turn admitted now is pinned to."""
        parts = [self.instructions, *extra_instructions]
        return Program(
            agent=self.name,
            instructions="\n\n".join(part for part in parts if part),
            model=self.model.name,
            settings=dict(self.model.settings),
            tools=tuple(made.spec for made in self.tools.values()),
            output=output_schema(self.output),
            budget=self._budget,
        )

    def check_output(self, value: Json) -> tuple[Json, str]:
        """A typed answer as JSON, or what is wrong with it, for the model."""
        if self.output is None or self.output is str:
            return value, ""
        try:
            made = foreign.convert(value, self.output)
        except (msgspec.ValidationError, ValueError) as error:
            return None, f"the answer does not fit: {error}"
        return msgspec.json.decode(foreign.encode(made)), ""


def tools_for(program: Program) -> tuple[ToolSpec, ...]:
    """The tools that the model is shown: the program's, and the call that gives a typed answer."""
    if program.output is None:
        return program.tools
    schema = program.output
    final = ToolSpec(name=FINAL, description="Give the final answer.", schema=schema)
    return (*program.tools, final)
