"""Servers of the Model Context Protocol, as a host names them. Nothing is connected by these."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tenure.runtime.errors import WiringError
from tenure.runtime.model.program import InDoubt
from tenure.runtime.tools.tool import IN_DOUBT, OUTPUT_BYTES

#: So that what a tool is called tells whose it is, and is a name that every model takes.
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]{0,31}")
_PREFIX = re.compile(r"([a-zA-Z_][a-zA-Z0-9_-]{0,31})?")


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """One server, and how much of it is borne with. Use `StdioServer` or `HttpServer`.

    Models call its tools by `prefix`, which is the name and an underscore unless it is given, and
    the tool's own name. `in_doubt` is for calls whose outcome is unknown, by the tool's own name
    or for all of them; without it, what the server calls read-only or idempotent is run again and
    of the rest the model is told.

    Seconds: `timeout` for a call, its wait for a place included; `connect_timeout` for a
    connection, and for a call that needs one; a server that was lost is started again after
    `restart_first`, twice that, and so on up to `restart_longest`. At most `concurrency` calls at
    a time. `output_bytes` of text are told to the model, `message_bytes` are read at once.

    Raises: WiringError: a name or a number that cannot work.
    """

    name: str
    prefix: str | None = None
    in_doubt: InDoubt | Mapping[str, InDoubt] | None = None
    timeout: float = 60.0
    connect_timeout: float = 30.0
    concurrency: int = 16
    output_bytes: int = OUTPUT_BYTES
    message_bytes: int = 4 * 1024 * 1024
    restart_first: float = 0.5
    restart_longest: float = 30.0

    def __post_init__(self) -> None:
        prefix = self.called
        if not _NAME.fullmatch(self.name) or not _PREFIX.fullmatch(prefix):
            raise WiringError(
                what=f"an MCP server is called {self.name!r}, with the prefix {prefix!r}",
                next="give it a short name of letters, digits, _ and -",
            )
        numbers = (self.timeout, self.connect_timeout, self.restart_first, self.restart_longest)
        sizes = (self.concurrency, self.output_bytes, self.message_bytes)
        if not all(number > 0 for number in numbers) or min(sizes) < 1:
            raise WiringError(
                what=f"a limit of MCP server {self.name!r} allows nothing",
                next="give it positive numbers",
            )
        words = (
            [self.in_doubt] if isinstance(self.in_doubt, str) else (self.in_doubt or {}).values()
        )
        if not all(word in IN_DOUBT for word in words):
            raise WiringError(
                what=f"in_doubt={self.in_doubt!r} of MCP server {self.name!r} is not supported",
                next='use "rerun", "report" or "wait"',
            )

    @property
    def called(self) -> str:
        """What the names of its tools begin with."""
        return f"{self.name}_" if self.prefix is None else self.prefix

    def pause(self, failures: int) -> float:
        """Seconds of rest before it is started once more, after so many failures in a row."""
        if failures < 1:
            return 0.0
        return float(min(self.restart_longest, self.restart_first * 2.0 ** min(failures - 1, 30)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r})"  # there are secrets in the rest


class StdioServer(McpServer, frozen=True, kw_only=True):
    """A server that is a child process, and speaks over its standard input and output.

    It gets a few harmless variables of our environment, and `env`. What it writes to its standard
    error is passed on line by line.
    """

    command: Sequence[str]
    env: Mapping[str, str] = {}
    cwd: str | Path | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.command, str) or not self.command:
            raise WiringError(
                what=f"the command of MCP server {self.name!r} is {self.command!r}",
                next="give the program and its arguments as a list",
            )


class HttpServer(McpServer, frozen=True, kw_only=True):
    """A server at an address, spoken to by streamable HTTP. `auth` is an `httpx2.Auth`."""

    url: str
    headers: Mapping[str, str] = {}
    auth: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.url.startswith(("http://", "https://")):
            raise WiringError(
                what=f"the address of MCP server {self.name!r} is {self.url!r}",
                next="give an http:// or https:// address",
            )
