"""Looking into the store of hosts, beside them or after them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tenure.kernel.clock import SystemClock
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.runtime.sessions import SessionStore
from tenure.runtime.stores.sqlite.rows import LINES, sqlite_runtime_rows


@contextmanager
def opened(path: Path) -> Iterator[SessionStore]:
    """The store, to look into."""
    database = SqliteDatabase.open(path, lines=LINES, busy_seconds=10, writable=False)
    store = SessionStore(database, sqlite_runtime_rows, SystemClock())
    try:
        yield store
    finally:
        store.close()


def books(path: Path, session: str, turn: str) -> Mapping[str, Any]:
    """Everything that is stored of a turn and its session but who holds the lane."""
    with opened(path) as store:
        record, journal = store.turn(turn)
        return {
            "session": store.session(session),
            "messages": store.messages(session),
            "turn": record,
            "journal": journal,
            "work": store.work(turn.removeprefix("turn-")),
        }
