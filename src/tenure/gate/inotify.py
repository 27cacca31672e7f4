"""inotify(7), as much of it as is waited for: files written or made, and files let go of."""

import ctypes
import os
from collections.abc import Sequence

#: A file was written, made or moved here.
CHANGED = 0x100 | 0x2 | 0x80
#: The last descriptor of a file that was open for writing was closed.
CLOSED = 0x8


def watch(*directories: str, events: int = CHANGED) -> int:
    """A non-blocking descriptor, readable after one of `events` in one of the directories.

    Raises:
        OSError: out of watches or descriptors, or a directory is gone.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify is not available")
    try:
        _add(libc, descriptor, directories, events)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def drain(descriptor: int) -> bool:
    """Take what there is to read from a watch; whether there was something."""
    found = False
    try:
        while os.read(descriptor, 1 << 16):
            found = True
    except BlockingIOError:
        pass
    return found


def _add(libc: ctypes.CDLL, descriptor: int, directories: Sequence[str], events: int) -> None:
    for directory in directories:
        if libc.inotify_add_watch(descriptor, os.fsencode(directory), events) < 0:
            error = ctypes.get_errno()
            raise OSError(error, f"cannot watch {directory}: {os.strerror(error)}")
