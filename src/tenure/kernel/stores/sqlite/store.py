"""One open SQLite store. Many processes may have the same file open; each opens its own."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from tenure.kernel.errors import StoreBusy, StoreUnavailable
from tenure.kernel.points import point
from tenure.kernel.stores.sqlite import founding
from tenure.kernel.stores.sqlite import lines as formats
from tenure.kernel.stores.sqlite.connection import (
    connect,
    patiently,
    run,
    use_write_ahead_log,
)
from tenure.kernel.stores.sqlite.frozen import Look, at_rest, connect_frozen, look
from tenure.kernel.stores.sqlite.known import Known
from tenure.kernel.stores.sqlite.lines import KERNEL_LINE, Line
from tenure.kernel.stores.sqlite.translation import translated, unavailable

if TYPE_CHECKING:  # the records' own library comes with the first row, not with the file
    from tenure.kernel.stores.sqlite.attempts import SqliteAttempts
    from tenure.kernel.stores.sqlite.claims import SqliteClaims
    from tenure.kernel.stores.sqlite.lanes import SqliteLanes


class SqliteTransaction:
    """`tenure.kernel.store.Transaction` over a connection, for as long as its block runs.

    Other layers keep their rows in the same file and reach them through `connection`.
    """

    def __init__(self, connection: apsw.Connection, known: Known | None = None) -> None:
        self._connection: apsw.Connection | None = connection
        self.known = known or Known()  #: rows that need not be read again in it
        self._lanes: SqliteLanes | None = None
        self._claims: SqliteClaims | None = None

    @property
    def connection(self) -> apsw.Connection:
        """The driver's connection, inside this transaction."""
        assert self._connection is not None, "this transaction has ended"
        return self._connection

    @property
    def attempts(self) -> "SqliteAttempts":
        from tenure.kernel.stores.sqlite.attempts import SqliteAttempts

        return SqliteAttempts(self.connection)

    @property
    def lanes(self) -> "SqliteLanes":
        if self._lanes is None:
            from tenure.kernel.stores.sqlite.lanes import SqliteLanes

            self._lanes = SqliteLanes(self.connection, self.known)
        return self._lanes

    @property
    def claims(self) -> "SqliteClaims":
        if self._claims is None:
            from tenure.kernel.stores.sqlite.claims import SqliteClaims

            self._claims = SqliteClaims(self.connection, self.known)
        return self._claims

    def end(self) -> None:
        """Nothing can be done in it any more."""
        self._connection = self._lanes = self._claims = None


