"""Many real processes on one file: nobody is locked out, nothing is lost, nothing twice."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tenure.kernel.stores.sqlite.store import SqliteDatabase

WORKER = Path(__file__).with_name("worker.py")


def at_once(path: Path, processes: int, cycles: int) -> list[dict[str, int]]:
    """So many processes start together on one store; what each did."""
    workers = [
        subprocess.Popen(
            [sys.executable, str(WORKER), str(path), str(cycles)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    answers = [worker.communicate() for worker in workers]
    assert [errors for _, errors in answers if errors] == []
    return [json.loads(output) for output, _ in answers]


def test_of_32_processes_that_meet_at_a_missing_store_each_gets_the_same_one(tmp_path):
    for attempt in range(2):
        path = tmp_path / f"tenure-{attempt}.db"
        done = at_once(path, processes=32, cycles=1)
        assert sum(one["doubts"] for one in done) == 0
        assert sum(one["published"] + one["joined"] for one in done) == 32
        assert stored(path)[0] == list(range(1, 33))
    assert sorted(os.listdir(tmp_path)) == ["tenure-0.db", "tenure-1.db"]


def stored(path: Path) -> tuple[list[int], Counter[str], int]:
    """Sequences in order, attempts by outcome, and the number everybody added to."""
    database = SqliteDatabase.open(path, busy_seconds=1)
    with database.read() as tx:
        connection = tx.connection
        rows = connection.execute("SELECT sequence, outcome FROM attempt ORDER BY sequence").get
        counter = tx.claims.read("counter")
    database.close()
    assert counter is not None
    return [row[0] for row in rows], Counter(row[1] for row in rows), counter.revision


@pytest.mark.slow
def test_of_16_processes_with_200_cycles_each_nothing_is_lost_and_nobody_is_locked_out(tmp_path):
    path = tmp_path / "tenure.db"
    done = at_once(path, processes=16, cycles=200)
    assert sum(one["doubts"] for one in done) == 0
    published = sum(one["published"] for one in done)
    joined = sum(one["joined"] for one in done)
    assert published + joined == 3200
    sequences, outcomes, counter = stored(path)
    assert sequences == list(range(1, 3201))
    assert outcomes == {"passed": published, "joined": joined}
    assert counter == published
