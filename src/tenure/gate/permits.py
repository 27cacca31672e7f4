"""Permits: which of a run's jobs may start because they have what they need, and which wait.

Nothing here blocks. A job that waits is asked for again when somebody lets go of something,
which the kernel tells, and every second in case it did not.
"""

import os
from collections.abc import Callable, Collection, Mapping
from typing import Final

import msgspec

from tenure.gate.errors import CannotTell
from tenure.gate.jobs import slots
from tenure.gate.jobs.slots import Busy, Holder, Slot
from tenure.gate.machine import slots_directory
from tenure.gate.narration import JobWaiting
from tenure.gate.place import Place
from tenure.gate.policy import Job
from tenure.gate.requirement import Requirement
from tenure.kernel.points import point

#: Seconds between two tries: at once after news, then twice as long each time.
_SHORTEST: Final = 0.005
_LONGEST: Final = 1.0


def places(size: int | None) -> int:
    """How many may have a slot of this size here, where None depends on the machine."""
    # All cores there are, whatever share of them we may use: everybody has to come to the same.
    return size if size is not None else max(1, (os.cpu_count() or 1) // 4)


def in_use(place: Place, environ: Mapping[str, str]) -> dict[str, tuple[Holder, ...]]:
    """Everything that a job has now: slots of the machine, holds of the repository.

    Raises:
        UsageError, CannotTell: as `slots_directory` does.
    """
    machine = slots_directory(environ)
    found = {f"slot {name}": os.path.join(machine, name) for name in sorted(os.listdir(machine))}
    found |= {f"hold {name}": directory for name, directory in place.holds().items()}
    had = {name: slots.holders(directory) for name, directory in found.items()}
    return {name: holders for name, holders in had.items() if holders}


class Permits:
    """What the jobs of one run have and wait for.

    `inside` are the runs that this one runs in a job of: what such a job has, it keeps for as
    long as we wait.
    """

    def __init__(
        self,
        holder: Holder,
        place: Place,
        environ: Mapping[str, str],
        tell: Callable[[JobWaiting], None],
        *,
        monotonic: Callable[[], float],
        jitter: Callable[[], float],
        inside: Collection[str] = (),
    ) -> None:
        self._holder = holder
        self._place = place
        self._environ = environ
        self._tell = tell
        self._monotonic = monotonic
        self._jitter = jitter
        self._inside = frozenset(inside)
        self._had: dict[str, list[int]] = {}
        self._waiting: dict[str, JobWaiting | None] = {}  #: and what was told of it
        self._machine = ""
        self._watch = -1
        self._watched: set[str] = set()
        self._pause = _SHORTEST
        self._next = 0.0

    @property
    def waiting(self) -> bool:
        """Whether a job waits for something that others have."""
        return bool(self._waiting)

    def fileno(self) -> int:
        """Readable when somebody let go of what is waited for; -1 if nothing can tell."""
        return self._watch

    def deadline(self) -> float:
        """When to ask again in any case."""
        return self._next

    def admit(self, requirement: Requirement) -> bool:
        """Take everything that a job needs, or nothing; whether it has it now.

        Raises:
            CannotTell: it would wait for the job that it runs in, or there is no place to
                keep slots in.
        """
        wanted, name = self._wanted(requirement.job), requirement.name
        if not wanted or name in self._had:
            return True
        if name in self._waiting and not self._due():
            return False
        found = self._take(wanted, name)
        if isinstance(found, Busy) and name not in self._waiting:
            self._waiting[name] = None
            self._look_out(wanted)
            found = self._take(wanted, name)  # it may have become free before the watch was set
        if isinstance(found, Busy):
            self._wait_for(name, found)
            return False
        self._waiting.pop(name, None)
        self._had[name] = found
        return True

    def descriptors(self, name: str) -> tuple[int, ...]:
        """What a job has, for it to inherit."""
        return tuple(self._had.get(name, ()))

    def release(self, name: str) -> None:
        """The job is over, or was not started after all."""
        slots.give_back(self._had.pop(name, ()))

    def forget(self) -> None:
        """Wait for nothing any more."""
        self._waiting.clear()
        self._watched.clear()
        if self._watch >= 0:
            os.close(self._watch)
            self._watch = -1

    def tried(self) -> None:
        """Everything that waits was asked for: the time until it is asked again begins."""
        if self._waiting and self._due():
            self._next = self._monotonic() + self._pause * (1.0 - self._jitter() / 2)
            self._pause = min(_LONGEST, self._pause * 2)

    def _due(self) -> bool:
        from tenure.gate.inotify import drain  # with ctypes, which costs who never waits

        if self._watch >= 0 and drain(self._watch):
            self._pause, self._next = _SHORTEST, self._monotonic()
        return self._monotonic() >= self._next

    def _wanted(self, job: Job) -> list[Slot]:
        wanted = [
            Slot(directory=self._place.hold(name), name=f"hold {name}", size=1)
            for name in job.holds
        ]
        if job.slot is not None:
            name = job.slot.name
            self._machine = self._machine or slots_directory(self._environ)
            directory = os.path.join(self._machine, name)
            size = places(job.slot.size)
            wanted.append(Slot(directory=directory, name=f"slot {name}", size=size))
        return wanted

    def _take(self, wanted: list[Slot], name: str) -> list[int] | Busy:
        try:
            return slots.take(wanted, msgspec.structs.replace(self._holder, job=name))
        except OSError as error:
            raise CannotTell(
                what=f"{name} cannot have what it needs: {error}",
                next="make these files writable for this process, with room on the disk",
            ) from error

    def _wait_for(self, name: str, busy: Busy) -> None:
        ours = [one for one in busy.holders if one.run in self._inside]
        if len(ours) >= busy.limit:
            raise CannotTell(
                what=f"{name} waits for the {busy.slot.name}, and this run is inside {ours[0]}, which has it",
                next="ask outside of that job, or let only one of the two need it",
            )
        told = JobWaiting(
            requirement=name,
            wanted=busy.slot.name,
            places=busy.limit,
            holders=tuple(str(one) for one in busy.holders),
            runs=tuple(one.run for one in busy.holders),
        )
        point("permits.waiting")
        if busy.holders and told != self._waiting.get(name):
            self._waiting[name] = told
            self._tell(told)

    def _look_out(self, wanted: list[Slot]) -> None:
        """Be woken by what is let go of. Without that it is asked for every second."""
        from tenure.gate.inotify import CLOSED, watch

        self._watched.update(slot.directory for slot in wanted)
        before, self._watch = self._watch, -1
        if before >= 0:
            os.close(before)
        try:
            self._watch = watch(*self._watched, events=CLOSED)
        except OSError:
            pass  # the machine is short of watches
        self._pause, self._next = _SHORTEST, self._monotonic()
