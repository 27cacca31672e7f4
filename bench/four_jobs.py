"""`tenure done` with four jobs that do nothing, on a new commit each time, beside its peers."""

import sys
from itertools import count
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, main, rows
from bench.measuring import Case, command, interleaved
from bench.peers import FOUR_JOBS, peers
from bench.place import fresh, installed
from bench.repositories import change, make

FILES = 300


def measure(quick: bool) -> list[Claim]:
    """Commit, then ask: nothing can be reused, and every job does nothing."""
    place, tool = fresh("four-jobs"), installed()
    top, beside = make(place / "repository", FILES), make(place / "peers", FILES, FOUR_JOBS)
    others, missing = peers(beside)
    turn = count(2)
    cases = {
        "python -c pass": Case(command([tool.python, "-c", "pass"], str(top))),
        "tenure done": Case(
            command([tool.tenure, "done"], str(top)), lambda: change(top, str(next(turn)))
        ),
        **{peer.name: Case(peer.run, lambda: change(beside, str(next(turn)))) for peer in others},
    }
    taken = interleaved(cases, 8 if quick else 30, warm=2)
    mine, floor = taken["tenure done"], taken["python -c pass"]
    limits = (
        Limit("tenure done", 110, mine.best, "ms"),
        Limit("against python -c pass", 9, mine.best / floor.best, "×"),
    )
    title = f"`done` with four jobs that do nothing, {FILES} files, a new commit each time"
    return [Claim(title, limits, rows(taken, "python -c pass"), tuple(missing))]


if __name__ == "__main__":
    sys.exit(main(measure))
