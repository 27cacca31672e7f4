"""The rules of attempts by themselves, before any store guards them a second time."""

import msgspec
import pytest

from tenure.kernel import attempt as attempts
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.errors import NotLicensed, RecordMissing, RevisionConflict
from tenure.kernel.takeover import Licence
from tenure.testing.clock import VirtualClock
from tenure.testing.conformance.requests import GONE, LAPSED, TTL, bind_request


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def bound(clock: VirtualClock) -> AttemptRecord:
    return attempts.begin(bind_request("ann"), 1, clock.now())


def test_a_retirement_is_of_the_revision_that_was_read(bound, clock):
    clock.advance(TTL)
    moved = attempts.renew(bound, bound.fence, clock.now())
    clock.advance(TTL)
    with pytest.raises(RevisionConflict):
        attempts.retire(moved, bound, "bob-run", LAPSED, clock.now())
    assert attempts.retire(moved, moved, "bob-run", LAPSED, clock.now()).revision == 3


def test_what_is_missing_or_finished_is_not_retired(bound, clock):
    clock.advance(TTL)
    with pytest.raises(RecordMissing):
        attempts.retire(None, bound, "bob-run", LAPSED, clock.now())
    settled = attempts.settle(bound, bound.fence, "failed", clock.now())
    with pytest.raises(RevisionConflict):
        attempts.retire(settled, settled, "bob-run", GONE, clock.now())


@pytest.mark.parametrize(
    ("ground", "silent", "licensed"),
    [
        ("lapsed", 0.0, False),
        ("lapsed", 29.9, False),
        ("lapsed", 30.0, True),
        ("gone", 0.0, True),
        ("declared", 0.0, True),
    ],
)
def test_a_lapse_is_checked_again_where_it_is_used(bound, clock, ground, silent, licensed):
    """A licence may have been issued a moment ago, before the holder renewed."""
    clock.advance(silent)
    licence = Licence(ground=ground, evidence="because")
    if licensed:
        ended = attempts.retire(bound, bound, "bob-run", licence, clock.now())
        assert ended.outcome == "cancelled"
        assert ended.retired is not None
        assert ended.retired.evidence == f"{ground}: because"
    else:
        with pytest.raises(NotLicensed):
            attempts.retire(bound, bound, "bob-run", licence, clock.now())


def test_a_joined_attempt_is_finished_at_birth(bound, clock):
    joined = attempts.join(bind_request("bob"), 2, bound.id, clock.now())
    assert (joined.outcome, joined.joined, joined.settled_at) == ("joined", bound.id, clock.now())
    assert not joined.bound


@pytest.mark.parametrize(
    "impossible",
    [
        {"outcome": "passed"},
        {"outcome": "joined", "joined": "x"},
        {"joined": "x"},
    ],
)
def test_a_record_is_finished_exactly_once_or_it_is_not_a_record(bound, impossible):
    with pytest.raises(AssertionError):
        msgspec.structs.replace(bound, **impossible)


def test_every_rule_leaves_the_record_it_was_given_as_it_was(bound, clock):
    before = msgspec.json.encode(bound)
    clock.advance(TTL)
    attempts.renew(bound, bound.fence, clock.now())
    attempts.settle(bound, bound.fence, "passed", clock.now())
    attempts.retire(bound, bound, "bob-run", LAPSED, clock.now())
    assert msgspec.json.encode(bound) == before
