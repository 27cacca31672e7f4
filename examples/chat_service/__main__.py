"""Start one worker: `python -m examples.chat_service`, from the root of the repository."""

import argparse
import asyncio
import os
from pathlib import Path

from examples.chat_service.desk import RELEASES
from examples.chat_service.rehearsed import rehearsed
from examples.chat_service.worker import serve
from tenure import LeaseTimings, Model


def model() -> Model:
    """The model that CHAT_MODEL names as Pydantic AI does, or the one that needs no key."""
    name = os.environ.get("CHAT_MODEL")
    if not name:
        return rehearsed()
    from tenure.runtime.providers.pydantic_ai import PydanticAiProvider

    return Model(PydanticAiProvider(), name)


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(prog="python -m examples.chat_service", description=__doc__)
    parser.add_argument("--store", type=Path, default=Path("chat.db"), metavar="FILE")
    parser.add_argument("--port", type=int, default=0, help="0 is any that is free")
    parser.add_argument("--release", type=int, default=1, choices=sorted(RELEASES))
    given = parser.parse_args()
    timings = LeaseTimings(ttl=30, renew_interval=10)
    serving = serve(given.store, given.port, release=given.release, model=model(), timings=timings)
    asyncio.run(serving)


if __name__ == "__main__":
    main()
