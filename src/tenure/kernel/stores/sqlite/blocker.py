"""Who keeps a store busy, by the kernel's own table of file locks. For errors and for rescue."""

import os

_LOCKS = "/proc/locks"

#: Whoever writes to a store with a write-ahead log locks this byte of its `-shm` file.
#: Source: "WAL-Index Locks" in the file format of SQLite's write-ahead log index.
_WRITER = "120"


def writer_of(store: str) -> int | None:
    """The process that is inside a write transaction of the store at `store`, if that is known.

    It opens nothing: a process that closes a file which it has open elsewhere loses its locks.
    Somebody in another pid namespace is not seen.
    """
    try:
        inode = str(os.stat(f"{store}-shm").st_ino)
        with open(_LOCKS, encoding="ascii", errors="replace") as table:
            lines = table.read().splitlines()
    except OSError:
        return None
    for line in lines:
        # 1: POSIX  ADVISORY  WRITE 4321 fe:00:2180358 120 120
        fields = line.split()
        if len(fields) != 8 or fields[1] != "POSIX" or fields[3] != "WRITE":
            continue
        if fields[5].rpartition(":")[2] == inode and fields[6] == _WRITER:
            return int(fields[4]) or None
    return None


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped, so that it keeps what it has locked until it goes on."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            stat = file.read()
    except OSError:
        return False
    return stat[stat.rindex(b")") + 2 :].split()[0] in (b"T", b"t")
