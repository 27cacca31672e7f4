"""Agents: what a host registers by name, and what turns are pinned to."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tenure.runtime.errors import WiringError
from tenure.runtime.machine.machine import FINAL, CheckOutput
from tenure.runtime.model.json import Json, canonical
from tenure.runtime.model.program import Program, ToolSpec, TurnBudget
from tenure.runtime.model.turn import CommitBudget
from tenure.runtime.ports.plugin import Plugin, ProtocolFactory
from tenure.runtime.ports.provider import Provider
from tenure.runtime.tools.answer import TypedAnswer
from tenure.runtime.tools.tool import as_tool
from tenure.runtime.tools.toolset import AnyTool, Toolset


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

    `tools` are typed functions, and sets of tools that may be others at the next turn, such as
    those of a server. `history` is how many past turns the model is shown, None for all. `output`
    is the type of the answer, text by default.

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
        tools: Sequence[AnyTool | Toolset | Callable[..., Any]] = (),
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
        self._own: dict[str, AnyTool] = {}
        self._sets: list[Toolset] = []
        self._merged: tuple[list[tuple[AnyTool, ...]], Mapping[str, AnyTool]] | None = None
        self._budget = budget or TurnBudget()
        self._answer = TypedAnswer(output)
        #: Makes the machine of its turns, where that is not the runtime's own.
        self.protocol: ProtocolFactory | None = None
        self._made: tuple[Any, Program] | None = None  #: the last program, and what it is made of
        self._check()
        for given in tools:
            if isinstance(given, Toolset):
                self._sets.append(given)
            else:
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

    def _add(self, made: AnyTool) -> None:
        if made.name in self._own or made.name == FINAL:
            raise self._twice(made.name)
        self._own[made.name] = made

    def _twice(self, name: str) -> WiringError:
        return WiringError(
            what=f"agent {self.name!r} has two tools called {name!r}", next="rename one"
        )

    @property
    def tools(self) -> Mapping[str, AnyTool]:
        """What its model may call now, by name.

        Raises: WiringError: a set of tools is not ready; or, when its sets are first looked at, two
            tools have one name. A tool that takes a name later on is left out: what another party
            calls its tools is no reason to refuse a turn.
        """
        if not self._sets:
            return self._own
        found = [given.tools() for given in self._sets]
        known = self._merged
        if known is None or any(now is not then for now, then in zip(found, known[0], strict=True)):
            known = self._merged = (found, self._merge(found, strict=known is None))
        return known[1]

    def _merge(self, sets: Sequence[tuple[AnyTool, ...]], *, strict: bool) -> Mapping[str, AnyTool]:
        merged = dict(self._own)
        for made in (made for tools in sets for made in tools):
            if made.name not in merged and made.name != FINAL:
                merged[made.name] = made
            elif strict:
                raise self._twice(made.name)
        return merged

    def extended(self, tools: Sequence[AnyTool]) -> "Agent":
        """This agent with more tools; plugins bring some. The agent itself is left as it is.

        Raises: WiringError: two tools have one name.
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _own=dict(self._own), _merged=None)
        for made in tools:
            twin._add(made)
        return twin

    def stand(self, plugin: Plugin) -> None:
        """Stand a plugin: all of them, here. Raises: WiringError: it asks what cannot be done."""

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