class SqliteDatabase:
    """`tenure.kernel.store.Database` in one file."""

    def __init__(
        self, connection: apsw.Connection, path: str, *, busy_seconds: float, frozen: bool
    ) -> None:
        self._connection = connection
        self._path = path
        self._busy_seconds = busy_seconds
        self._frozen = frozen  #: not even the files beside the store can be written
        self._file = None if frozen else _identity(path)
        self._known = Known()
        self._pid = os.getpid()
        self._open = True

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        lines: Sequence[Line] = (KERNEL_LINE,),
        busy_seconds: float,
        create: bool = True,
        writable: bool = True,
    ) -> "SqliteDatabase":
        """Open the store, found it if there is nothing at `path`, and bring its format up.

        `busy_seconds` is how long any call waits for other writers. With `writable=False`
        nothing is founded or brought up, only `read` is allowed, and the store may lie where
        nothing can be written; `read` then raises `StoreBusy` if somebody else wrote meanwhile.

        Raises:
            StoreUnavailable: there is none and `create` is false, it cannot be opened, or what
                is there is not a Tenure store; nothing was changed.
            StoreNewer: a newer version wrote it; nothing was changed.
            StoreBusy: other writers kept it busy.
        """
        store = os.path.realpath(path)
        frozen = False
        try:
            if writable:
                connection = _opened(store, lines, busy_seconds, create)
            else:
                connection, frozen = _opened_to_read(store, lines, busy_seconds)
        except apsw.Error as error:
            raise translated(error, store) from error
        except OSError as error:
            raise unavailable(store, error) from error
        return cls(connection, store, busy_seconds=busy_seconds, frozen=frozen)

    @property
    def path(self) -> str:
        """Where the file is."""
        return self._path

    @contextmanager
    def write(self) -> Iterator[SqliteTransaction]:
        self._enter()
        transaction = SqliteTransaction(self._connection, self._known)
        try:
            run(self._connection, "BEGIN IMMEDIATE")
            self._known.begun(self._connection.data_version())
            yield transaction
            transaction.end()
            self._commit()
            self._known.committed(self._connection.data_version())
        except apsw.Error as error:
            self._known.forget()
            raise translated(error, self._path) from error
        except BaseException:
            self._known.forget()
            raise
        finally:
            transaction.end()
            self._roll_back()

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        self._enter()
        before = self._thaw()
        transaction = SqliteTransaction(self._connection)
        written = self._connection.total_changes()
        try:
            run(self._connection, "BEGIN")
            yield transaction
            assert self._connection.total_changes() == written, "a write inside read()"
            if before is not None and look(self._path) != before:
                raise StoreBusy(store=self._path)
        except apsw.Error as error:
            raise translated(error, self._path) from error
        finally:
            transaction.end()
            self._roll_back()

    def close(self) -> None:
        if self._open and self._pid == os.getpid():
            self._open = False
            self._connection.close(True)

    def _enter(self) -> None:
        assert self._pid == os.getpid(), f"{self._path} was opened before a fork; open it again"
        if not self._open:
            raise StoreUnavailable(
                store=self._path, reason="this handle is closed", hint="open the store again"
            )
        assert not self._connection.in_transaction, f"{self._path}: a transaction inside another"
        self._require_in_place()

    def _require_in_place(self) -> None:
        """Pass if the open file is still the one at the path, which others would open.

        What is written to a file that was deleted or replaced is read by nobody.
        """
        if self._file is not None and _identity(self._path) != self._file:
            raise StoreUnavailable(
                store=self._path,
                reason="was deleted or replaced while it was open",
                hint="put it back, or begin anew",
            )

    def _thaw(self) -> Look | None:
        """Read a frozen store anew; how it looks at the beginning."""
        if not self._frozen:
            return None
        before = look(self._path)
        if not at_rest(before):
            raise StoreBusy(store=self._path)
        self._connection.close(True)
        self._connection = connect_frozen(self._path)
        return before

    def _commit(self) -> None:
        point("store:commit")
        self._require_in_place()
        patiently(self._connection, "COMMIT", busy_seconds=self._busy_seconds)
        point("store:committed")

    def _roll_back(self) -> None:
        """End the transaction if it is still there. An error here hides no earlier one."""
        if self._connection.in_transaction:
            try:
                run(self._connection, "ROLLBACK")
            except apsw.Error:
                self.close()


def _identity(path: str) -> tuple[int, int] | None:
    """Which file is at `path`; None if there is none that can be looked at."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def _opened(
    store: str, lines: Sequence[Line], busy_seconds: float, create: bool
) -> apsw.Connection:
    if not founding.present(store):
        if not create:
            raise _missing(store)
        founding.found(store, lines, busy_seconds=busy_seconds)
    connection = connect(store, busy_seconds=busy_seconds)
    try:
        if not formats.current(connection, lines, store):
            formats.migrate(connection, lines, store)
        use_write_ahead_log(connection, busy_seconds=busy_seconds)
    except BaseException:
        connection.close(True)
        raise
    return connection


def _opened_to_read(
    store: str, lines: Sequence[Line], busy_seconds: float
) -> tuple[apsw.Connection, bool]:
    """The connection, and whether nothing can be written beside the store."""
    if not founding.present(store):
        raise _missing(store)
    try:
        return _current(
            connect(store, busy_seconds=busy_seconds, writable=False), lines, store
        ), False
    except apsw.CantOpenError:
        if not at_rest(look(store)):
            raise
        return _current(connect_frozen(store), lines, store), True


def _current(connection: apsw.Connection, lines: Sequence[Line], store: str) -> apsw.Connection:
    try:
        if formats.current(connection, lines, store):
            return connection
        raise StoreUnavailable(
            store=store,
            reason="has an older format and is opened for reading only",
            hint="open it once where it can be written",
        )
    except BaseException:
        connection.close(True)
        raise


def _missing(store: str) -> StoreUnavailable:
    return StoreUnavailable(
        store=store, reason="does not exist", hint="check the path, or let a run create it"
    )
