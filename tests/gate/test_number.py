"""Numbers are the decimals that are written. Nothing is rounded, and nothing absurd is taken."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.errors import UsageError
from tenure.gate.number import at_most, minus, number, plus


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("87.5", "87.5"),
        ("87.50", "87.5"),
        ("+87.5", "87.5"),
        ("8.75e1", "87.5"),
        ("8.75E+1", "87.5"),
        ("875e-1", "87.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("1e3", "1000"),
        ("0", "0"),
        ("-0", "0"),
        ("-0.00", "0"),
        ("-3.10", "-3.1"),
        ("100", "100"),
        ("0." + "1" * 50, "0." + "1" * 50),
        ("9" * 50, "9" * 50),
    ],
)
def test_a_number_has_one_way_to_be_written(text, written):
    assert number(text) == written


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "1 ", "1,5", "1_000", "0x10", "87.5%", "one", "1.2.3", "--1", "e5", "."),
        *("nan", "NaN", "inf", "Infinity", "-inf", "sNaN", "١", "1\n"),
        *("1e51", "1e50", "1e-51", "1e999999999", "1e-999999999", "0e999999999"),
        *("9" * 51, "0." + "1" * 51, "1" * 1000),
    ],
)
def test_what_is_no_handy_decimal_number_is_refused(text):
    with pytest.raises(UsageError):
        number(text)


LIKELY = st.decimals(allow_nan=False, allow_infinity=False, places=7).map(str)


@given(LIKELY, LIKELY)
def test_sums_and_comparisons_are_exact(one, other):
    one, other = number(one), number(other)
    assert Fraction(plus(one, other)) == Fraction(one) + Fraction(other)
    assert Fraction(minus(one, other)) == Fraction(one) - Fraction(other)
    assert at_most(one, other) == (Fraction(one) <= Fraction(other))


def test_the_smallest_is_not_lost_beside_the_greatest():
    great, small = "9" * 50, "0." + "0" * 49 + "1"
    assert plus(great, small) == "9" * 50 + "." + "0" * 49 + "1"
