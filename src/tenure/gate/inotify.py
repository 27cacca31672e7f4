"""inotify(7), as much of it as a follower needs: to be woken when files in a directory change."""

import ctypes
import os

_CREATE, _MODIFY, _MOVED_TO = 0x100, 0x2, 0x80


def watch(directory: str) -> int:
    """A non-blocking descriptor, readable after a file in `directory` was written or made.

    Raises:
        OSError: out of watches or descriptors, or the directory is gone.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify is not available")
    mask = _CREATE | _MODIFY | _MOVED_TO
    if libc.inotify_add_watch(descriptor, os.fsencode(directory), mask) < 0:
        error = ctypes.get_errno()
        os.close(descriptor)
        raise OSError(error, f"cannot watch {directory}: {os.strerror(error)}")
    return descriptor
