"""A tool of a server: what the model is shown of it, and what its call may come to."""

import asyncio
import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.mcp.lost import Closed, Lost, NotSent
from tenure.runtime.mcp.server import McpServer
from tenure.runtime.model.json import Json, storable
from tenure.runtime.model.program import InDoubt, ToolSpec
from tenure.runtime.tools.calls import Suspended
from tenure.runtime.tools.context import ToolContext
from tenure.runtime.tools.toolset import AnyTool

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

_LONGEST_NAME = 64
#: How often a call that may be run again is, if its connection is lost while it runs.
_TRIES = 2


class Asking(Protocol):
    """Asks a server, from whatever loop this is."""

    async def __call__(
        self, tool: str, arguments: dict[str, Json], key: str, began: Callable[[], None]
    ) -> "CallToolResult":
        """See `Link.call`."""
        ...


class McpTool(AnyTool):
    """One tool of one server. `called` is the server's own name of it."""

    def __init__(self, server: McpServer, listed: "Tool", ask: Asking) -> None:
        self.server = server
        self.called = listed.name
        self.spec = ToolSpec(
            name=name_of(server, listed.name),
            description=storable(listed.description or listed.title or ""),
            schema=listed.input_schema,
            in_doubt=in_doubt_of(server, listed),
        )
        self._ask = ask

    async def call(self, arguments: Json, context: ToolContext[Any]) -> ToolResult:
        """Ask the server. What it refuses, and what cannot be known, is told to the model."""
        if arguments is not None and not isinstance(arguments, dict):
            return self._error("the arguments do not fit: they are no object")
        call = _Call(self, arguments or {}, context)
        try:
            async with asyncio.timeout(self.server.timeout):
                return await call.made()
        except TimeoutError:
            why = f"no answer within {self.server.timeout:g} s (its timeout)"
            why = call.why or why
        except Lost as error:
            why = error.why
        return await self._unknown(why, call) if call.begun else self.not_called(why)

    async def _unknown(self, why: str, call: "_Call") -> ToolResult:
        """What is said of a call that may have taken effect."""
        how = self.spec.in_doubt
        if how == "rerun":
            return self._error(f"{self.name} came to nothing: {why}. It may be called again.")
        if how == "wait":
            wait = await call.context.open_wait("in doubt", call.question())
            raise Suspended((wait.id,), result=True)  # whoever knows answers for the call
        return ToolResult(
            status="unknown",
            content=storable(
                f"{self.name} was called, and whether it took effect is unknown: {why}. "
                "Find out before you repeat it."
            ),
        )

    async def ask(self, call: "_Call") -> "CallToolResult":
        """The server's answer to a call."""
        return await self._ask(self.called, call.arguments, call.context.effect_key, call.begin)

    def _error(self, text: str) -> ToolResult:
        return ToolResult(status="error", content=storable(text[: self.server.output_bytes]))

    def not_called(self, why: str) -> ToolResult:
        """Nothing happened."""
        return self._error(f"{self.name} was not called: {why}")

    def failed(self, error: Exception) -> ToolResult:
        """The server's refusal, or a result that is none."""
        return self._error(f"{self.name}: {error}")


class _Call:
    """One call, over as many tries as it may have."""

    def __init__(
        self, tool: McpTool, arguments: dict[str, Json], context: ToolContext[Any]
    ) -> None:
        self._tool = tool
        self.arguments = arguments
        self.context = context
        self.begun = False  #: the server may know of it
        self.why = ""  #: it is not over yet

    def begin(self) -> None:
        """The next thing that happens is that it is sent."""
        self.begun = True

    def question(self) -> Json:
        """What somebody outside is asked about it."""
        name, call = self._tool.name, self.context.call
        return {"in_doubt": {"name": name, "arguments": self.arguments, "id": call}}

    async def made(self) -> ToolResult:
        """What came of it. It ends by itself, or by its timeout.

        Raises: Lost: that is unknown, if it was begun.
        """
        from tenure.runtime.mcp.result import told

        tool, again = self._tool, self._tool.spec.in_doubt == "rerun"
        tries = 0
        while True:
            tries += 1
            before = self.begun
            try:
                return told(await tool.ask(self), tool.name, tool.server.output_bytes)
            except NotSent as error:
                self.begun = before
                raise Lost(why=error.why) from error
            except Closed as error:
                self.why = error.why
                if again:  # the next owner of this turn makes it again, as if we had been killed
                    await asyncio.Event().wait()
                raise Lost(why=error.why) from error
            except Lost as error:
                if not again or tries >= _TRIES:
                    raise
                self.why = error.why
            except Exception as error:
                return tool.failed(error)


def in_doubt_of(server: McpServer, listed: "Tool") -> InDoubt:
    """What a call is whose outcome is unknown: the host's word, else the server's hints."""
    if isinstance(server.in_doubt, str):
        return server.in_doubt
    said = (server.in_doubt or {}).get(listed.name)
    if said is not None:
        return said
    hints = listed.annotations
    harmless = hints is not None and (hints.read_only_hint or hints.idempotent_hint)
    return "rerun" if harmless else "report"


def name_of(server: McpServer, name: str) -> str:
    """What models call it: a name that every vendor takes, and no two tools of a server share."""
    plain = server.called + re.sub(r"[^a-zA-Z0-9_-]", "_", name)
    fits = re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]*", plain) is not None
    if fits and plain == server.called + name and len(plain) <= _LONGEST_NAME:
        return plain
    mark = "_" + hashlib.sha256(name.encode()).hexdigest()[:8]
    return ("" if fits else "_") + plain[: _LONGEST_NAME - len(mark) - 1] + mark
