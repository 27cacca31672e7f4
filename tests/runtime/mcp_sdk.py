"""A server made with the official SDK, over standard input and output or over HTTP.

Everything that happens is a line in the file it is given. Run as a process of its own.
"""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations

BOOK = Path(sys.argv[1])


def note(line: str) -> None:
    """Write down what happened."""
    with BOOK.open("a", encoding="utf-8") as book:
        book.write(line + "\n")


@asynccontextmanager
async def alive(_: MCPServer[Any]) -> AsyncIterator[None]:
    """From its start to its end."""
    note(f"start {os.getpid()}")
    yield
    note("end")


server: MCPServer[Any] = MCPServer("shop", lifespan=alive)


def told(word: str) -> bool:
    """Whether there is a file that says so."""
    return Path(f"{BOOK}.{word}").exists()


def fatal() -> None:
    """Die here, once, if a file says so."""
    if told("die"):
        Path(f"{BOOK}.die").unlink()
        os.kill(os.getpid(), signal.SIGKILL)


@server.tool()
async def refund(order: int, ctx: Context[Any, Any]) -> str:
    """Give the money back."""
    meta = ctx.request_context.meta or {}
    note(f"refund {order} {meta.get('tenure/effect_key')}")
    fatal()
    return f"order {order} refunded"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def look(order: int) -> dict[str, int]:
    """Look an order up."""
    note(f"look {order}")
    fatal()
    return {"order": order, "items": 3}


@server.tool()
async def slow(order: int) -> str:
    """Take as long as it takes until a file is there."""
    note(f"slow {order}")
    try:
        while not told("go"):  # noqa: ASYNC110 - another process makes the file
            await anyio.sleep(0.01)
    except anyio.get_cancelled_exc_class():
        note("slow was cancelled")
        raise
    return "done"


@server.tool()
async def grow(ctx: Context[Any, Any]) -> str:
    """Have one more tool."""

    async def more() -> str:
        """One more."""
        return "more"

    server.add_tool(more)
    await ctx.notify_tools_changed()
    return "grown"


def main() -> None:
    """Serve as asked: on a port if one is given."""
    if len(sys.argv) > 2:
        how: dict[str, Any] = {"json_response": "--json" in sys.argv}
        server.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[2]), **how)
    else:
        server.run()


if __name__ == "__main__":
    main()
