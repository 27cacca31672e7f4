"""Whether a store can live in a directory: on a file system where locks mean something, and writable."""

import errno
import os

from tenure.gate.errors import PlatformError, RepositoryError
from tenure.kernel.mounts import shared


def require_local(path: str, mountinfo: bytes | None = None) -> None:
    """Pass if `path` is on a file system of this machine, or if that cannot be known.

    Raises: PlatformError naming the file system and the mount.
    """
    found = shared(path, mountinfo)
    if found is not None:
        name, point = found
        raise PlatformError(
            what=f"{path} is on {name} (mounted at {point}), where a file lock proves nothing about other machines",
            next="clone the repository to a local disk",
        )


def require_writable(directory: str) -> None:
    """Pass if `directory`, or where it is to be made, can be written. Leaves no trace.

    Raises: RepositoryError naming the exact path that needs to be writable.
    """
    place = directory
    while not os.path.isdir(place):
        above = os.path.dirname(place)
        if os.path.lexists(place) or above == place:
            raise RepositoryError(
                what=f"{place} is in the way of {directory}", next="move it elsewhere"
            )
        place = above
    reason = _unwritable(place)
    if reason:
        raise RepositoryError(
            what=f"{place} cannot be written ({reason}), and the records of all worktrees are kept in {directory}",
            next=f"let this process write {place} (a sandbox has to be given that path), or name "
            "another place with TENURE_STORE",
        )


def _unwritable(place: str) -> str:
    if not os.access(place, os.W_OK | os.X_OK):
        if os.statvfs(place).f_flag & os.ST_RDONLY:
            return "the file system is read-only"
        return "permission denied"
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag:
        return ""
    try:
        os.close(os.open(place, flag | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return error.strerror or "permission denied"
    return ""
