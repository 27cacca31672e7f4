"""Auditing a store: whether what is recorded could have come about under the laws.

It reads the tables themselves, so that a record which the gate would refuse to read, or
would read into something better than it is, is found as it stands.
"""

import json
from collections import Counter, defaultdict
from typing import Any, NamedTuple

import apsw

Row = dict[str, Any]

_JSON = {"owner", "evidence", "lease", "settled_at", "retired", "body"}


class Books(NamedTuple):
    """Everything that is recorded, in the order in which it was."""

    attempts: list[Row]
    receipts: list[Row]
    proofs: list[Row]
    runs: dict[str, Row]

    def of_run(self, run: str) -> Row:
        """The one attempt of a run."""
        (found,) = [attempt for attempt in self.attempts if attempt["run"] == run]
        return found

    def receipts_of(self, run: str) -> list[str]:
        """The requirements for which a run published receipts, in that order."""
        return [row["body"]["requirement"] for row in self.receipts if row["body"]["run"] == run]


def read_books(database: str) -> Books:
    """The tables, as one transaction sees them."""
    connection = apsw.Connection(f"file:{database}?mode=ro", flags=_READ_ONLY)
    try:
        connection.set_busy_timeout(10_000)
        connection.execute("BEGIN")
        return Books(
            attempts=_table(connection, "SELECT * FROM attempt ORDER BY sequence"),
            receipts=_table(connection, "SELECT * FROM receipt ORDER BY sequence"),
            proofs=_table(connection, "SELECT * FROM proof ORDER BY sequence"),
            runs={row["id"]: row for row in _table(connection, "SELECT * FROM run")},
        )
    finally:
        connection.close()


def check(database: str, *, quiet: bool = True) -> Books:
    """The books, if they are in order; when `quiet`, nothing may be unfinished either."""
    books = read_books(database)
    found = [
        *_sequences(books),
        *_exclusion(books),
        *_proofs(books),
        *_retirements(books),
        *_receipts(books),
        *_runs(books),
        *(_open(books) if quiet else ()),
    ]
    assert not found, "the books are not in order:\n" + "\n".join(f"  {one}" for one in found)
    return books


def _sequences(books: Books) -> list[str]:
    sequences = [row["sequence"] for row in books.attempts]
    if sequences == list(range(1, len(sequences) + 1)):
        return []
    return [f"the sequence of attempts has gaps or doubles: {sequences}"]


def _exclusion(books: Books) -> list[str]:
    bound = Counter(row["subject"] for row in books.attempts if row["outcome"] is None)
    return [f"{n} attempts hold subject {subject[:12]}" for subject, n in bound.items() if n > 1]


def _proofs(books: Books) -> list[str]:
    """A Proof if and only if an attempt at one was settled as passed, on receipts that are there."""
    found = []
    attempts = {row["id"]: row for row in books.attempts}
    receipts = {row["id"]: row["body"] for row in books.receipts}
    of = Counter(row["attempt"] for row in books.proofs)
    for row in books.attempts:
        passed = row["outcome"] == "passed" and row["settled_at"] is not None
        passed = passed and row["kind"] == "done"
        if of[row["id"]] != int(passed):
            found.append(f"attempt {row['id']} ({row['outcome']}) has {of[row['id']]} Proofs")
    for proof in (row["body"] for row in books.proofs):
        if proof["attempt"] not in attempts:
            found.append(f"Proof {proof['id']} is of no attempt")
        for item in proof["evidence"]:
            receipt = receipts.get(item["receipt"])
            if receipt is None or receipt["outcome"] != "passed":
                found.append(f"Proof {proof['id']} rests on {item['receipt']}, which did not pass")
            elif receipt["identity"] != item["identity"]:
                found.append(f"Proof {proof['id']} rests on a receipt of something else")
    return found


def _retirements(books: Books) -> list[str]:
    """Whoever was retired published nothing afterwards."""
    found = []
    first: dict[str, int] = {}
    last: dict[str, int] = defaultdict(int)
    for row in books.receipts:
        first.setdefault(row["body"]["run"], row["sequence"])
        last[row["body"]["attempt"]] = row["sequence"]
    for row in books.attempts:
        if row["retired"] is None:
            continue
        if row["outcome"] != "cancelled" or row["settled_at"] is not None:
            found.append(f"attempt {row['id']} was retired and is {row['outcome']}")
        by = row["retired"]["by"]
        # The retirer publishes only after the retirement, so its first receipt marks the moment.
        if by in first and last[row["id"]] > first[by]:
            found.append(f"attempt {row['id']} published after run {by} retired it")
    return found


def _receipts(books: Books) -> list[str]:
    found = []
    attempts = {row["id"]: row for row in books.attempts}
    told = Counter((row["body"]["attempt"], row["requirement"]) for row in books.receipts)
    for (attempt, requirement), times in told.items():
        if times > 1:
            found.append(f"attempt {attempt} published {requirement} {times} times")
        if attempt not in attempts or attempts[attempt]["joined"] is not None:
            found.append(f"a receipt of {requirement} is of an attempt that held nothing")
    return found


def _runs(books: Books) -> list[str]:
    """What an attempt says and what its run says are the same."""
    found = []
    by_id = {row["id"]: row for row in books.attempts}
    for row in books.attempts:
        run = books.runs.get(row["run"])
        report = run and run["body"].get("report")
        if run is None:
            found.append(f"attempt {row['id']} is of no recorded run")
            continue
        told = report["outcome"] if report else None
        if row["settled_at"] is not None and row["joined"] is None:
            said = {"cancelled": {"cancelled", "unproven", "broken"}}
            said["failed"] = {"failed", "unproven", "broken"}
            if told not in said.get(row["outcome"], {row["outcome"]}):
                found.append(f"attempt {row['id']} is {row['outcome']}, its run says {told}")
        if row["retired"] is not None and told not in ("cancelled", "unproven", None):
            found.append(f"attempt {row['id']} was retired, its run says {told}")
        if row["joined"] is not None:
            other = by_id.get(row["joined"])
            if other is None or other["subject"] != row["subject"]:
                found.append(f"attempt {row['id']} joined one of another subject, or none")
    for name, row in books.runs.items():
        if bool(row["ended"]) != (row["body"].get("report") is not None):
            found.append(f"run {name} is ended={row['ended']} and has another report")
    return found


def _open(books: Books) -> list[str]:
    attempts = [row["id"] for row in books.attempts if row["outcome"] is None]
    runs = [name for name, row in books.runs.items() if not row["ended"]]
    return [f"attempt {one} is unfinished" for one in attempts] + [
        f"run {one} has no end" for one in runs
    ]


def _table(connection: apsw.Connection, query: str) -> list[Row]:
    cursor = connection.execute(query)
    names: list[str] = []
    rows = []
    for values in cursor:
        names = names or [column[0] for column in cursor.get_description()]
        row = dict(zip(names, values, strict=True))
        rows.append(
            {
                name: json.loads(value) if name in _JSON and isinstance(value, str) else value
                for name, value in row.items()
            }
        )
    return rows


_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
