"""Composition: which backend, which clock, which probe. The only place that chooses."""

from tenure.gate.place import Place
from tenure.gate.store import GateStore
from tenure.gate.stores.sqlite.rows import LINES, sqlite_rows
from tenure.kernel.clock import Clock
from tenure.kernel.ledger import Liveness
from tenure.kernel.liveness import LocalProbe, judge
from tenure.kernel.stores.sqlite.store import SqliteDatabase

#: The repository's name in a store of its own.
LOCAL = "local"

_BUSY_SECONDS = 5.0


def open_gate_store(
    place: Place,
    clock: Clock,
    *,
    busy_seconds: float = _BUSY_SECONDS,
    create: bool = True,
    writable: bool = True,
) -> GateStore:
    """Open a repository's store on this machine. Each process opens its own.

    Raises:
        StoreUnavailable, StoreNewer, StoreBusy: as their sentences say.
    """
    database = SqliteDatabase.open(
        place.database, lines=LINES, busy_seconds=busy_seconds, create=create, writable=writable
    )
    return GateStore(
        database, sqlite_rows, repository=LOCAL, clock=clock, liveness=local_liveness(clock)
    )


def local_liveness(clock: Clock) -> Liveness:
    """Judges owners by this machine's process table and lock files."""
    probe = LocalProbe(clock.now().boot)
    return lambda evidence: judge(evidence, probe)
