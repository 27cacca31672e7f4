"""One of many processes on one store; see test_processes.py. It says what it did, as JSON."""

import json
import sys

from tenure.kernel import ledger
from tenure.kernel.attempt import BindRequest
from tenure.kernel.claim import ClaimRecord
from tenure.kernel.clock import SystemClock
from tenure.kernel.errors import Doubt
from tenure.kernel.identity import Token, mint_token, new_id, this_process
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.liveness import OwnerEvidence, Verdict
from tenure.kernel.stores.sqlite.store import SqliteDatabase, SqliteTransaction

SUBJECTS = 4


def request(number: int) -> BindRequest:
    """A new attempt at one of a few subjects."""
    return BindRequest(
        attempt=new_id(),
        run=new_id(),
        repository="repository",
        subject=f"subject {number % SUBJECTS}",
        kind="done",
        owner=this_process(),
        evidence=OwnerEvidence(
            boot="b",
            pid=1,
            pid_namespace=1,
            start_ticks=1,
            lock_path="/",
            lock_device=1,
            lock_inode=1,
        ),
        token=mint_token(),
        timings=LeaseTimings(3600.0, 1200.0),
    )


def running(_: OwnerEvidence) -> Verdict:
    """Nobody is taken for dead here."""
    return Verdict(state="running", reason="it is in this test")


def count(tx: SqliteTransaction) -> None:
    """Add one to a number that everybody adds to: its row's revision."""
    row = tx.claims.read("counter")
    revision = 0 if row is None else row.revision
    token = Token(n=1, secret="nobody's")
    following = ClaimRecord(
        work="counter", revision=revision + 1, claim="c", lane="l", generation=1, token=token
    )
    if row is None:
        tx.claims.insert(following)
    else:
        tx.claims.replace(following, expected=revision)


def cycles(database: SqliteDatabase, times: int) -> dict[str, int]:
    """Bind, publish, settle, so many times."""
    clock = SystemClock()
    done = {"published": 0, "joined": 0, "doubts": 0}
    for number in range(times):
        try:
            with database.write() as tx:
                record = ledger.bind(tx, request(number), running, clock.now())
            if not record.bound:
                done["joined"] += 1
                continue
            with database.write() as tx:
                ledger.hold(tx, record.fence)
                count(tx)
            with database.write() as tx:
                ledger.settle(tx, record.fence, "passed", clock.now())
            done["published"] += 1
        except Doubt as doubt:
            done["doubts"] += 1
            print(doubt, file=sys.stderr)
    return done


def main(path: str, times: int) -> None:
    """Wait for the word, open the store, and work."""
    print("ready", flush=True)
    sys.stdin.readline()
    database = SqliteDatabase.open(path, busy_seconds=60)
    print(json.dumps(cycles(database, times)), flush=True)
    database.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
