"""A durable turn with three effects on SQLite, beside four raw commits and beside its peers."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, main, rows
from bench.measuring import Case, Samples, interleaved
from bench.place import fresh
from bench.runtime_parts import PAYLOAD, SAID, RawCommits, runtime, stepper
from bench.runtime_peers import taken_by_peers

#: Admission and first intent; outcome and next intent; twice; and the commit of the turn.
COMMITS = 4


def measure(quick: bool) -> list[Claim]:
    """A turn that keeps its promises is four commits, so it cannot take less than four."""
    place = fresh("runtime-turn")
    taken = _taken(place, 100 if quick else 400)
    peers, missing = taken_by_peers(place, 30 if quick else 100)
    mine, floor = taken["turn"], taken["four raw commits"]
    limit = Limit("against four raw commits, medians", 2, mine.median / floor.median, "×")
    found = rows({**taken, **peers}, "four raw commits")
    return [Claim("A durable turn: model, tool, model", (limit,), found, tuple(missing))]


def _taken(place: Path, rounds: int) -> dict[str, Samples]:
    raw = RawCommits(place / "raw.db")
    runner, step = stepper()
    with runner:
        rt = runtime(place / "turn.db")
        chat = step(rt.session("chat", agent="clerk"))
        cases = {
            "four raw commits": Case(lambda: raw.commit(COMMITS, PAYLOAD // COMMITS)),
            "turn": Case(lambda: step(chat.turn(SAID))),
        }
        try:
            return interleaved(cases, rounds, warm=20)
        finally:
            step(rt.aclose())
            raw.close()


if __name__ == "__main__":
    sys.exit(main(measure))
