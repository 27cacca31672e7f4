"""One bind-and-settle cycle of the gate's store, beside two raw commits on the same disk."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import apsw

from bench.claims import Claim, Limit, main, rows
from bench.holding import Holder
from bench.measuring import Case, interleaved
from bench.place import fresh


def measure(quick: bool) -> list[Claim]:
    """A cycle is two transactions, so it cannot take less than two commits."""
    place = fresh("bind-and-settle")
    holder, raw = Holder(place), _Raw(place / "raw.db")
    try:
        cases = {"two raw commits": Case(raw.two_commits), "bind and settle": Case(_cycle(holder))}
        taken = interleaved(cases, 100 if quick else 400, warm=10)
    finally:
        holder.close()
        raw.close()
    mine, floor = taken["bind and settle"], taken["two raw commits"]
    limit = Limit("against two raw commits, medians", 3, mine.median / floor.median, "×")
    return [Claim("One bind-and-settle cycle", (limit,), rows(taken, "two raw commits"))]


def _cycle(holder: Holder):
    def act() -> None:
        holder.settle(holder.bind())

    return act


class _Raw:
    """A store that promises nothing but durability: one table, one insertion a commit."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "CREATE TABLE raw (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
        ):
            list(self._connection.execute(statement))

    def two_commits(self) -> None:
        """Two transactions with about as many bytes as a cycle writes."""
        for size in (1200, 3000):
            list(self._connection.execute("BEGIN IMMEDIATE"))
            list(self._connection.execute("INSERT INTO raw (body) VALUES (?)", ("x" * size,)))
            list(self._connection.execute("COMMIT"))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


if __name__ == "__main__":
    sys.exit(main(measure))
