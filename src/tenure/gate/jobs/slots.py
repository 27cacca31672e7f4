"""Slots: what there is only so much of, and what a job has to have before it may start.

A slot is a directory with a file for each of its places, and a place is had by a flock on its
file. The job inherits the descriptor, so the place is free when the last process of the job
is gone, however that went. What only one may have at a time is a slot of one place.

Nobody waits while having something: all that a job needs is looked at together, and it gets
all of it or nothing, so that no two can wait for each other. Looking opens files for reading
only, and a place is taken on a descriptor that is open for writing. So whoever watches the
directory for such a descriptor's end is woken when a place is free, and by nothing else.
"""

import fcntl
import os
from collections.abc import Sequence

import msgspec

from tenure.gate.wire import encoded


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who has a place, as it wrote into it."""

    run: str
    job: str
    worktree: str
    size: int = 0  #: how many places it knows of; 0: it did not say

    def __str__(self) -> str:
        return f"{self.job} of run {self.run} in {self.worktree}" if self.run else "somebody"


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """A slot as one job sees it: `size` is how many may have it at a time, as far as it knows."""

    directory: str
    name: str  #: for people: "slot heavy", "hold db"
    size: int


class Busy(msgspec.Struct, frozen=True, kw_only=True):
    """A slot without a free place, and who has them. Nobody: somebody is just taking one."""

    slot: Slot
    limit: int
    holders: tuple[Holder, ...]


def take(slots: Sequence[Slot], holder: Holder) -> list[int] | Busy:
    """A place in each of the slots, as descriptors that have them, or what is in the way.

    There is a place as long as fewer have one than fit by the slot's own size, and by that of
    each who has one: where opinions differ, the smallest counts. Never blocks.

    Raises:
        OSError: a directory cannot be made or a place cannot be opened.
    """
    guards: list[int] = []
    free: list[tuple[Slot, str]] = []
    try:
        for slot in sorted(slots, key=lambda slot: slot.directory):
            if not _guard(slot, guards):
                return Busy(slot=slot, limit=slot.size, holders=())
            place = _room(slot)
            if isinstance(place, Busy):
                return place
            free.append((slot, place))
        return _occupy(free, holder)
    finally:
        for guard in guards:
            os.close(guard)


def holders(directory: str) -> tuple[Holder, ...]:
    """Who has a place in the slot that a directory is, now."""
    return tuple(found for _, found in _places(directory) if found is not None)


def _guard(slot: Slot, guards: list[int]) -> bool:
    """Let nobody look and take in between; False if somebody else does so just now."""
    os.makedirs(slot.directory, mode=0o700, exist_ok=True)
    guards.append(os.open(slot.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    return _locked(guards[-1], fcntl.LOCK_EX)


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _room(slot: Slot) -> str | Busy:
    """The path of a free place, there already or not."""
    places = _places(slot.directory)
    had = [found for _, found in places if found is not None]
    limit = min([slot.size, *(one.size for one in had if one.size)])
    if len(had) >= limit:
        return Busy(slot=slot, limit=limit, holders=tuple(had))
    unused = (path for path, found in places if found is None)
    return next(unused, os.path.join(slot.directory, str(len(places) + 1)))


def _places(directory: str) -> list[tuple[str, Holder | None]]:
    """Every place there ever was, and who has it."""
    try:
        names = sorted((n for n in os.listdir(directory) if n.isdecimal()), key=int)
    except FileNotFoundError:
        return []
    return [(path, _holder(path)) for path in (os.path.join(directory, name) for name in names)]


def _holder(path: str) -> Holder | None:
    """Who has the place, None if it is free."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if _locked(descriptor, fcntl.LOCK_SH):
            return None
        return msgspec.json.decode(os.pread(descriptor, 1 << 16, 0), type=Holder)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Holder(run="", job="", worktree="")
    finally:
        os.close(descriptor)


def _occupy(free: Sequence[tuple[Slot, str]], holder: Holder) -> list[int] | Busy:
    taken: list[int] = []
    try:
        for slot, path in free:
            taken.append(
                os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            )
            if not _locked(taken[-1], fcntl.LOCK_EX):  # somebody looks who takes nothing
                give_back(taken)
                return Busy(slot=slot, limit=slot.size, holders=())
            os.ftruncate(taken[-1], 0)
            os.pwrite(taken[-1], encoded(msgspec.structs.replace(holder, size=slot.size)), 0)
    except OSError:
        give_back(taken)
        raise
    return taken


def give_back(taken: Sequence[int]) -> None:
    """Have no place any more, as soon as no process of the job is left that has it too."""
    for descriptor in taken:
        os.close(descriptor)
