"""Reading a store where nothing can be written, not even the files beside it that a log needs.

SQLite then reads the file as if nobody could change it. Somebody else still can, so a
reader looks at the file before and after, and what it read counts only if nothing moved.
"""

import os

import apsw

from tenure.kernel.stores.sqlite.connection import uri_of

Look = tuple[tuple[int, int, int] | None, ...]


def connect_frozen(path: str) -> apsw.Connection:
    """A connection that reads the file alone, without locks and without a log.

    Raises:
        apsw.Error: as the driver raises it.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"{uri_of(path)}?immutable=1", flags=flags)


def look(path: str) -> Look:
    """What changes when somebody else writes: the file, its log, and the log's index."""
    return tuple(_stamp(f"{path}{suffix}") for suffix in ("", "-wal", "-shm"))


def at_rest(look: Look) -> bool:
    """Whether everything that was ever committed is in the file itself."""
    file, log, index = look
    return file is not None and log is None and index is None


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)
