"""Whether a store can live in a directory: on a file system where locks mean something, and writable."""

import errno
import os

from tenure.gate.errors import PlatformError, RepositoryError

#: File systems on which a lock does not bind other machines, or that only pass calls on.
REFUSED = {
    "9p": "9p",
    "afs": "AFS",
    "beegfs": "BeeGFS",
    "ceph": "CephFS",
    "cifs": "SMB",
    "coda": "Coda",
    "fuse": "FUSE",
    "gfs2": "GFS2",
    "glusterfs": "GlusterFS",
    "gpfs": "GPFS",
    "lustre": "Lustre",
    "ncpfs": "NCP",
    "nfs": "NFS",
    "nfs4": "NFS",
    "ocfs2": "OCFS2",
    "orangefs": "OrangeFS",
    "prl_fs": "a shared folder",
    "smb2": "SMB",
    "smb3": "SMB",
    "smbfs": "SMB",
    "vboxsf": "a shared folder",
    "virtiofs": "virtiofs",
    "vmhgfs": "a shared folder",
}

_MOUNTS = "/proc/self/mountinfo"


def require_local(path: str, mountinfo: bytes | None = None) -> None:
    """Pass if `path` is on a file system of this machine, or if that cannot be known.

    `mountinfo` is the kernel's table; by default it is read from /proc.

    Raises: PlatformError naming the file system and the mount.
    """
    found = mount_of(path, mountinfo)
    if found is None:
        return
    kind, point = found
    name = REFUSED.get(kind) or (f"FUSE ({kind[5:]})" if kind.startswith("fuse.") else None)
    if name:
        raise PlatformError(
            what=f"{path} is on {name} (mounted at {point}), where a file lock proves nothing about other machines",
            next="clone the repository to a local disk",
        )


def mount_of(path: str, mountinfo: bytes | None = None) -> tuple[str, str] | None:
    """The type and mount point of the file system that `path` is on, None if unknown.

    A path that does not exist yet is where its nearest existing parent is.
    """
    if mountinfo is None:
        try:
            with open(_MOUNTS, "rb") as file:
                mountinfo = file.read()
        except OSError:
            return None
    real = os.path.realpath(os.fsencode(path))
    best: tuple[bytes, bytes] | None = None
    for line in mountinfo.split(b"\n"):
        left, dash, right = line.partition(b" - ")
        fields = left.split(b" ")
        if not dash or len(fields) < 5:
            continue
        point = _unescaped(fields[4])
        inside = real == point or real.startswith(point.rstrip(b"/") + b"/")
        if inside and (
            best is None or len(point) >= len(best[0])
        ):  # a later mount covers an earlier
            best = (point, right.split(b" ", 1)[0])
    return None if best is None else (best[1].decode("ascii", "replace"), os.fsdecode(best[0]))


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
            next=f"let this process write {place}; a sandbox has to be given that path",
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


def _unescaped(text: bytes) -> bytes:
    """Undo the octal escapes of the kernel's table."""
    if b"\\" not in text:
        return text
    parts = text.split(b"\\")
    return parts[0] + b"".join(bytes([int(part[:3], 8)]) + part[3:] for part in parts[1:])
