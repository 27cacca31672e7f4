"""Files that somebody names on the command line: read within bounds, written whole."""

import os
import sys

from tenure.gate.errors import UsageError


def read_bounded(path: str, most: int) -> bytes:
    """What is in the file, or on standard input for `-`; of a longer one, a byte more than `most`.

    Raises:
        UsageError: there is no such file, or it cannot be read.
    """
    try:
        if path == "-":
            return sys.stdin.buffer.read(most + 1)
        with open(path, "rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError, AttributeError) as error:
        why = getattr(error, "strerror", None) or "it is no file that could be opened"
        raise UsageError(what=f"{path} cannot be read: {why}") from error


def write_whole(path: str, data: bytes) -> None:
    """Put `data` at `path`, in place of what was there, so that nobody sees half of it.

    Raises:
        UsageError: it cannot be put there. What was there before is there still.
    """
    partial = f"{path}.{os.getpid()}.partial"
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
    except OSError as error:
        raise UsageError(what=f"{path} cannot be written: {error.strerror}") from error
