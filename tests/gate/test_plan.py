"""Only a pass of exactly this input is reused; everything else runs, and says why."""

import msgspec
import pytest

from tenure.gate.plan import Plan, make_plan
from tenure.gate.policy import Job, Policy
from tenure.gate.receipt import Receipt
from tenure.gate.requirement import RequirementSet, identify, requirements

PARTS = {"inputs": "tree 1", "env:DB": "digest of one"}


def required(*jobs: Job) -> RequirementSet:
    return requirements(None, Policy(file="tenure.toml", jobs={job.name: job for job in jobs}))


def job(name: str, *needs: str, reuse: bool = True) -> Job:
    return Job(name=name, run=("true",), needs=needs, reuse=reuse)


def receipt(name: str, outcome: str = "passed", parts: dict[str, str] = PARTS) -> Receipt:
    made = Receipt(
        id=f"{name}-1",
        repository="local",
        requirement=name,
        identity=identify(name, {**parts, "definition": name}).digest,
        parts={**parts, "definition": name},
        outcome="passed",
        attempt="a",
        run="r",
        worktree="/w",
        started_wall_ns=0,
        seconds=7.0,
        log="x",
    )
    return msgspec.structs.replace(made, outcome=outcome)


def plan(wanted: RequirementSet, *known: Receipt, intact: bool = True, rerun: bool = False) -> Plan:
    names = [requirement.name for requirement in wanted.requirements]
    return make_plan(
        wanted,
        {name: identify(name, {**PARTS, "definition": name}) for name in names},
        {each.identity: each for each in known},
        {each.requirement: each for each in known},
        lambda _: intact,
        rerun=rerun,
    )


def test_a_pass_of_exactly_this_input_is_reused() -> None:
    found = plan(required(job("lint"), job("test")), receipt("test"))
    assert list(found.reused) == ["test"]
    assert found.execute == {"lint": ("no earlier result",)}


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ("failed", "failed"),
        ("killed", "was killed"),
        ("timed_out", "timed out"),
        ("not_found", "was not found"),
    ],
)
def test_what_did_not_pass_is_never_reused(outcome: str, said: str) -> None:
    found = plan(required(job("test")), receipt("test", outcome))
    assert found.reused == {}
    assert found.execute == {"test": (f"its last run on exactly this input {said}",)}


def test_a_miss_names_every_part_that_differs() -> None:
    other = receipt("test", parts={"inputs": "tree 0", "env:DB": "digest of two"})
    found = plan(required(job("test")), other)
    assert found.execute == {"test": ("inputs changed", "env DB changed")}
    assert found.estimate == {"test": 7.0}


def test_a_receipt_whose_outputs_are_gone_is_not_reused() -> None:
    found = plan(required(job("test")), receipt("test"), intact=False)
    assert found.execute == {"test": ("the captured outputs of its last run are gone",)}


def test_rerun_reuses_nothing() -> None:
    found = plan(required(job("test")), receipt("test"), rerun=True)
    assert found.execute == {"test": ("asked to run again",)}


def test_a_job_that_may_not_be_reused_always_runs() -> None:
    found = plan(required(job("test", reuse=False)), receipt("test"))
    assert found.execute == {"test": ("its policy says reuse = false",)}


def test_what_a_job_to_be_run_needs_runs_too_however_far_away() -> None:
    wanted = required(job("fetch"), job("build", "fetch"), job("test", "build"), job("lint"))
    found = plan(wanted, receipt("fetch"), receipt("build"), receipt("lint"))
    assert list(found.reused) == ["lint"]
    assert found.execute == {
        "fetch": ("build needs it and has to run",),
        "build": ("test needs it and has to run",),
        "test": ("no earlier result",),
    }
