"""Slots and holds in a policy: their sizes, and what is wrong with them."""

import pytest

from tenure.gate.errors import PolicyError
from tenure.gate.policy import Slot
from tenure.gate.policy_text import parse

RUN = '[jobs.test]\nrun = "x"\n'

ERRORS = [
    (RUN + "slot = 'haevy'\n", 3, "jobs.test.slot", "no slot 'haevy'", "did you mean 'heavy'?"),
    (RUN + "slot = 'gpu'\n", 3, "jobs.test.slot", "no slot 'gpu'", "its size under [slots]"),
    (RUN + "slot = 2\n", 3, "jobs.test.slot", "expected a string", ""),
    (RUN + "[slots]\nheavy = 0\n", 4, "slots.heavy", "0 is no number of places", "1 to 1024"),
    (RUN + "[slots]\nheavy = 1025\n", 4, "slots.heavy", "no number of places", "1 to 1024"),
    (RUN + "[slots]\nheavy = '2'\n", 4, "slots.heavy", "expected a number of places", ""),
    (RUN + "[slots]\nheavy = true\n", 4, "slots.heavy", "found a boolean", ""),
    (RUN + "[slots]\n'a/b' = 1\n", 4, 'slots."a/b"', "no name of a slot", "use letters"),
    (RUN + "holds = 'db'\n", 3, "jobs.test.holds", "expected a list of strings", '["db"]'),
    (RUN + "holds = ['../db']\n", 3, "jobs.test.holds[0]", "no name of what", "use letters"),
    (RUN + "holds = ['db', 'db']\n", 3, "jobs.test.holds[1]", "'db' is listed twice", ""),
]


@pytest.mark.parametrize(
    ("text", "line", "key", "what", "after"), ERRORS, ids=[f"{e[2]}-{e[3]}" for e in ERRORS]
)
def test_an_error_says_where_what_and_what_next(text, line, key, what, after):
    with pytest.raises(PolicyError) as caught:
        parse("tenure.toml", text.encode())
    (problem,) = caught.value.problems
    assert (problem.line, problem.key) == (line, key)
    assert what in problem.what
    assert after in problem.next


def test_a_slot_has_the_size_that_the_policy_gives_it_or_one_by_the_machine():
    policy = parse(
        "tenure.toml",
        b"[slots]\nheavy = 3\ngpu = 'auto'\n"
        b"[jobs.a]\nrun = 'x'\nslot = 'heavy'\nholds = ['db', 'port']\n"
        b"[jobs.b]\nrun = 'x'\nslot = 'gpu'\n[jobs.c]\nrun = 'x'\n",
    )
    a, b, c = policy.jobs.values()
    assert (a.slot, a.holds) == (Slot(name="heavy", size=3), ("db", "port"))
    assert b.slot == Slot(name="gpu", size=None)
    assert (c.slot, c.holds) == (None, ())
    bare = parse("tenure.toml", b"[jobs.a]\nrun = 'x'\nslot = 'heavy'\n")
    assert bare.jobs["a"].slot == Slot(name="heavy", size=None)
