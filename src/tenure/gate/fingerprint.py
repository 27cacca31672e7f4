"""What files look like from outside: enough to know that nobody touched them meanwhile.

A fingerprint is a stat, not a digest. It changes with every write, also with one that is put
back, because no program can put a change time back. It is taken before the content is known
to be right and compared after: equal means the content is still the one that was right.

This module imports `os` alone; the path that answers in milliseconds uses `still_holds`.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

#: change time in ns, inode, size, mode; None for a path that is not there
Mark = tuple[int, int, int, int] | None

#: device, inode, size, modification and change time in ns; None for a path that is not there
Stat = tuple[int, int, int, int, int] | None

#: Two writes within one tick of the kernel's coarse clock share a change time; ticks are 1 to 10 ms.
TICK_NS = 10_000_000


#: inode, change and modification time of a folder
Folder = tuple[int, int, int]


class Fingerprint:
    """What each of some paths under `top` looked like. `marks` maps path to mark.

    `folders` are the folders above them. One that was moved away and back holds files that
    look as they did, and shows it itself: its change time is new and its modification time is not.
    """

    __slots__ = ("folders", "marks", "top")

    def __init__(
        self,
        top: str,
        marks: "Mapping[bytes, Mark]",
        folders: "Mapping[bytes, Folder] | None" = None,
    ) -> None:
        self.top = top
        self.marks = marks
        self.folders = folders or {}

    def settled(self, wall_ns: int) -> bool:
        """Whether a write from `wall_ns` on is certain to show.

        A file changed within the last tick could change again without a new change time. A
        change time in the future proves a clock that was set back, and waiting would not help.
        """
        recent = wall_ns - TICK_NS
        return not any(mark and recent <= mark[0] <= wall_ns for mark in self.marks.values())


def take(top: str, paths: "Iterable[bytes]") -> Fingerprint:
    """The fingerprint of `paths`, relative to `top`. Links are not followed."""
    root = os.fsencode(top) + b"/"
    marks: dict[bytes, Mark] = {}
    look = os.lstat
    for path in paths:
        try:
            seen = look(root + path)
        except (FileNotFoundError, NotADirectoryError):
            marks[path] = None
        else:
            marks[path] = (seen.st_ctime_ns, seen.st_ino, seen.st_size, seen.st_mode)
    return Fingerprint(top, marks, _folders(root, marks))


def _folders(root: bytes, paths: "Iterable[bytes]") -> dict[bytes, Folder]:
    """What the folders above `paths` look like."""
    found: dict[bytes, Folder] = {}
    last = b""
    for path in paths:
        folder = path.rpartition(b"/")[0]
        if folder == last:
            continue
        last = folder
        while folder and folder not in found:
            try:
                seen = os.lstat(root + folder)
            except (FileNotFoundError, NotADirectoryError):
                break
            if seen.st_mode & 0o170000 == 0o040000:  # what is no folder shows in what was below
                found[folder] = (seen.st_ino, seen.st_ctime_ns, seen.st_mtime_ns)
            folder = folder.rpartition(b"/")[0]
    return found


def moved(before: Fingerprint, paths: "Iterable[bytes] | None" = None) -> list[bytes]:
    """Those of `paths` (default: all) that do not look as they did, in order.

    A path that `before` does not know has moved if it is there now.
    """
    asked = before.marks if paths is None else paths
    now = take(before.top, asked)
    known = before.marks.get
    return [
        *(path for path, mark in now.marks.items() if mark != known(path)),
        *(path for path, seen in now.folders.items() if _swapped(before.folders.get(path), seen)),
    ]


def _swapped(before: Folder | None, now: Folder) -> bool:
    """Whether a folder is another one, or was elsewhere meanwhile. New files in it are no matter."""
    if before is None:
        return False
    return before[0] != now[0] or (before[1] != now[1] and before[2] == now[2])


def bytecode_would_hide_an_edit(seen: Fingerprint, wall_ns: int) -> bool:
    """Whether Python, were it to compile now, could take a later edit for what it compiled.

    It knows a source by its size and the second it was written in. Bytecode of a source that
    is not a second old would stand for whatever is written over it, as long, before the second
    is over; a job would then pass for code that it never ran.

    Source: https://docs.python.org/3/reference/import.html#cached-bytecode-invalidation
    """
    second = wall_ns // 1_000_000_000
    return any(
        mark and mark[0] // 1_000_000_000 >= second and path.endswith(b".py")
        for path, mark in seen.marks.items()
    )


def settle(take_again: "Callable[[], Fingerprint]", wall_ns: "Callable[[], int]") -> Fingerprint:
    """A fingerprint in which every later write shows; waits for a tick where it has to.

    Files that somebody keeps writing to are not waited for; the content check that follows
    is what finds them.
    """
    found = take_again()
    for _ in range(4):
        if found.settled(wall_ns()):
            break
        _pause_ms(TICK_NS // 1_000_000 + 1)
        found = take_again()
    return found


def stat_of(path: str) -> Stat:
    """What `path` looks like now, links followed; None if it is not there or cannot be reached."""
    try:
        seen = os.stat(path)
    except (OSError, ValueError):
        return None
    return (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def still_holds(watched: "Iterable[tuple[str, Sequence[int] | None]]") -> bool:
    """Whether every path looks exactly as it was recorded, absent ones included."""
    for path, recorded in watched:
        now = stat_of(path)
        if now is None or recorded is None:
            if now is not None or recorded is not None:
                return False
        elif now != tuple(recorded):
            return False
    return True


def _pause_ms(milliseconds: int) -> None:
    import select

    select.poll().poll(milliseconds)
