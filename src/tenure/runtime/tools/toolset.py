"""What a model may call, whoever carries it out, and sets of it that change while a process runs."""

from abc import ABC, abstractmethod
from typing import Any

from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.model.json import Json
from tenure.runtime.model.program import ToolSpec
from tenure.runtime.tools.context import ToolContext


class AnyTool(ABC):
    """One thing that a model may call: a function of the host's, or something of a server's."""

    spec: ToolSpec  #: what the model is shown of it, and what it means for recovery

    @property
    def name(self) -> str:
        """What the model calls it by."""
        return self.spec.name

    @abstractmethod
    async def call(self, arguments: Json, context: ToolContext[Any]) -> ToolResult:
        """Call it. Every failure of its own is a result; only a cancellation, and a wait, is raised."""
        ...


class Toolset(ABC):
    """Tools that may be others at the next turn. A turn under way keeps those it was admitted with."""

    @abstractmethod
    def tools(self) -> tuple[AnyTool, ...]:
        """What there is now: the same tuple as long as nothing changed.

        Asked whenever a turn is admitted or driven, from any thread; so it waits for nothing.

        Raises: WiringError: it was not made ready.
        """
        ...
