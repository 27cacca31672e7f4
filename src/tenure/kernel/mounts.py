"""Which file system a path is on, and whether a lock on it binds everybody who can write there."""

import os

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


def shared(path: str, mountinfo: bytes | None = None) -> tuple[str, str] | None:
    """The name and mount point of the file system that `path` is on, if other machines may write there.

    None if it is this machine's own, or if that cannot be known. `mountinfo` is the kernel's
    table; by default it is read from /proc.
    """
    found = mount_of(path, mountinfo)
    if found is None:
        return None
    kind, point = found
    name = REFUSED.get(kind) or (f"FUSE ({kind[5:]})" if kind.startswith("fuse.") else None)
    return None if name is None else (name, point)


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


def _unescaped(text: bytes) -> bytes:
    """Undo the octal escapes of the kernel's table."""
    if b"\\" not in text:
        return text
    parts = text.split(b"\\")
    return parts[0] + b"".join(bytes([int(part[:3], 8)]) + part[3:] for part in parts[1:])
