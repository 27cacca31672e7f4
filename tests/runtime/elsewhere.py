"""Another process that drives one turn, whose tools return once a line comes in."""

import asyncio
import sys

from tests.runtime.scene import runtime
from tests.runtime.test_observing_ends import Steps


async def main(store: str) -> None:
    steps = Steps(0)
    async with runtime(store, steps.agent()) as rt:
        driving = asyncio.ensure_future(rt.drive_once())
        await asyncio.to_thread(sys.stdin.readline)
        for door in steps.doors:
            door.open()
        await driving


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
