"""The connection to one server: opened, watched and closed by one task, used by any number of calls."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

import anyio
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolResult,
    LoggingMessageNotificationParams,
    Tool,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tenure.runtime.mcp.lost import FORGOTTEN, LOST, NOT_SENT, Closed, Lost, NotSent
from tenure.runtime.mcp.pipes import child
from tenure.runtime.mcp.server import HttpServer, McpServer, StdioServer
from tenure.runtime.mcp.web import address
from tenure.runtime.model.json import Json

#: What a list of tools may come in, and hold.
_PAGES, _TOOLS = 100, 1000
#: Seconds that closing may take beyond what a child process is given to end.
CLOSING = 10.0
#: What a server may tell by it: its key for outside effects, the same at every try.
EFFECT_KEY = "tenure/effect_key"

_GONE = (CONNECTION_CLOSED, PARSE_ERROR, REQUEST_TIMEOUT, LOST)


class Link:
    """One server. Everything here runs on the pool's loop.

    `said` gets what the server writes to its standard error or logs, `listed` its tools whenever
    they are listed anew.
    """

    def __init__(
        self, server: McpServer, said: Callable[[str], None], listed: Callable[[list[Tool]], None]
    ) -> None:
        self.server = server
        self.opened = 0  #: how often a connection was made
        self._said = said
        self._listed = listed
        self._places = asyncio.Semaphore(server.concurrency)
        self._client: Client | None = None
        self._why = "it was not started yet"  #: there is no connection
        self._failures = 0  #: in a row
        self._tries = 0
        self._moved = asyncio.Condition()  #: a connection was made, or could not be
        self._wanted = asyncio.Event()
        self._news = asyncio.Event()  #: something for the owning task to look at
        self._stale = False
        self._lost = False
        self._closing = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Connect, if it is not; one try. Raises: NotSent."""
        async with self._moved:
            tried = self._tries
            if self._client is None:
                self._want()
            await self._moved.wait_for(
                lambda: self._client or self._tries > tried or self._closing.is_set()
            )
        if self._client is None:
            raise NotSent(why=self._why)

    async def call(
        self, name: str, arguments: dict[str, Json], key: str, began: Callable[[], None]
    ) -> CallToolResult:
        """The server's answer; `began` is called before anything is sent. A cancellation is told
        to the server.

        Raises: NotSent, Lost, Closed; MCPError: the server refused.
        """
        loop = asyncio.get_running_loop()
        async with self._places:
            tries, until = 0, loop.time() + self.server.connect_timeout
            while True:
                client = await self._connected()
                began()
                tries += 1
                try:
                    return await client.call_tool(
                        name,
                        arguments,
                        read_timeout_seconds=self.server.timeout + 1.0,
                        meta=cast(Any, {EFFECT_KEY: key}),
                    )
                except (MCPError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
                    meant = self._meant(client, error)
                    pause = self.server.pause(tries)
                    if not isinstance(meant, NotSent) or loop.time() + pause > until:
                        raise meant from error
                await asyncio.sleep(pause)

    def _meant(self, client: Client, error: Exception) -> Exception:
        """What an error says of the call. A server's own refusal is itself."""
        if self._closing.is_set():
            return Closed(why="the connections were closed meanwhile")
        if isinstance(error, MCPError):
            if error.code == FORGOTTEN:
                self._lose(client, error.message)
            if error.code in (NOT_SENT, FORGOTTEN):
                return NotSent(why=error.message)
            if error.code not in _GONE:
                return error
            if error.code != CONNECTION_CLOSED or error.message != "Connection closed":
                return Lost(why=error.message)
        self._lose(client, str(error))
        return Lost(why=self._why)

    async def _connected(self) -> Client:
        """The connection, made if there is none, for which a call waits for a while.

        Raises: NotSent, Closed.
        """
        try:
            async with asyncio.timeout(self.server.connect_timeout), self._moved:
                while self._client is None:
                    if self._closing.is_set():
                        raise Closed(why="the connections were closed")
                    self._want()
                    await self._moved.wait()
                return self._client
        except TimeoutError:
            raise NotSent(why=self._why) from None

    def _want(self) -> None:
        self._wanted.set()
        if (self._owner is None or self._owner.done()) and not self._closing.is_set():
            self._owner = asyncio.ensure_future(self._own())

    def _lose(self, client: Client, why: str) -> None:
        """This connection is of no use any more."""
        if self._client is client:
            self._end(why)

    def _end(self, why: str) -> None:
        if not self._lost:
            self._lost, self._why = True, why
        self._client = None
        self._news.set()

    # the task that owns it

    async def _own(self) -> None:
        """Connect whenever that is wanted, at a pace; until it is closed."""
        while not self._closing.is_set():
            await self._wanted.wait()
            await self._rest()
            if self._closing.is_set():
                return
            self._wanted.clear()
            await self._once()

    async def _rest(self) -> None:
        """Wait before another start, unless it is closed."""
        pause = self.server.pause(self._failures)
        if pause:
            self._news.clear()
            try:
                async with asyncio.timeout(pause):
                    while not self._closing.is_set():
                        await self._news.wait()
                        self._news.clear()
            except TimeoutError:
                pass

    async def _once(self) -> None:
        """One connection, from its start to its end."""
        loop = asyncio.get_running_loop()
        self._lost, self._stale = False, False
        began = loop.time()
        up = False
        try:
            async with (
                asyncio.timeout(self.server.connect_timeout) as bound,
                self._made() as client,
            ):
                await self._list(client)
                bound.reschedule(None)
                up = True
                await self._up(client)
                await self._watch(client)
        except TimeoutError:
            self._end(f"it did not answer within {self.server.connect_timeout:g} s")
        except Exception as error:
            self._end(_reason(error))
        finally:
            self._client = None
            lasted = up and loop.time() - began >= self.server.restart_longest
            self._failures = 0 if lasted else self._failures + 1
            self._tries += 1
            async with self._moved:
                self._moved.notify_all()

    @asynccontextmanager
    async def _made(self) -> AsyncIterator[Client]:
        """A client of the server, and what it needs beneath it."""
        async with Client(
            self._transport(),
            read_timeout_seconds=self.server.connect_timeout,
            message_handler=self._heard,
            logging_callback=self._logged,
            cache=None,
        ) as client:
            yield client

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        server = self.server
        if isinstance(server, StdioServer):
            return child(server, self._said, self._end)
        assert isinstance(server, HttpServer), "there are two kinds"
        return address(server)

    async def _up(self, client: Client) -> None:
        self.opened += 1
        async with self._moved:
            self._client = client
            self._moved.notify_all()

    async def _watch(self, client: Client) -> None:
        """Have its tools listed anew when they change, until the connection is lost or closed."""
        listening = asyncio.ensure_future(self._listen(client))
        try:
            while not self._lost and not self._closing.is_set():
                await self._news.wait()
                self._news.clear()
                if self._stale and not self._lost:
                    self._stale = False
                    await self._list_again(client)
        finally:
            listening.cancel()
            await asyncio.wait((listening,))

    async def _listen(self, client: Client) -> None:
        """Hear of changes, of servers of the newer protocol. What was missed is looked up."""
        tools = client.server_capabilities.tools
        modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not modern or tools is None or not tools.list_changed:
            return
        failures = 0
        while True:
            try:
                async with client.listen(tools_list_changed=True) as events:
                    failures = 0
                    async for _ in events:
                        self._change()
            except Exception as error:
                if self._lost:
                    return
                self._said(f"(changes of its tools are not heard of: {_reason(error)})")
                if isinstance(error, MCPError) and error.code not in _GONE:
                    return  # it refuses, and would again
            failures += 1
            await asyncio.sleep(self.server.pause(failures))
            self._change()

    async def _list_again(self, client: Client) -> None:
        try:
            await self._list(client)
        except Exception as error:
            self._said(f"(its tools were not listed anew: {_reason(error)})")

    async def _list(self, client: Client) -> None:
        found: list[Tool] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        if cursor or len(found) > _TOOLS:
            raise NotSent(why=f"it lists more than {_TOOLS} tools or {_PAGES} pages")
        self._listed(found)

    async def _heard(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._change()

    def _change(self) -> None:
        self._stale = True
        self._news.set()

    async def _logged(self, params: LoggingMessageNotificationParams) -> None:
        self._said(f"({params.level}) {params.data}")

    # the end

    async def close(self) -> None:
        """End the connection; calls that are under way end with it. It takes bounded time."""
        self._closing.set()
        self._news.set()
        self._wanted.set()
        async with self._moved:
            self._moved.notify_all()
        if self._owner is None:
            return
        await asyncio.wait((self._owner,), timeout=CLOSING)
        if not self._owner.done():
            self._owner.cancel()
            await asyncio.wait((self._owner,), timeout=CLOSING)


def _reason(error: BaseException) -> str:
    """What went wrong, where several things did: the first."""
    nested: Sequence[BaseException] | None = getattr(error, "exceptions", None)
    if nested:
        return _reason(nested[0])
    return (
        str(error) if isinstance(error, (NotSent, MCPError)) else f"{type(error).__name__}: {error}"
    )
