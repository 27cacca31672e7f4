"""The only module that reads a clock.

An instant carries two readings of one boot: time since that boot with sleep included, and
without. Two instants of different boots cannot be subtracted, and code that tries gets an
error instead of a number. Wall time rides along for people and decides nothing.
"""

import time
from typing import Protocol

import msgspec

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_OFFSETS = "/proc/self/timens_offsets"


class Instant(msgspec.Struct, frozen=True, kw_only=True):
    """A moment on one machine's boot, in nanoseconds. `boot` names the boot."""

    boot: str
    boot_ns: int  #: since the boot, suspended time included
    awake_ns: int  #: since the boot, suspended time excluded
    wall_ns: int  #: Unix time, to show to people; never compared

    def same_boot(self, other: "Instant") -> bool:
        """Whether the two readings can be subtracted."""
        return self.boot == other.boot


class Clock(Protocol):
    """Where time comes from. Handed in everywhere, so that tests hold it."""

    def now(self) -> Instant:
        """The present moment."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never steps back and stops in suspend, for deadlines."""
        ...


class SystemClock:
    """This machine's clocks, read as the host's even inside a time namespace."""

    def __init__(self) -> None:
        with open(_BOOT_ID, encoding="ascii") as file:
            self._boot = file.read().strip()
        self._awake_offset, self._boot_offset = _namespace_offsets()

    def now(self) -> Instant:
        """The present moment."""
        return Instant(
            boot=self._boot,
            boot_ns=time.clock_gettime_ns(time.CLOCK_BOOTTIME) - self._boot_offset,
            awake_ns=time.clock_gettime_ns(time.CLOCK_MONOTONIC) - self._awake_offset,
            wall_ns=time.time_ns(),
        )

    def monotonic(self) -> float:
        """Seconds, suspended time excluded."""
        return time.monotonic()


def _namespace_offsets() -> tuple[int, int]:
    """What a time namespace adds to the monotonic and the boot clock, in nanoseconds.

    Source: time_namespaces(7). Without the file there are no time namespaces.
    """
    offsets = {"monotonic": 0, "boottime": 0}
    try:
        with open(_OFFSETS, encoding="ascii") as file:
            for line in file:
                name, seconds, nanoseconds = line.split()
                offsets[name] = int(seconds) * 1_000_000_000 + int(nanoseconds)
    except FileNotFoundError:
        pass
    return offsets["monotonic"], offsets["boottime"]
