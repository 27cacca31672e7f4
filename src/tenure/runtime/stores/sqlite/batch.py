"""One commit for many calls: each is a savepoint of its own in a transaction they share."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import apsw

from tenure.kernel.errors import Doubt
from tenure.kernel.store import Transaction
from tenure.kernel.stores.sqlite.connection import run
from tenure.kernel.stores.sqlite.store import SqliteDatabase, SqliteTransaction
from tenure.kernel.stores.sqlite.translation import translated


class BatchDatabase:
    """A `Database` whose write transactions are savepoints while a batch is open.

    The shared transaction begins with the first write, so a batch that only reads asks no
    other process to wait.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._batch: ExitStack | None = None
        self._open: SqliteTransaction | None = None
        self._failed: BaseException | None = None  #: why nothing more can be written in the batch
        self._lost = False  #: what was written in it is gone

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Everything written in the block commits together.

        Raises:
            Doubt: the commit failed, or a call of the block undid what those before it wrote.
        """
        with ExitStack() as batch:
            self._batch = batch
            try:
                yield
                if self._lost and self._failed is not None:
                    raise self._failed
            finally:
                self._batch = self._open = self._failed = None
                self._lost = False

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction, or a part of the open batch that is undone alone if it raises."""
        if self._batch is None:
            with self._database.write() as tx:
                yield tx
            return
        shared = self._begun(self._batch)
        try:
            run(shared.connection, "SAVEPOINT call")
            try:
                yield shared
            except BaseException:
                if shared.connection.in_transaction:
                    run(shared.connection, "ROLLBACK TO call")
                    run(shared.connection, "RELEASE call")
                raise
            run(shared.connection, "RELEASE call")
        except apsw.Error as error:
            failed = translated(error, self._database.path)
            self._look_at(shared, failed)
            raise failed from error

    def _begun(self, batch: ExitStack) -> SqliteTransaction:
        """The batch's transaction, begun now if nothing was written in it yet."""
        if self._failed is not None:
            raise self._failed
        if self._open is None:
            try:
                self._open = batch.enter_context(self._database.write())
            except Doubt as doubt:
                self._failed = doubt  # one wait for other writers is enough for all
                raise
        return self._open

    def _look_at(self, shared: SqliteTransaction, failed: BaseException) -> None:
        """SQLite undoes the whole transaction for some errors, such as a full disk."""
        if not shared.connection.in_transaction:
            self._failed, self._lost = failed, True

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A view of the store; in a batch, what the batch has written so far included."""
        if self._open is None:
            with self._database.read() as tx:
                yield tx
            return
        if self._failed is not None:
            raise self._failed
        try:
            yield self._open
        except apsw.Error as error:
            failed = translated(error, self._database.path)
            self._look_at(self._open, failed)
            raise failed from error

    def close(self) -> None:
        """Let go of the store."""
        self._database.close()
