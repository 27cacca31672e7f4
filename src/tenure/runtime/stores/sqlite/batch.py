"""One commit for many calls: each is undone alone, in a transaction that they share.

Calls seldom fail after they wrote something, so at first nothing is prepared for it. If one
does, and others wrote before it, everything is undone and the batch is made again with a
savepoint around each call, which every method of a store allows.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import TracebackType

import apsw

from tenure.kernel.errors import Doubt
from tenure.kernel.store import Transaction
from tenure.kernel.stores.sqlite.connection import run
from tenure.kernel.stores.sqlite.store import SqliteDatabase, SqliteTransaction
from tenure.kernel.stores.sqlite.translation import translated


class Entangled(Exception):
    """A call failed after it and others wrote. Nothing of the batch was stored: make it again,
    with savepoints."""


class BatchDatabase:
    """A `Database` whose write transactions are parts of one while a batch is open.

    The shared transaction begins with the first write, so a batch that only reads asks no
    other process to wait.
    """

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._batch: ExitStack | None = None
        self._open: SqliteTransaction | None = None
        self._savepoints = False
        self._untouched = 0  #: changes of the connection when the shared transaction began
        self._failed: BaseException | None = None  #: why nothing more can be written in the batch
        self._lost = False  #: what was written in it is gone

    @contextmanager
    def batch(self, *, savepoints: bool = False) -> Iterator[None]:
        """Everything written in the block commits together.

        Raises:
            Entangled: only without savepoints; nothing was stored.
            Doubt: the commit failed, or a call of the block undid what those before it wrote.
        """
        with ExitStack() as batch:
            self._batch, self._savepoints = batch, savepoints
            try:
                yield
                if self._lost and self._failed is not None:
                    raise self._failed
            finally:
                self._batch = self._open = self._failed = None
                self._lost = False

    def write(self) -> "AbstractContextManager[Transaction]":
        """A transaction, or a part of the open batch that is undone alone if it raises."""
        return self._database.write() if self._batch is None else _Part(self, self._batch)

    def begin_part(self, batch: ExitStack) -> tuple[SqliteTransaction, int]:
        """The batch's transaction, and how much was changed in it before this part."""
        shared = self._begun(batch)
        if self._savepoints:
            run(shared.connection, "SAVEPOINT call")
        return shared, shared.connection.total_changes()

    def end_part(
        self, shared: SqliteTransaction, before: int, error: BaseException | None
    ) -> BaseException | None:
        """Keep a part, or undo it; what to raise in place of its error."""
        if error is None and self._savepoints:
            try:
                run(shared.connection, "RELEASE call")
            except apsw.Error as failure:
                error = failure
        if isinstance(error, apsw.Error):
            error = translated(error, self._database.path)
        if error is not None:
            self._undo(shared, before, error)
        return error

    def _begun(self, batch: ExitStack) -> SqliteTransaction:
        """The batch's transaction, begun now if nothing was written in it yet."""
        if self._failed is not None:
            raise self._failed
        if self._open is None:
            try:
                self._open = batch.enter_context(self._database.write())
                self._untouched = self._open.connection.total_changes()
            except Doubt as doubt:
                self._failed = doubt  # one wait for other writers is enough for all
                raise
        return self._open

    def _undo(self, shared: SqliteTransaction, before: int, error: BaseException) -> None:
        """Undo what a failed call wrote, and nothing else."""
        connection = shared.connection
        if not connection.in_transaction:  # SQLite undoes all of it if, say, the disk is full
            self._failed, self._lost = error, True
        elif self._savepoints:
            shared.known.forget()
            run(connection, "ROLLBACK TO call")
            run(connection, "RELEASE call")
        elif connection.total_changes() == before:
            pass
        elif before == self._untouched:
            shared.known.forget()
            self._begin_anew(connection)
        else:
            self._failed, self._lost = Entangled(), True

    def _begin_anew(self, connection: apsw.Connection) -> None:
        try:
            run(connection, "ROLLBACK")
            run(connection, "BEGIN IMMEDIATE")
        except apsw.Error as error:
            self._failed, self._lost = translated(error, self._database.path), True
        self._untouched = connection.total_changes()

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
            if not self._open.connection.in_transaction:
                self._failed, self._lost = failed, True
            raise failed from error

    def close(self) -> None:
        """Let go of the store."""
        self._database.close()


class _Part:
    """The block of one call in a batch. A class, because a turn has a dozen of them."""

    __slots__ = ("_batch", "_before", "_database", "_shared")

    def __init__(self, database: BatchDatabase, batch: ExitStack) -> None:
        self._database = database
        self._batch = batch

    def __enter__(self) -> Transaction:
        self._shared, self._before = self._database.begin_part(self._batch)
        return self._shared

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        instead = self._database.end_part(self._shared, self._before, error)
        if instead is not None and instead is not error:
            raise instead from error
