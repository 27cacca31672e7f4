"""Access to a session store in one SQLite file: a writing thread, and what else may come to it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from tenure.kernel.clock import Clock
from tenure.kernel.mounts import shared
from tenure.kernel.store import Transaction
from tenure.kernel.stores.sqlite.connection import run
from tenure.kernel.stores.sqlite.store import SqliteDatabase, SqliteTransaction
from tenure.kernel.stores.sqlite.translation import translated
from tenure.runtime.errors import WiringError
from tenure.runtime.offload import Offload
from tenure.runtime.ports.blobs import BlobStore
from tenure.runtime.sessions import SessionStore
from tenure.runtime.stores.sqlite.batch import BatchDatabase
from tenure.runtime.stores.sqlite.blobs import BlobFiles
from tenure.runtime.stores.sqlite.rows import LINES, sqlite_runtime_rows
from tenure.runtime.stores.sqlite.writer import Writer

#: How long a plain thread is kept waiting by other writers, in seconds.
_BUSY_SECONDS = 10.0


class HostTransaction:
    """A `Database` inside a transaction that somebody else began and will end."""

    def __init__(self, tx: SqliteTransaction, path: str) -> None:
        self._tx = tx
        self._path = path

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A part of the host's transaction, undone alone if it raises; the host's own part stays."""
        host = self._tx.connection
        try:
            run(host, "SAVEPOINT tenure")
            try:
                yield self._tx
            except BaseException:
                self._tx.known.forget()
                if host.in_transaction:
                    run(host, "ROLLBACK TO tenure")
                    run(host, "RELEASE tenure")
                raise
            run(host, "RELEASE tenure")
        except apsw.Error as error:
            raise translated(error, self._path) from error

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """The store as the host's transaction sees it."""
        try:
            yield self._tx
        except apsw.Error as error:
            raise translated(error, self._path) from error

    def close(self) -> None:
        """The connection is the host's."""


class SqliteAccess:
    """`StoreAccess` to one SQLite file, through one writing thread.

    `busy_seconds` is how long one call of that thread waits for other processes. Whoever
    called asks again; see `Steady`.

    Raises: WiringError: the file is where other machines may write too.
    """

    def __init__(self, path: str, clock: Clock, *, busy_seconds: float) -> None:
        def opened(seconds: float) -> SqliteDatabase:
            return SqliteDatabase.open(self._path, lines=LINES, busy_seconds=seconds)

        self._path = _of_this_machine(os.path.abspath(path))
        self._clock = clock
        self._rows = sqlite_runtime_rows
        self._opened = opened
        self._writer = Writer(lambda: BatchDatabase(opened(busy_seconds)))
        assert self._writer.database is not None, "the writer has opened its database"
        self.store = SessionStore(self._writer.database, sqlite_runtime_rows, clock)
        self.offload: Offload = self._writer
        self.blobs: BlobStore = BlobFiles(f"{self._path}.blobs")

    @contextmanager
    def here(self) -> Iterator[SessionStore]:
        """A connection of the calling thread's own, opened for the call."""
        store = SessionStore(self._opened(_BUSY_SECONDS), self._rows, self._clock)
        try:
            yield store
        finally:
            store.close()

    @contextmanager
    def inside(self, connection: object) -> Iterator[SessionStore]:
        """A store in the transaction that the host has open on an apsw connection to this file."""
        tx = SqliteTransaction(self._checked(connection))
        try:
            yield SessionStore(HostTransaction(tx, self._path), self._rows, self._clock)
        finally:
            tx.end()

    def _checked(self, connection: object) -> apsw.Connection:
        if not isinstance(connection, apsw.Connection):
            raise WiringError(
                what=f"a {type(connection).__module__} connection cannot share a file with this "
                "store: two copies of SQLite in one process drop each other's locks",
                next="use an apsw connection to the store's file",
            )
        if os.path.realpath(connection.filename) != os.path.realpath(self._path):
            raise WiringError(
                what=f"the connection is to {connection.filename!r}, the store is {self._path}",
                next="admit through a connection to the store's own file",
            )
        if not connection.in_transaction:
            raise WiringError(
                what="the connection has no transaction open",
                next="begin one, and commit it after this call",
            )
        return connection

    def close(self) -> None:
        """End the writing thread and close its connection."""
        self._writer.close()


def _of_this_machine(path: str) -> str:
    found = shared(path)
    if found is not None:
        name, point = found
        raise WiringError(
            what=f"the store {path} would be on {name} (mounted at {point}), where locks prove "
            "nothing about other machines",
            next="put it on a disk of this machine",
        )
    return path
