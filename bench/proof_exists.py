"""`tenure done` where the Proof exists: 300 files, beside tools that have nothing to do."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, main, rows
from bench.measuring import Case, command, interleaved
from bench.peers import NOTHING_TO_DO, peers
from bench.place import fresh, installed
from bench.repositories import make

FILES = 300


def measure(quick: bool) -> list[Claim]:
    """Ask again and again where the answer is known."""
    place, tool = fresh("proof-exists"), installed()
    top = str(make(place / "repository", FILES))
    others, missing = peers(make(place / "peers", FILES, NOTHING_TO_DO))
    done = command([tool.tenure, "done"], top)
    done()
    cases = {
        "python -c pass": Case(command([tool.python, "-c", "pass"], top)),
        "git status": Case(command(["git", "status", "--porcelain"], top)),
        "tenure done": Case(done),
        **{peer.name: Case(peer.run) for peer in others},
    }
    taken = interleaved(cases, 8 if quick else 30, warm=2)
    mine, floor = taken["tenure done"], taken["python -c pass"]
    limits = (
        Limit("tenure done", 40, mine.best, "ms"),
        Limit("against python -c pass", 4, mine.best / floor.best, "×"),
    )
    title = f"`done` when the Proof exists, {FILES} files"
    return [Claim(title, limits, rows(taken, "python -c pass"), tuple(missing))]


if __name__ == "__main__":
    sys.exit(main(measure))
