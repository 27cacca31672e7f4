"""One canonical form: equal values meet, different values never do, in any process."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.digest import canonical, digest, keyed

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None, exclude_categories=()), max_size=6)
    | st.binary(max_size=6)
)
KEYS = st.text(max_size=4) | st.binary(max_size=4) | st.integers(-3, 3)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
        | st.frozensets(KEYS, max_size=4)
    ),
    max_leaves=12,
)


def shape(value):
    """The value as something whose `==` sees types: the oracle of what must not meet."""
    match value:
        case list() | tuple():
            return ("sequence", tuple(map(shape, value)))
        case dict():
            return ("mapping", frozenset((shape(k), shape(v)) for k, v in value.items()))
        case frozenset():
            return ("set", frozenset(map(shape, value)))
        case float():
            return ("float", value.hex())
    return (type(value).__name__, value)


@given(VALUES, VALUES)
def test_two_values_share_a_form_only_if_they_are_the_same(one, other):
    assert (canonical(one) == canonical(other)) == (shape(one) == shape(other))


@given(VALUES)
def test_no_value_meets_one_that_contains_it(value):
    assert canonical(value) not in {
        canonical([value]),
        canonical({"": value}),
        canonical([value, value]),
    }


@pytest.mark.parametrize(
    "values",
    [
        (None, "", b"", "None", False, 0, 0.0, [], {}, frozenset()),
        (1, True, "1", b"1", 1.0, [1], frozenset([1])),
        (["a", "b"], ["ab"], ["a,b"], ["a", ["b"]], [["a"], "b"], ["ab", ""], ["b", "a"]),
        ({"a": "b"}, {"b": "a"}, [["a", "b"]], {"a": None}, {}),
        ("<deleted>", None, "s9:<deleted>", ["<deleted>"], b"s9:<deleted>"),
        ("\udcc3\udca9", "é", b"\xc3\xa9"),
        (10**5000, 10**5000 + 1, -(10**5000)),
    ],
)
def test_lookalikes_are_kept_apart(values):
    assert len({canonical(value) for value in values}) == len(values)


def test_the_form_is_written_down():
    value = ("a", [1, None], {"k": b"\xff"}, True)
    assert canonical(value) == b"l29:s1:al7:i1:1n0:d8:s1:kb1:\xfft1:1"


def test_sets_and_mappings_have_no_order_and_sequences_have():
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})
    assert canonical({"a", "b", "c"}) == canonical(frozenset(["c", "b", "a"]))
    assert canonical(("a", "b")) == canonical(["a", "b"])
    assert canonical(("a", "b")) != canonical(("b", "a"))


@pytest.mark.parametrize("value", [object(), [object()], {"k": 1j}, {1j: "v"}, range(3)])
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(TypeError, match="no canonical form"):
        digest("thing", value)


def test_digests_of_different_kinds_never_meet():
    assert digest("job", "x") != digest("subject", "x")
    assert digest("a", ("b", "c")) != digest("ab", "c")
    assert len(digest("job", "x")) == 64


PROGRAM = """
from tenure.gate.digest import digest, keyed
words = {f"name{i}": frozenset(f"v{j}" for j in range(i)) for i in range(20)}
print(digest("thing", words), keyed(b"secret", "A", "value"))
"""


def test_a_digest_is_the_same_in_every_process():
    seen = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "4242", "random")
    }
    assert len(seen) == 1


def test_a_keyed_digest_tells_name_value_and_secret_apart():
    digests = [
        keyed(b"s", "A", "x"),
        keyed(b"s", "B", "x"),
        keyed(b"s", "A", "y"),
        keyed(b"t", "A", "x"),
        keyed(b"s", "A", ""),
        keyed(b"s", "A", None),
        keyed(b"s", "A", b"x"),
    ]
    assert len(set(digests)) == len(digests)
    assert keyed(b"s", "A", "x") == digests[0]


def test_a_keyed_digest_takes_undecodable_values():
    assert keyed(b"s", "A", "\udcff") != keyed(b"s", "A", "\udcfe")
