"""How a store comes into being: elsewhere, whole, and then under its name at once.

So a file of that name is a store from its first byte on. An empty or truncated file is
not somebody who is about to begin; it is a loss, and is refused.
"""

import os
from collections.abc import Sequence

import apsw

from tenure.kernel.errors import StoreUnavailable
from tenure.kernel.stores.sqlite.connection import connect, run, use_write_ahead_log
from tenure.kernel.stores.sqlite.lines import Line, mark, take_steps
from tenure.kernel.stores.sqlite.translation import not_a_store, unavailable


def present(path: str) -> bool:
    """Whether there is something to open at `path`.

    Raises:
        StoreUnavailable: what is there, or what is left there, is not a store.
    """
    try:
        # The log is looked at first: a store that is being born has none before its name.
        logged = _size(f"{path}-wal")
        size = _size(path)
        homeless = size is None and not os.path.isdir(os.path.dirname(path))
    except OSError as error:
        raise unavailable(path, error) from error
    if homeless:
        raise StoreUnavailable(
            store=path, reason="its directory does not exist", hint="create the directory"
        )
    if size == 0:
        raise not_a_store(path, "the file is empty")
    if size is None and logged:
        raise not_a_store(path, "the file is missing and its write-ahead log is left")
    return size is not None


def _size(path: str) -> int | None:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return None


def found(path: str, lines: Sequence[Line], *, busy_seconds: float) -> None:
    """Create the store at `path` unless somebody else just did; the loser's is dropped.

    Raises:
        StoreUnavailable: it cannot be created there.
        apsw.Error: as the driver raises it.
    """
    cradle = f"{path}.{os.getpid()}-{os.urandom(6).hex()}.new"
    try:
        # Tokens are stored in the file, so it is the user's own.
        os.close(os.open(cradle, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise unavailable(path, error) from error
    try:
        _build(cradle, lines, busy_seconds=busy_seconds)
        try:
            os.link(cradle, path)
        except FileExistsError:
            return
        _sync_directory(os.path.dirname(path))
    except OSError as error:
        raise unavailable(path, error) from error
    finally:
        for name in (cradle, f"{cradle}-wal", f"{cradle}-shm"):
            try:
                os.unlink(name)
            except FileNotFoundError:
                pass


def _build(path: str, lines: Sequence[Line], *, busy_seconds: float) -> None:
    connection = connect(path, busy_seconds=busy_seconds)
    try:
        use_write_ahead_log(connection, busy_seconds=busy_seconds)
        run(connection, "BEGIN IMMEDIATE")
        mark(connection)
        take_steps(connection, lines)
        run(connection, "COMMIT")
    except apsw.Error:
        connection.close(True)
        raise
    connection.close()


def _sync_directory(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
