"""What a job's definition is made of, and how two policies differ."""

import msgspec
import pytest

from tenure.gate.policy import (
    DEFAULT_LEASE,
    LATER,
    STAGES,
    Job,
    Policy,
    Slot,
    changed_keys,
    compare,
    definition_digest,
    keys_of,
    policy_digest,
    reference_rows,
)
from tenure.gate.policy_text import parse
from tenure.kernel.lease import LeaseTimings

JOB = Job(
    name="test",
    run=("pytest", "-q"),
    stage="test",
    inputs=("src/**", "tests/**"),
    outputs=("report.xml", "coverage.json"),
    needs=("build", "lint"),
    env=("DATABASE_URL", "PORT"),
    pass_env=("SSH_AUTH_SOCK", "DISPLAY"),
    set_env={"PROFILE": "ci", "SEED": "1"},
    context=(("ruff", "--version"), ("node", "--version")),
    timeout_seconds=600.0,
    reuse=True,
    cwd="sub",
)

#: For every field, other values than JOB's. A new field needs a line here.
MUTATIONS: dict[str, list] = {
    "name": ["tests", ""],
    "run": [("pytest",), ("pytest -q",), "pytest -q", ("pytest", "-q", ""), ("-q", "pytest")],
    "stage": ["check", "build", "fix"],
    "inputs": [None, (), ("src/**",), ("src/**tests/**",), ("src/**", "tests/**", "x")],
    "outputs": [(), ("report.xml",), ("report.xml", "coverage.xml")],
    "needs": [(), ("build",), ("build", "lints")],
    "env": [(), ("DATABASE_URL",), ("DATABASE_URL", "port")],
    "pass_env": [(), ("SSH_AUTH_SOCK",)],
    "set_env": [
        {},
        {"PROFILE": "ci"},
        {"PROFILE": "dev", "SEED": "1"},
        {"PROFILE": "1", "SEED": "ci"},
    ],
    "context": [(), (("ruff", "--version"),), (("ruff --version",), ("node", "--version"))],
    "timeout_seconds": [None, 600.5, 60.0],
    "retries": [1, 2],
    "reuse": [False],
    "cwd": [".", "sub2"],
}

#: What says when a job may run.
PLACEMENT = {"slot": Slot(name="heavy", size=2), "holds": ("db",)}

KEY_OF_FIELD = {
    "pass_env": "pass-env",
    "set_env": "set-env",
    "timeout_seconds": "timeout",
}


def test_every_field_of_a_job_has_mutations():
    assert set(MUTATIONS) | set(PLACEMENT) == set(Job.__struct_fields__)


@pytest.mark.parametrize("field", MUTATIONS)
def test_every_field_of_a_job_changes_its_definition(field):
    digests = {definition_digest(JOB)}
    for value in MUTATIONS[field]:
        changed = msgspec.structs.replace(JOB, **{field: value})
        digests.add(definition_digest(changed))
        assert changed_keys(JOB, changed) == (KEY_OF_FIELD.get(field, field),)
    assert len(digests) == len(MUTATIONS[field]) + 1


@pytest.mark.parametrize("field", PLACEMENT)
def test_when_a_job_may_run_is_no_part_of_its_definition(field):
    moved = msgspec.structs.replace(JOB, **{field: PLACEMENT[field]})
    assert definition_digest(moved) == definition_digest(JOB)
    assert changed_keys(JOB, moved) == ()


def test_no_two_fields_are_confused_with_each_other():
    """The same value in another field is another definition."""
    fields = ("outputs", "needs", "env", "pass_env")
    bare = Job(name="a", run=("x",))
    digests = {definition_digest(msgspec.structs.replace(bare, **{f: ("A",)})) for f in fields}
    assert len(digests) == len(fields)


@pytest.mark.parametrize("field", ["inputs", "outputs", "needs", "env", "pass_env"])
def test_the_order_of_names_is_not_part_of_a_definition(field):
    turned = msgspec.structs.replace(JOB, **{field: tuple(reversed(getattr(JOB, field)))})
    assert definition_digest(turned) == definition_digest(JOB)
    assert changed_keys(JOB, turned) == ()


@pytest.mark.parametrize("field", ["run", "context"])
def test_the_order_of_words_and_commands_is_part_of_a_definition(field):
    turned = msgspec.structs.replace(JOB, **{field: tuple(reversed(getattr(JOB, field)))})
    assert definition_digest(turned) != definition_digest(JOB)


