"""A limit is kept exactly up to its margin, in both directions, and a pin only ever tightens."""

import msgspec
import pytest

from tenure.gate.measurement import told
from tenure.gate.standard import (
    Metric,
    Standard,
    StandardRequirement,
    loosened,
    measured,
    remade,
    standard_digest,
)

METRIC = Metric(kind="json", what="totals.percent", file="coverage.json")


def standard(limit="87.5", margin="0", direction="up", metric=METRIC, job="test"):
    return Standard(
        name="coverage", job=job, metric=metric, direction=direction, limit=limit, margin=margin
    )


def tenths(count):
    """A number of tenths as it would be written."""
    return f"{count // 10}.{count % 10}" if count % 10 else str(count // 10)


# ── Judging ──────────────────────────────────────────────────────────────────────────────


TENTHS = [tenths(count) for count in range(1001)]


def test_every_pair_of_tenths_at_exactly_the_margin_is_met():
    """84.4 - 84.1 > 0.3 in floats: whoever subtracts those is wrong for two pairs in five."""
    for limit in range(1001):
        for margin in range(limit + 1):
            up = standard(TENTHS[limit], TENTHS[margin])
            assert up.keeps(TENTHS[limit - margin]), (limit, margin)


def test_a_tenth_beyond_the_margin_is_not_met_and_down_is_the_mirror_of_up():
    for limit in range(1001):
        for margin in {1, 2, 3, 5, 7, 10, limit, limit * 7 % 1001}:
            up, down = (standard(TENTHS[limit], TENTHS[margin], way) for way in ("up", "down"))
            assert down.keeps(tenths(limit + margin)), (limit, margin)
            assert not down.keeps(tenths(limit + margin + 1)), (limit, margin)
            if limit > margin:
                assert not up.keeps(TENTHS[limit - margin - 1]), (limit, margin)


@pytest.mark.parametrize(
    ("limit", "margin", "direction", "value", "kept"),
    [
        ("87.5", "0", "up", "87.5", True),
        ("87.5", "0", "up", "87.49999999999999999999", False),
        ("87.5", "0", "up", "100", True),
        ("87.5", "0.1", "up", "87.4", True),
        ("87.5", "0.1", "up", "87.39999999999999999999", False),
        ("10", "0", "down", "10", True),
        ("10", "0", "down", "10.00000000000000000001", False),
        ("10", "2", "down", "12", True),
        ("10", "2", "down", "13", False),
        ("0", "0", "down", "0", True),
        ("-5", "1", "up", "-6", True),
        ("-5", "1", "up", "-7", False),
    ],
)
def test_a_limit_is_kept_exactly(limit, margin, direction, value, kept):
    assert standard(limit, margin, direction).keeps(value) is kept


# ── What is told ─────────────────────────────────────────────────────────────────────────


def required(**how):
    return StandardRequirement(name="coverage", standard=standard(**how), job="test@base")


def test_what_is_told_has_the_numbers_that_were_judged():
    found = measured(required(margin="0.3"), "84.1", receipt="r1")
    assert (found.verdict, found.receipt) == ("missed", "r1")
    assert told(found) == (
        "84.1 is below the limit (limit 87.5, margin 0.3, direction up; "
        "read from coverage.json (json totals.percent) of test@base)"
    )


def test_a_number_that_keeps_the_limit_is_told_with_it():
    found = measured(required(limit="3", direction="down"), "2", receipt="r1")
    assert found.verdict == "met"
    assert told(found) == (
        "2 keeps the limit (limit 3, direction down; "
        "read from coverage.json (json totals.percent) of test@base)"
    )


def test_what_was_not_measured_is_no_number():
    found = measured(required(limit="0"), None, receipt="r1", detail="there is no totals")
    assert (found.verdict, found.value) == ("unmeasured", None)
    assert told(found).startswith("it was not measured: there is no totals (limit 0, ")
    assert measured(required(), None, receipt=None, detail="x").verdict == "unrun"


# ── Changes ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("old", "new", "how"),
    [
        ({}, {}, ""),
        ({}, {"limit": "88"}, ""),
        ({}, {"limit": "87.4"}, "limit from 87.5 to 87.4"),
        ({}, {"margin": "0.1"}, "margin from 0 to 0.1"),
        ({"margin": "0.2"}, {"margin": "0.1"}, ""),
        ({}, {"limit": "88", "margin": "0.5"}, ""),
        (
            {},
            {"limit": "88", "margin": "0.6"},
            "limit from 87.5 to 88 and margin from 0 to 0.6",
        ),
        ({}, {"direction": "down"}, "direction from 'up' to 'down'"),
        ({"direction": "down"}, {"direction": "down", "limit": "87.4"}, ""),
        (
            {"direction": "down"},
            {"direction": "down", "limit": "87.6"},
            "limit from 87.5 to 87.6",
        ),
        ({"direction": "down"}, {"direction": "down", "margin": "0.1"}, "margin from 0 to 0.1"),
    ],
)
def test_what_allows_more_than_before_is_looser(old, new, how):
    assert loosened(standard(**old), standard(**new)) == how


def test_a_number_that_is_read_elsewhere_is_another_one():
    old = standard()
    assert not remade(old, standard(limit="1", margin="2", direction="down"))
    assert remade(old, standard(job="other"))
    for metric in (
        msgspec.structs.replace(METRIC, kind="regex"),
        msgspec.structs.replace(METRIC, what="x"),
        msgspec.structs.replace(METRIC, file="other.json"),
    ):
        assert remade(old, standard(metric=metric))


def test_every_field_is_part_of_the_definition():
    others = [
        standard(limit="87.6"),
        standard(margin="1"),
        standard(direction="down"),
        standard(job="other"),
        standard(metric=Metric(kind="line", what="coverage")),
    ]
    assert len({standard_digest(each) for each in [standard(), *others]}) == 6


# ── Pins ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("how", "value", "pinned"),
    [
        ({}, "90", "90"),
        ({}, "87.5", "87.5"),
        ({}, "80", "87.5"),
        ({"margin": "0.5"}, "90", "89.5"),
        ({"margin": "0.5"}, "88", "87.5"),
        ({"margin": "0.5"}, "87.9", "87.5"),
        ({"direction": "down"}, "80", "80"),
        ({"direction": "down"}, "90", "87.5"),
        ({"direction": "down", "margin": "2"}, "80", "82"),
        ({"direction": "down", "margin": "2"}, "86", "87.5"),
    ],
)
def test_a_pin_stays_a_margin_short_of_what_was_measured_and_never_loosens(how, value, pinned):
    assert standard(**how).pinned(value) == pinned


@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_number_that_scatters_within_its_margin_never_turns_red_by_being_pinned(direction):
    """Whatever the luckiest run was that somebody pinned, the unluckiest one still passes."""
    scattered = ["50", "49.3", "50.7", "49", "51", "50.2"]  # 50 give or take 1
    kept = standard("0" if direction == "up" else "100", "1", direction)
    for value in scattered:
        limit = kept.pinned(value)
        kept = standard(limit, "1", direction)
        assert all(kept.keeps(each) for each in scattered), f"pinned at {value}"
    assert kept.limit == ("50")
