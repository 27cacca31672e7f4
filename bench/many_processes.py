"""Bind, publish and settle from sixteen processes on one store: nothing lost, nothing locked."""

import os
import sys
import time
import traceback
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import apsw

from bench.claims import Claim, Limit, main
from bench.holding import Holder
from bench.place import fresh

PROCESSES = 16
CYCLES = 200


def measure(quick: bool) -> list[Claim]:
    """200 cycles in all with `--quick`, else 200 in each process."""
    place = fresh("many-processes")
    Holder(place).close()
    shares = [CYCLES // PROCESSES + (n < CYCLES % PROCESSES) for n in range(PROCESSES)]
    if not quick:
        shares = [CYCLES] * PROCESSES
    begin_read, begin_write = os.pipe()
    children = [_start(place, share, begin_read, begin_write) for share in shares]
    os.close(begin_read)
    started = time.perf_counter()
    os.close(begin_write)  # all begin at once
    failed = sum(os.waitpid(pid, 0)[1] != 0 for pid in children)
    seconds = time.perf_counter() - started
    return [_judged(place, sum(shares), failed, seconds)]


def _start(place: Path, share: int, begin_read: int, begin_write: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        os.close(begin_write)
        holder = Holder(place)
        os.read(begin_read, 1)
        slowest = 0.0
        for _ in range(share):
            begin = time.perf_counter()
            bound = holder.bind()
            holder.publish(bound)
            holder.settle(bound)
            slowest = max(slowest, time.perf_counter() - begin)
        holder.close()
        (place / f"slowest-{os.getpid()}").write_text(str(slowest))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _judged(place: Path, cycles: int, failed: int, seconds: float) -> Claim:
    connection = apsw.Connection(str(place / "tenure" / "tenure.db"))
    passed = _count(connection, "SELECT count(*) FROM attempt WHERE outcome = 'passed'")
    distinct = _count(connection, "SELECT count(DISTINCT sequence) FROM attempt")
    highest = _count(connection, "SELECT max(sequence) FROM attempt")
    receipts = _count(connection, "SELECT count(*) FROM receipt")
    proofs = _count(connection, "SELECT count(*) FROM proof")
    connection.close()
    slowest = max((float(path.read_text()) for path in place.glob("slowest-*")), default=0.0)
    limits = (
        Limit("processes that met an error", 0, failed, ""),
        Limit("settlements lost", 0, cycles - passed, ""),
        Limit("receipts lost", 0, cycles - receipts, ""),
        Limit("Proofs lost", 0, cycles - proofs, ""),
        Limit("places in the sequence missing or taken twice", 0, highest - distinct, ""),
    )
    notes = (f"{cycles / seconds:.0f} cycles/s; the slowest took {slowest * 1000:.0f} ms",)
    title = f"{cycles} bind-publish-settle cycles from {PROCESSES} processes on one store"
    return Claim(title, limits, notes=notes)


def _count(connection: apsw.Connection, query: str) -> int:
    ((number,),) = connection.execute(query)
    assert isinstance(number, int), query
    return number


if __name__ == "__main__":
    sys.exit(main(measure))