def test_a_shell_command_is_executed_by_the_shell_and_a_list_as_it_is():
    assert Job(name="a", run="x | y").argv == ("/bin/sh", "-c", "x | y")
    assert Job(name="a", run=("x", "| y")).argv == ("x", "| y")


def policy(*jobs: Job, trunk: str | None = None, **more) -> Policy:
    return Policy(file="tenure.toml", trunk=trunk, jobs={job.name: job for job in jobs}, **more)


def test_a_policy_digest_covers_jobs_and_trunk_and_nothing_else():
    lint = Job(name="lint", run=("ruff",))
    one = policy(lint, JOB, trunk="main")
    same = Policy(
        file="pyproject.toml",
        trunk="main",
        jobs={"test": JOB, "lint": lint},
        lease=LeaseTimings(ttl=3.0, renew_interval=1.0),
    )
    assert policy_digest(one) == policy_digest(same)
    others = [
        policy(lint, JOB, trunk="master"),
        policy(lint, JOB),
        policy(lint, trunk="main"),
        policy(lint, msgspec.structs.replace(JOB, cwd="."), trunk="main"),
    ]
    assert len({policy_digest(p) for p in [one, *others]}) == 5


def test_two_policies_are_compared_job_by_job_in_file_order():
    keep, gone, old = (Job(name=n, run=("x",)) for n in ("keep", "gone", "changed"))
    new = Job(name="changed", run=("true",))
    added = Job(name="added", run=("x",))
    found = compare(policy(old, gone, keep), policy(added, keep, new))
    assert found.same == ("keep",)
    assert found.added == ("added",)
    assert found.changed == ("changed",)
    assert found.removed == ("gone",)


def test_a_job_moved_in_the_file_is_the_same_job():
    a, b = Job(name="a", run=("x",)), Job(name="b", run=("y",))
    found = compare(policy(a, b), policy(b, a))
    assert found.same == ("b", "a")
    assert (found.added, found.changed, found.removed) == ((), (), ())


def test_the_reference_lists_every_key_once_with_a_meaning():
    rows = reference_rows()
    places = [(row.table, row.key) for row in rows]
    assert len(set(places)) == len(places)
    assert {row.table for row in rows} == {
        "",
        "gate",
        "jobs.NAME",
        "setup",
        "slots",
        "standards.NAME",
    }
    assert all(row.type and row.default and row.meaning.endswith(".") for row in rows)


def test_the_reference_knows_every_field_of_a_job():
    fields = {KEY_OF_FIELD.get(field, field) for field in Job.__struct_fields__}
    assert set(keys_of("jobs.NAME")) == fields - {"name"} | {"shell"}


def test_no_key_is_both_known_and_of_a_later_version():
    for table, keys in LATER.items():
        assert not keys & set(keys_of(table))


def test_the_defaults_in_the_reference_are_the_real_ones():
    job = parse("tenure.toml", b"[jobs.a]\nrun = 'x'\n").jobs["a"]
    rows = {(row.table, row.key): row.default for row in reference_rows()}
    assert rows["jobs.NAME", "stage"] == '"check"'
    assert job.stage == "check"
    assert rows["jobs.NAME", "inputs"] == "the whole tree"
    assert job.inputs is None
    for key in ("outputs", "needs", "env", "pass-env", "context"):
        assert rows["jobs.NAME", key] == "[]"
    assert (job.outputs, job.needs, job.env, job.pass_env, job.context) == ((), (), (), (), ())
    assert rows["jobs.NAME", "set-env"] == "{}"
    assert job.set_env == {}
    assert rows["jobs.NAME", "timeout"] == "none"
    assert job.timeout_seconds is None
    assert rows["jobs.NAME", "reuse"] == "true"
    assert job.reuse is True
    assert rows["jobs.NAME", "cwd"] == '"."'
    assert job.cwd == "."
    assert rows["gate", "lease_ttl"] == '"60s"'
    assert rows["gate", "renew_interval"] == '"20s"'
    assert LeaseTimings(ttl=60.0, renew_interval=20.0) == DEFAULT_LEASE


def test_the_stages_are_the_ones_in_the_reference():
    (row,) = [row for row in reference_rows() if row.key == "stage"]
    assert [word.strip('",') for word in row.type.split() if '"' in word] == list(STAGES)
