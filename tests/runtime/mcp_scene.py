"""Servers of the Model Context Protocol as tests start them, and agents that call their tools."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from tenure import Agent
from tenure.faces.mcp_tools import HttpServer, McpPool, StdioServer
from tenure.runtime.machine.answers import Answer, ToolResult
from tenure.runtime.tools.context import ToolContext
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.runtime.scene import support
from tests.waiting import until

HERE = Path(__file__).resolve().parent
PLAIN, SDK = HERE / "mcp_plain.py", HERE / "mcp_sdk.py"

#: Anything that is limited is limited to this, in seconds; only a test that is failing waits for it.
LONG = 60.0


class Book:
    """What happened at a server, line by line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def lines(self, word: str = "") -> list[str]:
        """The lines that begin with a word."""
        return [line for line in self.path.read_text().splitlines() if line.startswith(word)]

    def pids(self) -> list[int]:
        """Of every process that a server ever was."""
        return [int(line.split()[1]) for line in self.lines("start ")]

    def count(self, word: str) -> int:
        """How many lines begin with it."""
        return len(self.lines(word))

    def break_off(self) -> None:
        """Have every server die as it starts, for it cannot write."""
        self.path.rename(f"{self.path}.away")
        self.path.mkdir()

    def order(self, word: str) -> None:
        """Tell a server by a file."""
        Path(f"{self.path}.{word}").touch()


class Heard(list[tuple[str, str]]):
    """What servers wrote to their standard error."""

    def __call__(self, server: str, line: str) -> None:
        self.append((server, line))


def plain(book: Book, *more: str, **limits: Any) -> StdioServer:
    """The server in plain Python."""
    return _child(limits.pop("name", "plain"), PLAIN, book, *more, **limits)


def shop(book: Book, **limits: Any) -> StdioServer:
    """The server made with the SDK."""
    return _child("shop", SDK, book, **limits)


def _child(name: str, script: Path, book: Book, *more: str, **limits: Any) -> StdioServer:
    given = {"timeout": LONG, "connect_timeout": LONG, "restart_first": 0.01, **limits}
    # The home is how a child that outlives its test is found.
    env = {"HOME": os.environ["HOME"]}
    command = [sys.executable, str(script), str(book.path), *more]
    return StdioServer(name=name, command=command, env=env, **given)


@contextmanager
def web(book: Book, *more: str, port: int = 0) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """The server made with the SDK, over HTTP on loopback."""
    port = port or free_port()
    command = [sys.executable, str(SDK), str(book.path), str(port), *more]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        until(lambda: _listens(port), "a server on its port")
        yield port, process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def at(port: int, **limits: Any) -> HttpServer:
    """The server on a port."""
    given = {"timeout": LONG, "connect_timeout": LONG, "restart_first": 0.01, **limits}
    return HttpServer(name="shop", url=f"http://127.0.0.1:{port}/mcp", **given)


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def opened(*servers: Any, said: Heard | None = None) -> AsyncIterator[McpPool]:
    """A pool that is open, and closed after."""
    pool = McpPool(servers, said=Heard() if said is None else said)
    try:
        await pool.open()
        yield pool
    finally:
        await pool.release()


def agent(pool: McpPool, *script: Answer | Callable[..., Answer], server: str = "plain") -> Agent:
    """An agent with the tools of one server, and a script for its model."""
    return support(ScriptedProvider(*script), pool.tools(server))


def calling(name: str, **arguments: Any) -> tuple[Answer, Callable[..., Answer]]:
    """A script: call one tool, then say what it returned."""
    return calls((name, arguments)), lambda request: text(results(request)[0])


async def called(pool: McpPool, name: str, server: str = "plain", **arguments: Any) -> ToolResult:
    """What one call returns, outside of any turn."""
    tool = next(tool for tool in pool.tools(server).tools() if tool.name == name)
    context = ToolContext(session="s", turn="t", call="c", effect_key="k1", deps=None)
    return await tool.call(arguments, context)


def gone(pid: int) -> bool:
    """Whether a process is over."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"
