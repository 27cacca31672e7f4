"""One pool of connections to servers, shared by every session, turn and loop of a process.

It has a thread and a loop of its own: whatever a server does, the host's loop goes on, and calls
come from any loop. `mcp` is imported there, when the pool is opened.
"""

import asyncio
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tenure.runtime.errors import McpUnavailable, RuntimeClosed, WiringError
from tenure.runtime.loop_thread import LoopThread
from tenure.runtime.mcp.lost import Closed, NotSent
from tenure.runtime.mcp.server import McpServer
from tenure.runtime.mcp.tool import McpTool
from tenure.runtime.model.json import Json
from tenure.runtime.ports.plugin import Plugin, PluginFactory
from tenure.runtime.tools.toolset import Toolset

if TYPE_CHECKING:
    from mcp_types import CallToolResult, Tool

    from tenure.runtime.mcp.link import Link

#: Gets a server's name and a line that it wrote to its standard error, or logged.
Said = Callable[[str, str], None]

#: Lines of a server that are kept to be told with its failure.
_LINES = 10


def print_line(server: str, line: str) -> None:
    """Pass a server's line on to our own standard error."""
    print(f"[{server}] {line}", file=sys.stderr, flush=True)


class McpPool(PluginFactory):
    """Connections to MCP servers: one each, whoever calls.

    Give its `tools` to agents, and the pool itself to the runtime as a plugin, so that
    `Runtime.shutdown` closes it. It belongs to one runtime, and is opened before the first turn.

    A server that is lost is started again when somebody calls it. What a call came to whose
    connection was lost is unknown, and treated as the tool's `in_doubt` says.

    Raises: WiringError: two servers have one name.
    """

    def __init__(self, servers: Sequence[McpServer], *, said: Said = print_line) -> None:
        self.servers = {server.name: server for server in servers}
        if len(self.servers) < len(servers):
            raise WiringError(what="two MCP servers have one name", next="rename one")
        self._said = said
        self._thread = LoopThread("tenure-mcp")
        self._links: dict[str, Link] = {}
        self._offers: dict[str, tuple[McpTool, ...]] = {}
        self._tails: dict[str, list[str]] = {name: [] for name in self.servers}
        self._closing: asyncio.Future[None] | None = None

    # before the first turn

    async def open(self) -> None:
        """Connect to every server that is not connected yet, and list its tools. One try each.

        Raises:
            McpUnavailable: a server could not be reached, and what it said last. The others are
                connected; asked again, it is tried again.
            WiringError: `mcp` is not installed, or `in_doubt` names a tool that is not there.
            RuntimeClosed: it was released.
        """
        await self._thread.hand_over(self._open)

    def open_sync(self) -> None:
        """`open` for a plain thread."""
        self._thread.run(self._open)

    async def _open(self) -> None:
        try:
            from tenure.runtime.mcp.link import Link
        except ModuleNotFoundError as error:
            raise WiringError(
                what=f"MCP servers need the official SDK, and there is no module {error.name}",
                next="install tenure[mcp]",
            ) from error
        for name, server in self.servers.items():
            if name not in self._links:
                self._links[name] = Link(
                    server, partial(self._hear, name), partial(self._offer, name)
                )
        opened = (self._opened(link) for link in self._links.values())
        failures = [error for error in await asyncio.gather(*opened) if error is not None]
        if failures:
            raise failures[0]
        for server in self.servers.values():
            self._check(server)

    async def _opened(self, link: "Link") -> McpUnavailable | None:
        try:
            await link.open()
        except NotSent as error:
            name = link.server.name
            last = " | ".join(self._tails[name]) or "nothing"
            return McpUnavailable(server=name, what=error.why, last=last)
        return None

    def _check(self, server: McpServer) -> None:
        there = {tool.called for tool in self._offers.get(server.name, ())}
        named = server.in_doubt if isinstance(server.in_doubt, dict) else {}
        wrong = sorted(set(named) - there)
        if wrong:
            raise WiringError(
                what=f"in_doubt names {wrong[0]!r}, and MCP server {server.name!r} has no such tool",
                next=f"it has {', '.join(sorted(there)) or 'none'}; use its own names",
            )

    # for agents

    def tools(self, server: str, *, only: Collection[str] | None = None) -> Toolset:
        """The tools of one server, for `Agent(tools=[…])`; of those named, by its own names.

        They are listed anew whenever the server says that they changed, and after a restart.

        Raises: WiringError: the pool has no such server.
        """
        if server not in self.servers:
            raise WiringError(
                what=f"there is no MCP server {server!r} in this pool",
                next=f"it has {', '.join(self.servers) or 'none'}",
            )
        if isinstance(only, str):
            raise WiringError(what=f"only={only!r} is one text", next="give a list of names")
        return _ServerTools(self, server, None if only is None else frozenset(only))

    def offered(self, server: str) -> tuple[McpTool, ...]:
        """What a server was heard to offer last. Raises: WiringError: the pool was not opened."""
        found = self._offers.get(server)
        if found is None:
            raise WiringError(
                what=f"the tools of MCP server {server!r} are not known yet",
                next="await the pool's open() before the first turn",
            )
        return found

    def connections(self, server: str) -> int:
        """How often a server was connected to since the pool was made."""
        link = self._links.get(server)
        return 0 if link is None else link.opened

    # what links tell

    def _hear(self, server: str, line: str) -> None:
        tail = self._tails[server]
        tail.append(line)
        del tail[:-_LINES]
        try:
            self._said(server, line)
        except Exception:
            pass  # whoever listens to servers is no part of what they do

    def _offer(self, server: str, listed: "list[Tool]") -> None:
        before = {tool.called: tool for tool in self._offers.get(server, ())}
        ask = partial(self._ask, server)
        made = [McpTool(self.servers[server], tool, ask) for tool in listed]
        offers = tuple(_same(before.get(tool.called), tool) for tool in made)
        if offers != self._offers.get(server):
            self._offers[server] = offers

    async def _ask(
        self,
        server: str,
        tool: str,
        arguments: dict[str, Json],
        key: str,
        began: Callable[[], None],
    ) -> "CallToolResult":
        link = self._links[server]
        try:
            return await self._thread.hand_over(lambda: link.call(tool, arguments, key, began))
        except RuntimeClosed:
            raise Closed(why="the connections were closed") from None

    # as a plugin

    def make(self) -> Plugin:
        """A plugin that adds nothing: agents name their tools themselves."""
        return Plugin()

    async def release(self) -> None:
        """Close every connection, end every child process, end the thread. In bounded time; and
        once, whoever asks again."""
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._release())
        await asyncio.shield(self._closing)

    async def _release(self) -> None:
        try:
            await self._thread.hand_over(self._close)
        except RuntimeClosed:
            return
        await asyncio.to_thread(self._thread.close)

    async def _close(self) -> None:
        await asyncio.gather(*(link.close() for link in self._links.values()))


class _ServerTools(Toolset):
    """The tools of one server of a pool, or some of them."""

    def __init__(self, pool: McpPool, server: str, only: frozenset[str] | None) -> None:
        self._pool = pool
        self._server = server
        self._only = only
        self._made: tuple[tuple[McpTool, ...], tuple[McpTool, ...]] | None = None

    def tools(self) -> tuple[McpTool, ...]:
        """See `Toolset`."""
        there, only = self._pool.offered(self._server), self._only
        if only is None:
            return there
        made = self._made
        if made is None or made[0] is not there:
            made = (there, tuple(tool for tool in there if tool.called in only))
            self._made = made
        return made[1]


def _same(before: McpTool | None, now: McpTool) -> McpTool:
    """The tool as it was, if nothing about it changed."""
    return before if before is not None and before.spec == now.spec else now
