"""The program of a turn: what the agent was when the turn was admitted, pinned by digest."""

from functools import cached_property
from typing import Literal

import msgspec

from tenure.runtime.model.json import Json, digest

#: What happens to a call that was started and has no recorded outcome.
InDoubt = Literal["rerun", "report", "wait"]


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as the model sees it, and what it means for recovery."""

    name: str
    description: str
    schema: Json  #: JSON Schema of the arguments
    in_doubt: InDoubt = "report"


class TurnBudget(msgspec.Struct, frozen=True, kw_only=True):
    """How much one turn may do. A breach ends it as stopped, with the reason.

    `steps` are model calls; `drives` are times it was picked up without recording anything.
    """

    steps: int = 50
    drives: int = 5


class Program(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything about an agent that a turn depends on. A deploy changes the next turn's."""

    agent: str
    instructions: str
    model: str  #: the name of the model, not its client
    settings: dict[str, Json] = {}
    tools: tuple[ToolSpec, ...] = ()
    output: Json = None  #: JSON Schema of a typed answer; None for text
    budget: TurnBudget = TurnBudget()

    @cached_property
    def digest(self) -> str:
        """What pins it."""
        return digest("program", self)

    def tool(self, name: str) -> ToolSpec | None:
        """The tool of that name."""
        for spec in self.tools:
            if spec.name == name:
                return spec
        return None
