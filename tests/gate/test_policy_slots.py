"""Slots, holds and setup in a policy: what they mean, and what is wrong with them."""

import pytest

from tenure.gate.errors import PolicyError
from tenure.gate.policy import Job, Slot, policy_digest
from tenure.gate.policy_text import parse

RUN = '[jobs.test]\nrun = "x"\n'

ERRORS = [
    (RUN + "[gate]\nstore = 'x'\n", 4, "gate.store", "no absolute path", "from `/`"),
    (RUN + "[gate]\nstore = 'postgresql://h/d'\n", 4, "gate.store", "a server", "a directory"),
    (RUN + "[gate]\nstore = 1\n", 4, "gate.store", "expected a string", ""),
    ("store = '/x'\n" + RUN, 1, "store", "unknown key", ""),
    ("[setup]\n" + RUN, 1, "setup", "neither `run` nor `shell`", "say what is to be run"),
    ("[setup]\nrun = 'x'\nneeds = ['test']\n" + RUN, 3, "setup.needs", "unknown key", ""),
    ("[setup]\nrun = 'x'\ninputs = ['/x']\n" + RUN, 3, "setup.inputs[0]", "absolute", ""),
    ("[setup]\nrun = 'x'\nenv = ['GIT_DIR']\n" + RUN, 3, "setup.env[0]", "never reaches", ""),
    ("setup = 'uv sync'\n" + RUN, 1, "setup", "expected a table", ""),
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


def test_a_setup_is_read_as_a_job_is():
    policy = parse(
        "tenure.toml",
        b"[setup]\nrun = 'uv sync'\ninputs = ['uv.lock']\nenv = ['UV_INDEX']\npass-env = ['TOKEN']\n"
        b"set-env = { A = 'b' }\ntimeout = '5m'\ncwd = 'sub'\n[jobs.a]\nrun = 'x'\n",
    )
    assert policy.setup == Job(
        name="setup",
        run=("uv", "sync"),
        inputs=("uv.lock",),
        env=("UV_INDEX",),
        pass_env=("TOKEN",),
        set_env={"A": "b"},
        timeout_seconds=300.0,
        cwd="sub",
    )


def test_how_a_checkout_is_set_up_is_part_of_what_a_policy_requires():
    texts = ("", "[setup]\nrun = 'x'\n", "[setup]\nrun = 'y'\n")
    digests = {policy_digest(parse("tenure.toml", (text + RUN).encode())) for text in texts}
    assert len(digests) == 3
