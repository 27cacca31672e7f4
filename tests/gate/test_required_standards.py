"""A branch may add and tighten standards; what it loosens or drops is named, what it reads elsewhere is met twice."""

import msgspec
import pytest

from tenure.gate.errors import UsageError
from tenure.gate.policy import Job, Policy
from tenure.gate.requirement import Objection, identify, requirement_set_digest, requirements
from tenure.gate.standard import Metric, Standard, StandardRequirement
from tests.gate.test_requirement import accept, job, names, policy

TEST = (job("test"),)


def standard(limit: str = "10", *, job: str = "test", what: str = "n", direction="up", margin="0"):
    return Standard(
        name="size",
        job=job,
        metric=Metric(kind="line", what=what),
        direction=direction,
        limit=limit,
        margin=margin,
    )


def holding(jobs: tuple[Job, ...], *standards: Standard) -> Policy:
    return msgspec.structs.replace(policy(*jobs), standards={each.name: each for each in standards})


def measured_from(found):
    return {each.name: (each.job, each.standard.limit) for each in found.standards}


def test_a_standard_of_the_base_is_required_and_one_may_be_added_or_tightened():
    base = holding(TEST, standard("10"))
    assert measured_from(requirements(base, base)) == {"size": ("test", "10")}
    assert measured_from(requirements(base, holding(TEST, standard("11")))) == {
        "size": ("test", "11")
    }
    added = requirements(policy(*TEST), holding(TEST, standard("1")))
    assert measured_from(added) == {"size": ("test", "1")}
    assert added.objections == ()


@pytest.mark.parametrize(
    ("after", "kind", "detail"),
    [
        ((), "removed", "the base requires this standard and the branch removes it"),
        (
            (standard("9"),),
            "loosened",
            "the branch loosens this standard of the base: limit from 10 to 9",
        ),
        (
            (standard("10", margin="1"),),
            "loosened",
            "the branch loosens this standard of the base: margin from 0 to 1",
        ),
        (
            (standard("10", direction="down"),),
            "loosened",
            "the branch loosens this standard of the base: direction from 'up' to 'down'",
        ),
    ],
)
def test_a_standard_that_is_removed_or_loosened_is_named_until_it_is_accepted(after, kind, detail):
    base, branch = holding(TEST, standard("10")), holding(TEST, *after)
    found = requirements(base, branch)
    assert found.objections == (Objection(name="size", kind=kind, detail=detail),)
    accepted = requirements(base, branch, accept("size"))
    assert (accepted.objections, accepted.accepted) == ((), ("size",))
    assert [each.standard for each in accepted.standards] == list(after)


@pytest.mark.parametrize("after", [standard("1", what="m"), standard("1", job="other")])
def test_a_number_that_is_read_elsewhere_has_to_be_met_old_and_new(after):
    jobs = (*TEST, job("other"))
    base, branch = holding(jobs, standard("10")), holding(jobs, after)
    found = requirements(base, branch)
    assert measured_from(found) == {"size": (after.job, "1"), "size@base": ("test", "10")}
    assert names(found) == ["test", "other"]
    assert found.objections == ()
    accepted = requirements(base, branch, accept("size"))
    assert measured_from(accepted) == {"size": (after.job, "1")}


def test_a_standard_of_a_job_that_changed_is_measured_from_the_old_job_too():
    base = holding(TEST, standard("10"))
    branch = holding((job("test", "fake"),), standard("12"))
    found = requirements(base, branch)
    assert measured_from(found) == {"size": ("test", "12"), "size@base": ("test@base", "10")}
    accepted = requirements(base, branch, accept("test"))
    assert measured_from(accepted) == {"size": ("test", "12")}


def test_an_old_standard_brings_back_the_job_it_is_measured_from():
    base = holding((*TEST, job("other")), standard("10"))
    branch = holding((job("other"),), standard("10", job="other"))
    found = requirements(base, branch, accept("test"))
    assert names(found) == ["other", "test@base"]
    assert measured_from(found) == {"size": ("other", "10"), "size@base": ("test@base", "10")}


def test_what_may_be_accepted_of_standards_is_what_changed_of_them():
    base = holding(TEST, standard("10"))
    with pytest.raises(UsageError, match="'size' is no change of policy"):
        requirements(base, holding(TEST, standard("11")), accept("size"))


def test_a_standard_is_part_of_what_a_proof_is_for_and_not_of_its_job():
    identities = [identify("test", {"definition": "d"})]

    def digest_with(*standards: StandardRequirement) -> str:
        return requirement_set_digest(identities, standards)

    def required(name: str = "size", job: str = "test", **how) -> StandardRequirement:
        return StandardRequirement(name=name, standard=standard(**how), job=job)

    others = [
        digest_with(),
        digest_with(required()),
        digest_with(required(limit="11")),
        digest_with(required(margin="1")),
        digest_with(required(direction="down")),
        digest_with(required(what="m")),
        digest_with(required(job="test@base")),
        digest_with(required(name="size@base")),
        digest_with(required(), required(name="other")),
    ]
    assert len(set(others)) == len(others)
    assert digest_with(required(), required(name="b")) == digest_with(
        required(name="b"), required()
    )


def test_some_jobs_alone_have_no_standards():
    found = requirements(None, holding((job("lint"), job("test")), standard()))
    assert found.only(["lint"]).standards == ()
