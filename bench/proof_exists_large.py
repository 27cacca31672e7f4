"""`tenure done` where the Proof exists: 10,000 files."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, main, rows
from bench.measuring import Case, command, interleaved
from bench.place import fresh, installed
from bench.repositories import make

FILES = 10_000


def measure(quick: bool) -> list[Claim]:
    """The same question in a repository in which git itself takes a while."""
    place, tool = fresh("proof-exists-large"), installed()
    top = str(make(place / "repository", FILES))
    done = command([tool.tenure, "done"], top)
    done()
    cases = {
        "python -c pass": Case(command([tool.python, "-c", "pass"], top)),
        "git status": Case(command(["git", "status", "--porcelain"], top)),
        "tenure done": Case(done),
    }
    taken = interleaved(cases, 8 if quick else 30, warm=2)
    mine, floor = taken["tenure done"], taken["python -c pass"]
    limit = Limit("against python -c pass", 6, mine.best / floor.best, "×")
    title = f"`done` when the Proof exists, {FILES:,} files"
    return [Claim(title, (limit,), rows(taken, "python -c pass"))]


if __name__ == "__main__":
    sys.exit(main(measure))
