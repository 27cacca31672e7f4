"""A worker of the chat service whose model says no more words than a file allows.

python -m tests.examples.worker STORE PORT RELEASE TTL
"""

import asyncio
import sys
from collections import Counter
from pathlib import Path

from examples.chat_service.rehearsed import Rehearsed
from examples.chat_service.worker import serve
from tenure import LeaseTimings, Model
from tenure.runtime.machine.answers import Answer
from tenure.runtime.ports.provider import ModelRequest, Say

STEP_SECONDS = 0.005


class Held(Rehearsed):
    """Notes every call, and holds each answer after as many words as STORE.words says."""

    def __init__(self, store: Path) -> None:
        super().__init__(pace=0)
        self._calls = store.with_suffix(".calls")
        self._words = store.with_suffix(".words")
        self._said: Counter[str] = Counter()

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """The line for this step, noted first."""
        with self._calls.open("a", encoding="utf-8") as file:
            file.write(f"{request.session} {request.step}\n")
        return await super().answer(request, say)

    async def breathe(self, request: ModelRequest) -> None:
        """Wait until one more word is allowed."""
        self._said[request.effect_key] += 1
        while self._said[request.effect_key] > self._allowed():  # noqa: ASYNC110 - a test writes the file
            await asyncio.sleep(STEP_SECONDS)

    def _allowed(self) -> float:
        try:
            return float(self._words.read_text("utf-8"))
        except FileNotFoundError:
            return float("inf")


def main(store: str, port: str, release: str, ttl: str) -> None:
    """Serve until it is told to leave."""
    model = Model(Held(Path(store)), "held")
    timings = LeaseTimings(ttl=float(ttl), renew_interval=float(ttl) / 3)
    serving = serve(Path(store), int(port), release=int(release), model=model, timings=timings)
    asyncio.run(serving)


if __name__ == "__main__":
    main(*sys.argv[1:])
