"""What SQLite says, in the kernel's words. No driver error leaves the backend."""

import os

import apsw

from tenure.kernel.errors import Doubt, StoreBusy, StoreUnavailable

_KEEP = "keep the file as it is and restore a copy, or move it away to begin anew"


def not_a_store(store: str, what: str) -> StoreUnavailable:
    """Something is there and it is not a Tenure store. It is never created over."""
    return StoreUnavailable(store=store, reason=f"is not a Tenure store: {what}", hint=_KEEP)


def unavailable(store: str, error: OSError) -> StoreUnavailable:
    """The operating system refused the file or its directory."""
    return StoreUnavailable(
        store=store,
        reason=f"cannot be opened ({error.strerror or error})",
        hint=f"check that {os.path.dirname(store)} exists and that you may read and write there",
    )


def translated(error: apsw.Error, store: str) -> Doubt | AssertionError:
    """The kernel's error for a driver's error; an `AssertionError` for a mistake of ours."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return _busy(store)
    if isinstance(error, apsw.NotADBError):
        return not_a_store(store, "not a database")
    if isinstance(error, apsw.SQLError):
        return not_a_store(store, f"a different shape ({error})")
    directory = os.path.dirname(store)
    for kind, reason, hint in _ANSWERS:
        if isinstance(error, kind) or (kind is apsw.FullError and _full(error, directory)):
            return StoreUnavailable(
                store=store,
                reason=reason.format(error=error),
                hint=hint.format(directory=directory),
            )
    return AssertionError(f"{store}: {type(error).__name__}: {error}")


def _busy(store: str) -> StoreBusy:
    from tenure.kernel.stores.sqlite.blocker import is_stopped, writer_of

    writer = writer_of(store)
    if writer is None or writer == os.getpid():
        return StoreBusy(store=store)
    return StoreBusy(store=store, writer=writer, stopped=is_stopped(writer))


def _full(error: apsw.Error, directory: str) -> bool:
    """Whether an error of reading or writing is one of room: the log's index reports it so."""
    if not isinstance(error, apsw.IOError | apsw.CantOpenError):
        return False
    try:
        return os.statvfs(directory).f_bavail == 0
    except OSError:
        return False


_ANSWERS: tuple[tuple[type[apsw.Error], str, str], ...] = (
    (apsw.FullError, "the disk is full", "free some space in {directory} and try again"),
    (
        apsw.ReadOnlyError,
        "cannot be written ({error})",
        "make it and {directory} writable for this user",
    ),
    (
        apsw.CantOpenError,
        "cannot be opened ({error})",
        "check that it is a file and that you may read and write in {directory}",
    ),
    (
        apsw.PermissionsError,
        "access was denied ({error})",
        "check the permissions of {directory}",
    ),
    (apsw.CorruptError, "is damaged ({error})", _KEEP),
    (apsw.IOError, "cannot be read or written ({error})", "check the disk below {directory}"),
    (apsw.NoMemError, "there is not enough memory to use it", "free some memory and try again"),
)
