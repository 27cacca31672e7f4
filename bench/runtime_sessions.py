"""Sixty-four sessions at once on one SQLite file, in one process."""

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, main
from bench.place import fresh
from bench.runtime_parts import EFFECTS, SAID, runtime

SESSIONS = 64
ENOUGH = 10_000


def measure(quick: bool) -> list[Claim]:
    """Every session has turn after turn; the best round counts, each of a second or so."""
    rounds, turns = (3, 10) if quick else (8, 20)
    rates = asyncio.run(_rates(fresh("runtime-sessions"), rounds, turns))
    best, middle = max(rates), sorted(rates)[len(rates) // 2]
    limit = Limit("time for 10,000 effects, best", 1, ENOUGH / best, "s")
    notes = (f"{best:,.0f} effects/s at best, {middle:,.0f} in the middle round",)
    return [Claim(f"{SESSIONS} sessions on one SQLite file", (limit,), (), notes)]


async def _rates(place: Path, rounds: int, turns: int) -> list[float]:
    async with runtime(place / "sessions.db") as rt:
        chats = [await rt.session(f"chat {n}", agent="clerk") for n in range(SESSIONS)]
        await _drive(chats, 2)
        rates = []
        for _ in range(rounds):
            begin = time.perf_counter()
            await _drive(chats, turns)
            rates.append(SESSIONS * turns * EFFECTS / (time.perf_counter() - begin))
        return rates


async def _drive(chats: list[Any], turns: int) -> None:
    async def talk(chat: Any) -> None:
        for _ in range(turns):
            assert (await chat.turn(SAID)).completed

    await asyncio.gather(*(talk(chat) for chat in chats))


if __name__ == "__main__":
    sys.exit(main(measure))
