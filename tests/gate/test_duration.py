"""Durations as people write them."""

import pytest

from tenure.gate.duration import parse_duration
from tenure.gate.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1h0m5s", 3605),
        ("2d", 172_800),
        ("250ms", 0.25),
        ("1s500ms", 1.5),
        ("0.5s", 0.5),
        ("1.5h", 5400),
        ("30d", 2_592_000),
    ],
)
def test_a_duration_is_numbers_with_units(text, seconds):
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        *("", "s", "10", "10 m", " 10m", "10m ", "10M", "m10", "-5s", "+5s", "1e3s", ".5s", "5.s"),
        *("10m1h", "5s5s", "1h30", "10min", "1,5h", "1h 30m", "١s", "1_0s", "ten minutes", "10m\n"),
    ],
)
def test_what_is_no_duration_is_refused_with_an_example(text):
    with pytest.raises(UsageError, match=r"is not a duration; write "):
        parse_duration(text)


@pytest.mark.parametrize("text", ["0s", "0h0m", "0.0ms", "31d", "9" * 400 + "h"])
def test_a_duration_is_more_than_nothing_and_at_most_thirty_days(text):
    with pytest.raises(UsageError, match=r"no time at all|at most thirty days"):
        parse_duration(text)


def test_a_bare_number_is_told_how_to_become_seconds():
    with pytest.raises(UsageError, match=r'write "600s" for seconds'):
        parse_duration("600")
