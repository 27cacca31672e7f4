"""What a lapse is, written out by hand."""

import msgspec
import pytest

from tenure.kernel import lease as leases
from tenure.kernel.clock import Instant
from tenure.kernel.errors import ConfigurationError
from tenure.kernel.lease import Lease, LeaseTimings

SECOND = 1_000_000_000
TIMINGS = LeaseTimings(ttl=30.0, renew_interval=10.0)


def instant(*, boot: str = "b", seconds: float = 0.0, asleep: float = 0.0) -> Instant:
    """So long after the start, of which the machine slept a part."""
    return Instant(
        boot=boot,
        boot_ns=1000 * SECOND + round(seconds * SECOND),
        awake_ns=900 * SECOND + round((seconds - asleep) * SECOND),
        wall_ns=1,
    )


LEASE = leases.begin(instant(), TIMINGS)

LAPSES = [
    # (seconds since the renewal, of them asleep, lapsed, seconds until it can lapse)
    (0, 0, False, 30),
    (10, 0, False, 20),
    (29.999, 0, False, 0.001),
    (30, 0, True, 0),
    (1e9, 0, True, 0),
    (30, 20.001, False, 0.001),  # it slept through its ttl and was awake for less than an interval
    (30, 20, True, 0),
    (30, 30, False, 10),
    (1000, 1000, False, 10),
    (1009.999, 1000, False, 0.001),
    (1010, 1000, True, 0),
    (25, 25, False, 10),
    (12, 12, False, 18),
]


@pytest.mark.parametrize(("seconds", "asleep", "lapsed", "remaining"), LAPSES)
def test_a_lease_lapses_by_age_and_after_an_interval_awake(seconds, asleep, lapsed, remaining):
    now = instant(seconds=seconds, asleep=asleep)
    assert leases.lapsed(LEASE, now) is lapsed
    assert leases.remaining(LEASE, now) == pytest.approx(remaining)


@pytest.mark.parametrize("seconds", [-999, 0, 1, 1e6])
def test_another_boot_is_a_lapse_whatever_its_clocks_say(seconds):
    assert leases.lapsed(LEASE, instant(boot="another", seconds=seconds))
    assert leases.remaining(LEASE, instant(boot="another", seconds=seconds)) == 0.0


def test_a_clock_that_moved_back_lapses_nothing():
    assert not leases.lapsed(LEASE, instant(seconds=-500))
    assert leases.remaining(LEASE, instant(seconds=-500)) == 530.0


@pytest.mark.parametrize("wall", [0, 1, 10**19])
def test_the_wall_decides_nothing(wall):
    fresh = msgspec.structs.replace(instant(seconds=1), wall_ns=wall)
    old = msgspec.structs.replace(instant(seconds=31), wall_ns=wall)
    assert not leases.lapsed(LEASE, fresh)
    assert leases.lapsed(LEASE, old)


def test_age_counts_from_the_last_renewal_and_not_from_the_acquisition():
    renewed = leases.renew(LEASE, instant(seconds=25))
    assert renewed.acquired == instant()
    assert not leases.lapsed(renewed, instant(seconds=54.9))
    assert leases.lapsed(renewed, instant(seconds=55))


def test_a_renewal_never_moves_back_on_one_boot():
    renewed = leases.renew(LEASE, instant(seconds=10))
    assert leases.renew(renewed, instant(seconds=9)) == renewed


def test_a_renewal_on_another_boot_starts_from_its_clocks():
    later_boot = instant(boot="another", seconds=-990)
    assert leases.renew(LEASE, later_boot).renewed == later_boot


def test_a_renewal_asks_no_clock_whether_it_is_late():
    assert leases.renew(LEASE, instant(seconds=1e9)).renewed == instant(seconds=1e9)


@pytest.mark.parametrize(
    ("ttl", "interval"),
    [
        (0, 0),
        (30, 0),
        (0, 10),
        (-30, -10),
        (-30, 10),
        (float("nan"), 10),
        (30, float("nan")),
        (float("inf"), 10),
        (float("inf"), float("inf")),
        (29.999, 10),
        (10, 10),
    ],
)
def test_timings_that_cannot_work_are_refused(ttl, interval):
    with pytest.raises(ConfigurationError):
        LeaseTimings(ttl, interval)


@pytest.mark.parametrize(("ttl", "interval"), [(30, 10), (0.3, 0.1), (0.9, 0.3), (3e-9, 1e-9)])
def test_two_missed_renewals_fit_into_the_shortest_ttl(ttl, interval):
    timings = LeaseTimings(ttl, interval)
    assert timings.ttl_ns == 3 * timings.renew_interval_ns


def test_doubt_is_retried_four_times_an_interval():
    assert TIMINGS.retry_pace == 2.5


def test_a_stored_lease_with_impossible_timings_does_not_parse():
    text = msgspec.json.encode(LEASE).replace(b"30.0", b"3.0")
    with pytest.raises(ConfigurationError):
        msgspec.json.decode(text, type=Lease)
