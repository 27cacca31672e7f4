"""Access to a session store in one SQLite file: a writing thread, and what else may come to it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from tenure.kernel.clock import Clock
from tenure.kernel.store import Transaction
from tenure.kernel.stores.sqlite.store import SqliteDatabase, SqliteTransaction
from tenure.runtime.errors import WiringError
from tenure.runtime.offload import Offload
from tenure.runtime.sessions import SessionStore
from tenure.runtime.store import RuntimeRows
from tenure.runtime.stores.sqlite.rows import LINES, sqlite_runtime_rows
from tenure.runtime.stores.sqlite.writer import BatchDatabase, Writer

_BUSY_SECONDS = 10.0


class SqliteAccess:
    """`StoreAccess` to one SQLite file, through one writing thread."""

    def __init__(self, path: str, clock: Clock) -> None:
        def opened() -> SqliteDatabase:
            return SqliteDatabase.open(self._path, lines=LINES, busy_seconds=_BUSY_SECONDS)

        self._path = os.path.abspath(path)
        self._clock = clock
        self._rows = sqlite_runtime_rows
        self._opened = opened
        self._writer = Writer(lambda: BatchDatabase(opened()))
        assert self._writer.database is not None, "the writer has opened its database"
        self.store = SessionStore(self._writer.database, sqlite_runtime_rows, clock)
        self.offload: Offload = self._writer

    @contextmanager
    def here(self) -> Iterator[SessionStore]:
        """A connection of the calling thread's own, opened for the call."""
        store = SessionStore(self._opened(), self._rows, self._clock)
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def inside(self, connection: object) -> Iterator[tuple[Transaction, RuntimeRows]]:
        """The transaction that the host has open on an apsw connection to this very file."""
        if not isinstance(connection, apsw.Connection):
            raise WiringError(
                what=f"a {type(connection).__module__} connection cannot share a file with this "
                "store: two copies of SQLite in one process drop each other's locks",
                next="use an apsw connection to the store's file",
            )
        if os.path.realpath(connection.filename) != os.path.realpath(self._path):
            raise WiringError(
                what=f"the connection is to {connection.filename}, the store is {self._path}",
                next="admit through a connection to the store's own file",
            )
        if not connection.in_transaction:
            raise WiringError(
                what="the connection has no transaction open",
                next="begin one, and commit it after this call",
            )
        tx = SqliteTransaction(connection)
        try:
            yield tx, self._rows(tx)
        finally:
            tx.end()

    def close(self) -> None:
        """End the writing thread and close its connection."""
        self._writer.close()
