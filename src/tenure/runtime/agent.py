"""Agents: what a host registers by name, and what turns are pinned to."""

from collections.abc import Callable, Sequence
from typing import Any

from tenure.runtime.errors import WiringError
from tenure.runtime.machine.machine import FINAL, CheckOutput
from tenure.runtime.model.json import Json, canonical
from tenure.runtime.model.program import Program, ToolSpec, TurnBudget
from tenure.runtime.model.turn import CommitBudget
from tenure.runtime.ports.provider import Provider
from tenure.runtime.tools.answer import TypedAnswer
from tenure.runtime.tools.tool import Tool, as_tool


class Model:
    """A provider, the name of one of its models, and settings sent with every request.

    Raises:
        WiringError: the name is empty, or a setting is nothing that JSON can say.
    """

    def __init__(self, provider: Provider, name: str, **settings: Json) -> None:
        if not name:
            raise WiringError(what="a model's name is empty", next="give the provider's name of it")
        try:
            canonical(settings)
        except (TypeError, ValueError) as error:
            raise WiringError(
                what=f"the settings of model {name!r} are no JSON: {error}",
                next="they are stored with every turn; use plain values",
            ) from error
        self.provider = provider
        self.name = name
        self.settings = settings


class Agent:
    """An agent as this process has it. A turn keeps the one it was admitted with.

    `history` is how many past turns the model is shown, None for all. `output` is the type of
    the answer, text by default.

    Raises:
        WiringError: two tools have one name, a name is taken by the typed answer or is empty, or
            a number leaves nothing to do.
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
        self.commit_budget = commit_budget or CommitBudget()
        self.tools: dict[str, Tool] = {}
        self._budget = budget or TurnBudget()
        self._answer = TypedAnswer(output)
        self._made: tuple[Any, Program] | None = None  #: the last program, and what it is made of
        self._check()
        for given in tools:
            self._add(as_tool(given))

    def _check(self) -> None:
        if not self.name:
            raise WiringError(what="an agent's name is empty", next="give it one")
        if self.history is not None and self.history < 0:
            raise WiringError(
                what=f"agent {self.name!r} is shown {self.history} past turns",
                next="give history a number of turns, or None for all",
            )
        numbers = (self._budget.steps, self._budget.drives)
        if min(*numbers, self.commit_budget.bytes, self.commit_budget.rows) < 1:
            raise WiringError(
                what=f"a budget of agent {self.name!r} allows nothing",
                next="give TurnBudget and CommitBudget positive numbers",
            )

    def _add(self, made: Tool) -> None:
        if made.name in self.tools or made.name == FINAL:
            raise WiringError(
                what=f"agent {self.name!r} has two tools called {made.name!r}",
                next="rename one",
            )
        self.tools[made.name] = made

    def extended(self, tools: Sequence[Tool]) -> "Agent":
        """This agent with more tools; plugins bring some. The agent itself is left as it is.

        Raises: WiringError: two tools have one name.
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, tools=dict(self.tools))
        for made in tools:
            twin._add(made)
        return twin

    def program(self, extra_instructions: Sequence[str] = ()) -> Program:
        """What a turn admitted now is pinned to."""
        parts = [self.instructions, *extra_instructions]
        tools = tuple(made.spec for made in self.tools.values())
        of = (parts, self.model.name, self.model.settings, tools)
        if self._made is not None and self._made[0] == of:
            return self._made[1]
        program = Program(
            agent=self.name,
            instructions="\n\n".join(part for part in parts if part),
            model=self.model.name,
            settings=dict(self.model.settings),
            tools=tools,
            output=self._answer.schema,
            budget=self._budget,
        )
        self._made = ((parts, self.model.name, dict(self.model.settings), tools), program)
        return program

    def checker(self, program: Program) -> CheckOutput:
        """Checks the typed answer of a turn that is pinned to `program`.

        If the type has changed since, the model answers to the old one, and whoever reads it
        has to: it is taken as it is.
        """
        if program.output != self._answer.schema:
            return lambda value: (value, "")
        return self._answer.check


def tools_for(program: Program) -> tuple[ToolSpec, ...]:
    """The tools that the model is shown: the program's, and the call that gives a typed answer."""
    if program.output is None:
        return program.tools
    schema = program.output
    final = ToolSpec(name=FINAL, description="Give the final answer.", schema=schema)
    return (*program.tools, final)
