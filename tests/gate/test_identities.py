"""Identities: the same in every process, and another one as soon as anything they stand for differs."""

import json
import os
import random
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.bundle import sha256
from tenure.gate.policy import Job, Policy, Slot, definition_digest, policy_digest
from tenure.gate.requirement import (
    identify,
    requirement_set_digest,
    requirements,
    subject,
)
from tenure.gate.standard import Metric, Standard, StandardRequirement, standard_digest
from tests.gate.bundles import bundle

WORDS = ("a", "b", "c", "é", "a b", "")


def policy(draw: random.Random) -> Policy:
    """Some policy: many names in every set and mapping that has an order to lose."""
    names = [f"job{number}" for number in range(draw.randrange(1, 6))]

    def words() -> tuple[str, ...]:
        return tuple(draw.sample(WORDS, draw.randrange(len(WORDS))))

    jobs = {
        name: Job(
            name=name,
            run=words() or "shell",
            inputs=words() or None,
            outputs=words(),
            needs=tuple(names[:at]),
            env=words(),
            pass_env=words(),
            set_env=dict(zip(words(), words(), strict=False)),
            context=(words(), words()),
            timeout_seconds=draw.choice([None, 0.1, 600.0]),
            retries=draw.randrange(3),
        )
        for at, name in enumerate(names)
    }
    metric = Metric(kind="line", what="share")
    standard = Standard(name="s", job=names[0], metric=metric, direction="up", limit="87.5")
    return Policy(file="tenure.toml", jobs=jobs, standards={"s": standard})


def identities(seed: int) -> list[str]:
    """Every identity that is made of some policies, and of what could be found for their jobs."""
    draw = random.Random(seed)
    found = [sha256(bundle())]
    for _ in range(60):
        old, new = policy(draw), policy(draw)
        required = requirements(old, new)
        each = [
            identify(
                one.name,
                {
                    "definition": definition_digest(one.job),
                    **{f"env:{name}": name for name in one.job.env},
                },
            )
            for one in required.requirements
        ]
        found += [policy_digest(old), requirement_set_digest(each, required.standards)]
        found += [item.digest for item in each]
        found.append(subject("done", found[-1], old.jobs, {*new.jobs, "x"}))
    return found


def test_identities_are_the_same_under_every_hash_seed():
    expected = identities(7)
    assert len(set(expected)) > 100, "and they are not all the same"
    ask = "import json; from tests.gate.test_identities import identities; print(json.dumps(identities(7)))"
    for seed in ("0", "1", "random"):
        said = subprocess.run(
            [sys.executable, "-c", ask],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        assert json.loads(said) == expected


# ── Anything that differs makes another one ──────────────────────────────────────────────

NAMES = st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple)
JOBS = st.builds(
    Job,
    name=st.sampled_from(["one", "two"]),
    run=st.one_of(st.sampled_from(["a", "b"]), NAMES),
    stage=st.sampled_from(["check", "test"]),
    inputs=st.one_of(st.none(), NAMES),
    outputs=NAMES,
    needs=NAMES,
    env=NAMES,
    pass_env=NAMES,
    set_env=st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2),
    context=st.lists(NAMES, max_size=1).map(tuple),
    timeout_seconds=st.sampled_from([None, 1.0, 60.0]),
    retries=st.integers(0, 1),
    reuse=st.booleans(),
    cwd=st.sampled_from([".", "a"]),
    slot=st.sampled_from([None, Slot(name="heavy")]),
    holds=NAMES,
)

#: What of a job its definition is not about, and the fields that are sets to it. By hand.
PLACEMENT = {"slot", "holds"}
SETS = {"inputs", "outputs", "needs", "env", "pass_env"}


def meaning(job: Job) -> dict[str, Any]:
    """What two definitions have to share to be the same one."""
    found = {}
    for field in Job.__struct_fields__:
        value = getattr(job, field)
        if field in SETS and value is not None:
            value = frozenset(value)
        if field not in PLACEMENT:
            found[field] = (type(value), value)
    return found


@given(JOBS, JOBS)
def test_two_definitions_share_a_digest_only_if_they_mean_the_same(one: Job, other: Job) -> None:
    same = meaning(one) == meaning(other)
    assert (definition_digest(one) == definition_digest(other)) == same


@given(JOBS, st.sampled_from(sorted(set(Job.__struct_fields__) - PLACEMENT)), JOBS)
def test_one_field_is_enough_to_make_another_definition(one: Job, field: str, other: Job) -> None:
    changed = msgspec.structs.replace(one, **{field: getattr(other, field)})
    same = meaning(one) == meaning(changed)
    assert (definition_digest(one) == definition_digest(changed)) == same


STANDARD = Standard(
    name="coverage",
    job="test",
    metric=Metric(kind="json", what="totals", file="coverage.json"),
    direction="up",
    limit="87.5",
    margin="0.1",
)
OTHERS: dict[str, Any] = {
    "name": "other",
    "job": "other",
    "metric": Metric(kind="json", what="totals", file="other.json"),
    "direction": "down",
    "limit": "87.50",
    "margin": "0",
}


@pytest.mark.parametrize("field", Standard.__struct_fields__)
def test_every_field_of_a_standard_makes_another_standard_and_another_set(field: str) -> None:
    other = msgspec.structs.replace(STANDARD, **{field: OTHERS[field]})
    assert standard_digest(other) != standard_digest(STANDARD)
    assert requirement_set_digest([], [needed(other)]) != requirement_set_digest(
        [], [needed(STANDARD)]
    )


@pytest.mark.parametrize("field", Metric.__struct_fields__)
def test_every_field_of_a_metric_makes_another_standard(field: str) -> None:
    other = msgspec.structs.replace(
        STANDARD.metric, **{field: "regex" if field == "kind" else "other"}
    )
    changed = msgspec.structs.replace(STANDARD, metric=other)
    assert standard_digest(changed) != standard_digest(STANDARD)


def needed(standard: Standard) -> StandardRequirement:
    return StandardRequirement(name="coverage", standard=standard, job="test")


@given(
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz"), max_size=4),
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from("xyz"), max_size=4),
)
def test_two_identities_are_the_same_only_if_all_parts_are(
    one: dict[str, str], other: dict[str, str]
) -> None:
    assert (identify("n", one).digest == identify("n", other).digest) == (one == other)
