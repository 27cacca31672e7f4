"""How a store file is connected to: durable, patient with other writers, never by accident."""

import os
import time
from collections.abc import Mapping, Sequence

import apsw

#: What SQLite stores. The tables are STRICT, so nothing else comes back.
Value = str | int | float | bytes | None

#: The first pause of a waiting writer is at most this long, in seconds; later ones grow.
FIRST_PAUSE = 0.001
#: Pauses stop growing at this many times the first.
GROWTH = 8

_READ_WRITE = apsw.SQLITE_OPEN_READWRITE
_READ_ONLY = apsw.SQLITE_OPEN_READONLY
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-~")


class Patience:
    """Waits for another writer in short pauses, jittered so that waiters spread out.

    It counts the pauses it asked for, not a clock, so a machine that is suspended or
    overloaded gives a writer more time and never less.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._left = seconds

    def __call__(self, tries: int) -> bool:
        """Pause once and say whether to try again; `tries` counts earlier pauses, from 0."""
        if tries == 0:
            self._left = self._seconds
        if self._left <= 0:
            return False
        longest = FIRST_PAUSE * min(tries + 1, GROWTH)
        pause = min(self._left, longest * (0.5 + os.urandom(1)[0] / 512))
        time.sleep(pause)
        self._left -= pause
        return True


def connect(path: str, *, busy_seconds: float, writable: bool = True) -> apsw.Connection:
    """A connection to an existing file. What was acknowledged to it survives a power cut.

    Raises:
        apsw.Error: as the driver raises it.
    """
    flags = _READ_WRITE if writable else _READ_ONLY
    if path.isascii():
        connection = apsw.Connection(path, flags=flags)
    else:
        connection = apsw.Connection(uri_of(path), flags=flags | apsw.SQLITE_OPEN_URI)
    try:
        connection.set_busy_handler(Patience(busy_seconds))
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        connection.close(True)
        raise
    return connection


def uri_of(path: str) -> str:
    """`path` as the driver takes it whatever its bytes are; it takes other names as UTF-8 only."""
    return "file:" + "".join(
        chr(byte) if chr(byte) in _PLAIN else f"%{byte:02x}" for byte in os.fsencode(path)
    )


def run(
    connection: apsw.Connection,
    statement: str,
    bindings: Sequence[Value] | Mapping[str, Value] = (),
) -> list[tuple[Value, ...]]:
    """Execute to the end and return the rows.

    The driver stops at the first row of a statement, or of a script, until somebody asks
    for the next one: whatever is not fetched to the end may not have happened.
    """
    return list(connection.execute(statement, bindings))


def patiently(
    connection: apsw.Connection, statement: str, *, busy_seconds: float
) -> list[tuple[Value, ...]]:
    """Execute a statement for which SQLite does not always wait by itself; the rows.

    Raises:
        apsw.Error: as the driver raises it; `BusyError` when others kept it busy throughout,
            or when what is to be committed is no longer there.
    """
    patience = Patience(busy_seconds)
    committing = connection.in_transaction
    tries = 0
    connection.set_busy_handler(None)  # this loop waits, and not each of its tries as well
    try:
        while True:
            try:
                return run(connection, statement)
            except apsw.BusyError:
                if committing and not connection.in_transaction:
                    raise
                if not patience(tries):
                    raise
                tries += 1
    finally:
        connection.set_busy_handler(patience)


def use_write_ahead_log(connection: apsw.Connection, *, busy_seconds: float) -> None:
    """Switch to the write-ahead log, which lasts.

    Raises what `patiently` raises.
    """
    if patiently(connection, "PRAGMA journal_mode = WAL", busy_seconds=busy_seconds) != [("wal",)]:
        raise apsw.CantOpenError("its file system has no shared memory for a write-ahead log")
