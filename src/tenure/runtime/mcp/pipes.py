"""A server as a child process: one message a line, of bounded length, and an end that comes.

The SDK's own transport reads a line of any length and hands standard error to a file. So this one
frames messages itself; what they mean is the SDK's affair.
"""

import asyncio
import os
import re
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, RequestId, jsonrpc_message_adapter

from tenure.runtime.mcp.lost import TOO_LARGE
from tenure.runtime.mcp.server import StdioServer

#: Seconds for a server to end by itself once its input ended; then after SIGTERM.
GRACE = 2.0
#: Seconds for a server to read what was written to it. One that does not will not answer either.
_STUCK = 30.0
#: Seconds in which a server that said its last is seen to end, so that its code can be told.
_LAST_WORDS = 0.2
#: Bytes that are kept of either end of a message that is too large.
_ENDS = 256
#: Bytes of one line of standard error that are passed on at a time.
_LINE = 8 * 1024

#: A request's number at either end of an answer; servers write it first or last.
_FIRST = re.compile(rb'^\s*\{(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,')
_LAST = re.compile(rb',\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$')

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def child(
    server: StdioServer, said: Callable[[str], None], ended: Callable[[str], None]
) -> AsyncIterator[Streams]:
    """Start a server and connect its streams; whatever happens, none of its group is left after.

    `said` gets each line of its standard error, `ended` why it will say nothing more.

    Raises: OSError, ValueError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        *server.command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=get_default_environment() | dict(server.env),
        cwd=server.cwd,
        limit=server.message_bytes,
        start_new_session=True,
    )
    pipes = _Pipes(process, server, said, ended)
    tasks = [asyncio.ensure_future(part) for part in (pipes.read(), pipes.write(), pipes.listen())]
    try:
        yield pipes.streams
    finally:
        await _to_the_end(asyncio.ensure_future(pipes.end(tasks)))


async def _to_the_end(ending: "asyncio.Future[None]") -> None:
    """Let it end, which it does in bounded time; a cancellation is raised after that."""
    cancelled: asyncio.CancelledError | None = None
    while not ending.done():
        try:
            await asyncio.wait((ending,))
        except asyncio.CancelledError as error:
            cancelled = error
    ending.result()
    if cancelled is not None:
        raise cancelled


class _Pipes:
    """The three pipes of one child."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        server: StdioServer,
        said: Callable[[str], None],
        ended: Callable[[str], None],
    ) -> None:
        self._process = process
        self._server = server
        self._said = said
        self._ended = ended
        self._arrived, read = anyio.create_memory_object_stream[Incoming](0)
        write, self._to_send = anyio.create_memory_object_stream[SessionMessage](0)
        self.streams: Streams = (read, write)

    async def read(self) -> None:
        """Hand over what the server says until it says no more."""
        out = self._process.stdout
        assert out is not None, "its output is a pipe"
        try:
            async with self._arrived:
                while (message := await self._next(out)) is not None:
                    await self._arrived.send(message)
                over = await self._over(_LAST_WORDS)
                code = f"it ended with code {self._process.returncode}"
                self._ended(code if over else "it closed its output")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # nobody listens any more
        while await out.read(65536):
            pass  # it may be writing still, and would not end before that is read

    async def _next(self, out: asyncio.StreamReader) -> Incoming | None:
        try:
            line = await out.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError as overrun:
            return await self._too_long(out, overrun)
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError as error:
            shown = line[:200].decode(errors="replace").rstrip()
            self._said(f"(no message of the protocol, on its standard output) {shown}")
            return error

    async def _too_long(
        self, out: asyncio.StreamReader, overrun: asyncio.LimitOverrunError
    ) -> Incoming | None:
        """The rest of a line is read and dropped; whoever waits for it is told, or all are."""
        size, most = 0, self._server.message_bytes
        begin, end = b"", b""
        while not end.endswith(b"\n"):
            part = await out.readexactly(max(overrun.consumed, 1))
            try:
                part += await out.readuntil(b"\n")
            except asyncio.LimitOverrunError as more:
                overrun = more
            except asyncio.IncompleteReadError:
                return None
            begin, end, size = begin or part[:_ENDS], (end + part)[-_ENDS:], size + len(part)
        why = f"it sent a message of {size} bytes, {most} are read at once (its message_bytes)"
        self._said(f"({why})")
        request = _FIRST.search(begin) or _LAST.search(end)
        if request is None:
            self._ended(why)
            return None
        return _failed(int(request[1]), why)

    async def write(self) -> None:
        """Write what is to be sent, as fast as the server reads it."""
        into = self._process.stdin
        assert into is not None, "its input is a pipe"
        try:
            async with self._to_send:
                async for message in self._to_send:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    into.write(text.encode() + b"\n")
                    async with asyncio.timeout(_STUCK):
                        await into.drain()
        except TimeoutError:
            self._ended(f"it read nothing for {_STUCK:g} s")
            await self._arrived.aclose()
        except OSError as error:
            self._ended(f"it closed its input ({error})")
            await self._arrived.aclose()

    async def listen(self) -> None:
        """Pass on what it writes to its standard error."""
        err = self._process.stderr
        assert err is not None, "its standard error is a pipe"
        rest = b""
        while part := await err.read(_LINE):
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                self._said(line.decode(errors="replace").rstrip("\r"))
            if len(rest) >= _LINE:
                self._said(rest.decode(errors="replace"))
                rest = b""
        if rest:
            self._said(rest.decode(errors="replace"))

    async def end(self, tasks: "Sequence[asyncio.Future[None]]") -> None:
        """End its input, wait, and end whatever is left of its process group."""
        for stream in self.streams:
            await stream.aclose()
        reading, writing, listening = tasks
        await asyncio.wait((writing,), timeout=0.5)
        if self._process.stdin is not None:
            self._process.stdin.close()
        if not await self._over(GRACE):
            self._signal(signal.SIGTERM)
            await self._over(GRACE)
        self._signal(signal.SIGKILL)  # whoever is left of its group
        await self._over(GRACE)
        await asyncio.wait((reading, listening), timeout=0.5)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await self._arrived.aclose()
        await self._to_send.aclose()
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()  # somebody outside of the group may hold an end of a pipe
        for task in tasks:
            if not task.cancelled() and (error := task.exception()) is not None:
                self._said(f"(its pipes: {error!r})")

    async def _over(self, seconds: float) -> bool:
        """Whether the process is gone by then. Not `wait`, which waits for its pipes as well."""
        deadline = asyncio.get_running_loop().time() + seconds
        while self._process.returncode is None:
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(0.01)
        return True

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)  # it leads a group of its own
        except (ProcessLookupError, PermissionError):
            pass


def _failed(request: RequestId, why: str) -> SessionMessage:
    return SessionMessage(
        JSONRPCError(jsonrpc="2.0", id=request, error=ErrorData(code=TOO_LARGE, message=why))
    )
