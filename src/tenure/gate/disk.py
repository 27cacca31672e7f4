"""The files beside a store: what they take, and removing those that no record names any more.

Records go first, files after. Whoever is killed in between leaves files that nobody names,
which the next one finds; a record never names a file that was removed while it did.
"""

import fcntl
import os
import re
import shutil
from collections.abc import Iterable, Iterator

import msgspec

from tenure.gate.clearing import Named
from tenure.gate.place import Place
from tenure.kernel.points import point

_ATTEMPT = re.compile(r"[0-9a-f]{32}")
_ASIDE = ".cleared."  #: in front of an output that is on its way out


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of files, by kind."""

    database: int = 0
    runs: int = 0  #: logs, and what jobs printed
    outputs: int = 0  #: captured outputs
    locks: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.database + self.runs + self.outputs + self.locks + self.other


class Removed(msgspec.Struct, frozen=True, kw_only=True):
    """Files of one kind: how many, or how many directories, and their bytes."""

    count: int = 0
    size: int = 0


def usage(place: Place) -> Usage:
    """What a store takes on disk now."""
    kinds = dict.fromkeys(Usage.__struct_fields__, 0)
    for entry in _entries(place.root):
        kind = entry.name if entry.name in ("runs", "outputs", "locks") else "other"
        if entry.path.startswith(place.database):
            kind = "database"
        kinds[kind] += _size(entry.path)
    return Usage(**kinds)


def clear_runs(
    place: Place, named: Named, gone: Iterable[str], before_ns: int, *, dry: bool
) -> Removed:
    """Remove the directories of runs that are `gone`, and old ones of no recorded run."""
    gone = set(gone)
    paths = [
        entry.path
        for entry in _entries(place.runs)
        if entry.name in gone or (entry.name not in named.runs and _older(entry.path, before_ns))
    ]
    size = sum(map(_size, paths))
    for path in () if dry else paths:
        point("gc.run")
        shutil.rmtree(path, ignore_errors=True)
    return Removed(count=len(paths), size=size)


def clear_outputs(place: Place, named: Named, before_ns: int, *, dry: bool) -> Removed:
    """Remove old captured outputs that no receipt names.

    One that a run captures again meanwhile stays: it is a new file under the same name, and
    an old one is moved aside before it is looked at for the last time.
    """
    if named.since_ns is not None:  # it may have captured some whose receipts are to come
        before_ns = min(before_ns, named.since_ns)
    count = size = 0
    for entry in _entries(place.outputs):
        left = entry.name.removeprefix(_ASIDE)
        if left in named.outputs and left == entry.name:
            continue
        if left == entry.name and not _older(entry.path, before_ns):
            continue
        taken = _size(entry.path)
        if dry or _remove_output(place, entry, left, named, before_ns):
            count, size = count + 1, size + taken
    return Removed(count=count, size=size)


def _remove_output(
    place: Place, entry: "os.DirEntry[str]", name: str, named: Named, before_ns: int
) -> bool:
    aside = os.path.join(place.outputs, _ASIDE + name)
    try:
        if entry.name == name:
            os.rename(entry.path, aside)
            point("gc.output")
        if name in named.outputs or not _older(aside, before_ns):
            os.rename(aside, os.path.join(place.outputs, name))
            return False
        os.unlink(aside)
    except OSError:
        return False  # somebody else was faster, or it is left for the next time
    return True


def clear_locks(place: Place, named: Named, before_ns: int, *, dry: bool) -> Removed:
    """Remove old run locks that nobody holds and no unfinished attempt names."""
    paths = [
        entry.path
        for entry in _entries(place.locks)
        if _ATTEMPT.fullmatch(entry.name)
        and entry.name not in named.locks
        and _older(entry.path, before_ns)
        and _free(entry.path)
    ]
    size = sum(map(_size, paths))
    for path in () if dry else paths:
        try:
            os.unlink(path)
        except OSError:
            pass  # it is gone, which is what was wanted
    return Removed(count=len(paths), size=size)


def _free(path: str) -> bool:
    """Whether nobody holds the lock that this file is."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _entries(directory: str) -> "Iterator[os.DirEntry[str]]":
    """What is in a directory, by name; nothing if it is not there."""
    try:
        with os.scandir(directory) as found:
            yield from sorted(found, key=lambda entry: entry.name)
    except OSError:
        return


def _older(path: str, before_ns: int) -> bool:
    """Whether a file or directory was last changed before that. One that is gone was not."""
    try:
        return os.lstat(path).st_mtime_ns < before_ns
    except OSError:
        return False


def _size(path: str) -> int:
    """The bytes of a file, or of everything below a directory, as far as it is still there."""
    total = 0
    places = [path]
    while places:
        here = places.pop()
        try:
            found = os.lstat(here)
            if os.path.isdir(here) and not os.path.islink(here):
                places += [os.path.join(here, name) for name in os.listdir(here)]
            else:
                total += found.st_size
        except OSError:
            continue
    return total
