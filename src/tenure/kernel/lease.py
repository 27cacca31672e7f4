"""Leases: how long a silent holder is left alone. The only module that compares one with a clock.

A lapsed lease ends nothing. It licenses somebody else to ask for a takeover, and the
record decides who gets it.
"""

import msgspec

from tenure.kernel.clock import Instant
from tenure.kernel.errors import ConfigurationError

_SECOND = 1_000_000_000
_INFINITE = float("inf")


class LeaseTimings(msgspec.Struct, frozen=True):
    """How long a hold is left alone (`ttl`) and how often it renews, both in seconds.

    A holder that misses two renewals must still be inside its ttl, so `ttl` is at least
    three intervals.

    Raises:
        ConfigurationError: a value is not positive and finite, or `ttl < 3 * renew_interval`.
    """

    ttl: float
    renew_interval: float

    def __post_init__(self) -> None:
        if not (0 < self.renew_interval < _INFINITE and 0 < self.ttl < _INFINITE):
            raise ConfigurationError(
                what=f"lease timings must be positive and finite, got ttl={self.ttl} s and "
                f"renew_interval={self.renew_interval} s"
            )
        if self.ttl_ns < 3 * self.renew_interval_ns:
            raise ConfigurationError(
                what=f"ttl={self.ttl} s must be at least three times "
                f"renew_interval={self.renew_interval} s, so that two missed renewals cost nothing"
            )

    @property
    def ttl_ns(self) -> int:
        """`ttl` in nanoseconds."""
        return round(self.ttl * _SECOND)

    @property
    def renew_interval_ns(self) -> int:
        """`renew_interval` in nanoseconds."""
        return round(self.renew_interval * _SECOND)

    @property
    def retry_pace(self) -> float:
        """Seconds between tries while in doubt, and the longest a store call may take."""
        return self.renew_interval / 4


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The stored timestamps of a hold."""

    acquired: Instant
    renewed: Instant
    timings: LeaseTimings


def begin(now: Instant, timings: LeaseTimings) -> Lease:
    """A lease acquired now."""
    return Lease(acquired=now, renewed=now, timings=timings)


def renew(lease: Lease, now: Instant) -> Lease:
    """The same lease renewed now. On one boot a renewal never moves back in time."""
    if now.same_boot(lease.renewed) and now.boot_ns < lease.renewed.boot_ns:
        return lease
    return msgspec.structs.replace(lease, renewed=now)


def lapsed(lease: Lease, now: Instant) -> bool:
    """Whether a takeover is licensed.

    Another boot means that whoever held this is gone. On the same boot the lease must be
    older than its ttl, sleep included, and the machine must have been awake for a renewal
    interval since, so that a holder which just woke up can renew first.
    """
    last = lease.renewed
    if not now.same_boot(last):
        return True
    age = now.boot_ns - last.boot_ns
    awake = now.awake_ns - last.awake_ns
    return age >= lease.timings.ttl_ns and awake >= lease.timings.renew_interval_ns


def remaining(lease: Lease, now: Instant) -> float:
    """Seconds until the lease can lapse, for people and for pacing; 0.0 once it has."""
    if lapsed(lease, now):
        return 0.0
    age = lease.timings.ttl_ns - (now.boot_ns - lease.renewed.boot_ns)
    awake = lease.timings.renew_interval_ns - (now.awake_ns - lease.renewed.awake_ns)
    return max(age, awake, 0) / _SECOND
