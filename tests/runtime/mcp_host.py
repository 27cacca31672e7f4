"""A host whose agent calls two tools of a server, one of which does not return. It is killed then."""

import asyncio
import sys
from pathlib import Path

from tenure import LeaseTimings
from tenure.testing.provider import calls
from tests.runtime.mcp_scene import Book, agent, opened, plain
from tests.runtime.scene import runtime

#: What it asks for: the first is recorded, the second is in doubt when it is killed.
ASKED = calls(("plain_echo", {"text": "hello"}), ("plain_hang", {}))
LEASE = LeaseTimings(ttl=0.9, renew_interval=0.3)


async def main(store: str, book: Book) -> None:
    """Drive the turn for ever."""
    async with (
        opened(plain(book)) as pool,
        runtime(store, agent(pool, ASKED), lease_timings=LEASE) as rt,
    ):
        chat = await rt.session("a", agent="support")
        await chat.turn("go", key="k")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Book(Path(sys.argv[2]))))
