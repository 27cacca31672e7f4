"""Plugins and protocols: the seams that the runtime's own built-ins use, and no more.

Both are made by factories, which the host owns and which `Runtime.shutdown` releases.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.machine.machine import CheckOutput, Machine
from tenure.runtime.model.message import ToolCall, UserMessage
from tenure.runtime.model.program import Program
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.tools.context import ToolContext
from tenure.runtime.tools.tool import Tool


class Plugin:
    """What one plugin adds. Subclass it and override what it does; the rest does nothing."""

    def instructions(self, agent: str) -> str:
        """More instructions for turns that are admitted from now on. Part of their program."""
        return ""

    def tools(self, agent: str) -> Sequence[Tool]:
        """More tools for an agent. Part of the program of its turns."""
        return ()

    async def before_tool(self, call: ToolCall, context: ToolContext[Any]) -> ToolResult | None:
        """Answer in the tool's place, or None to let it run. The answer is what is journaled."""
        return None

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        """The result that counts, before it is journaled. Not called for replays."""
        return result

    async def after_commit(self, result: TurnResult) -> None:
        """The turn is committed. Whatever this raises is told and changes nothing.

        It may be called again, or not at all, if the process dies here: it is a hint.
        """


class PluginFactory(ABC):
    """Makes one plugin for each runtime."""

    @abstractmethod
    def make(self) -> Plugin:
        """The plugin."""
        ...

    async def release(self) -> None:
        """Let go of what its plugins share. May fail. Default: nothing."""


class ProtocolFactory(ABC):
    """Makes the machine that turns an agent's answers into effects."""

    @abstractmethod
    def machine(
        self, program: Program, *, opening: UserMessage, head: int, check_output: CheckOutput
    ) -> Machine:
        """The machine of one turn."""
        ...

    async def release(self) -> None:
        """Let go of what its machines share. May fail. Default: nothing."""


class NativeToolCalling(ProtocolFactory):
    """The protocol of models that call tools by themselves."""

    def machine(
        self, program: Program, *, opening: UserMessage, head: int, check_output: CheckOutput
    ) -> Machine:
        """The machine of one turn."""
        return Machine(program, opening=opening, head=head, check_output=check_output)
