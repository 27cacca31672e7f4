"""A branch may add and tighten; what it changes has to pass old and new; what it drops is named."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.errors import PolicyError, UsageError
from tenure.gate.policy import STAGE_RANK, STAGES, Job, Policy
from tenure.gate.requirement import (
    Objection,
    candidate_identity,
    identify,
    identity,
    miss_reasons,
    requirement_set_digest,
    requirements,
    subject,
)


def job(name: str, run: str = "x", **more) -> Job:
    return Job(name=name, run=(run,), **more)


def policy(*jobs: Job, trunk: str | None = None) -> Policy:
    return Policy(file="tenure.toml", trunk=trunk, jobs={each.name: each for each in jobs})


def names(found):
    return [requirement.name for requirement in found.requirements]


def needs(found):
    return {requirement.name: requirement.needs for requirement in found.requirements}


def accept(*changes: str) -> frozenset[str]:
    return frozenset(changes)


# ── What is required ─────────────────────────────────────────────────────────────────────


def test_the_same_definition_is_one_requirement():
    found = requirements(policy(job("lint"), job("test")), policy(job("lint"), job("test")))
    assert names(found) == ["lint", "test"]
    assert {requirement.origin for requirement in found.requirements} == {"candidate"}
    assert found.objections == ()
    assert not found.bootstrap


def test_a_changed_definition_has_to_pass_old_and_new():
    old, new = job("test", "pytest", outputs=("r.xml",)), job("test", "true", outputs=("n.xml",))
    found = requirements(policy(old), policy(new))
    assert names(found) == ["test", "test@base"]
    assert found["test"].job == new
    assert found["test"].origin == "candidate"
    assert found["test@base"].job == old
    assert found["test@base"].origin == "base"
    assert found.objections == ()


@pytest.mark.parametrize(
    "change",
    [
        {"run": ("true",)},
        {"run": "x"},
        {"stage": "check"},
        {"inputs": ("src",)},
        {"timeout_seconds": 1.0},
        {"reuse": False},
        {"env": ("A",)},
        {"set_env": {"A": "1"}},
        {"cwd": "sub"},
    ],
)
def test_any_change_of_a_definition_keeps_the_old_one(change):
    old = job("test", stage="test")
    found = requirements(policy(old), policy(msgspec.structs.replace(old, **change)))
    assert sorted(names(found)) == ["test", "test@base"]


def test_an_added_job_is_required():
    found = requirements(policy(job("a")), policy(job("a"), job("b")))
    assert names(found) == ["a", "b"]
    assert found.objections == ()


def test_a_removed_job_is_an_objection_by_name():
    found = requirements(policy(job("a"), job("b")), policy(job("a")))
    assert names(found) == ["a"]
    (objection,) = found.objections
    assert (objection.name, objection.kind) == ("b", "removed")


def test_a_renamed_job_is_one_removed_and_one_added():
    found = requirements(policy(job("a")), policy(job("b")))
    assert names(found) == ["b"]
    assert [(o.name, o.kind) for o in found.objections] == [("a", "removed")]


def test_without_a_judge_the_candidate_judges_itself():
    found = requirements(None, policy(job("a"), trunk="anything"))
    assert names(found) == ["a"]
    assert found.bootstrap
    assert found.objections == ()


def test_nothing_required_is_an_error():
    for judging in (None, policy(job("a"))):
        with pytest.raises(PolicyError, match="proves nothing"):
            requirements(judging, policy())


# ── What a twin needs ────────────────────────────────────────────────────────────────────


def test_an_old_definition_needs_old_definitions_where_they_are_kept():
    old = policy(job("build"), job("tools"), job("test", needs=("build", "tools")))
    new = policy(job("build", "y"), job("tools"), job("test", "y", needs=("build",)))
    assert needs(requirements(old, new)) == {
        "build": (),
        "build@base": (),
        "tools": (),
        "test": ("build",),
        "test@base": ("build@base", "tools"),
    }


def test_an_unchanged_job_is_also_judged_on_what_the_old_definition_builds():
    """Else a branch could fake the build and keep the test."""
    chain = [job("pack", needs=("build",)), job("test", needs=("pack",)), job("lint")]
    found = requirements(policy(job("build"), *chain), policy(job("build", "fake"), *chain))
    assert needs(found) == {
        "build": (),
        "build@base": (),
        "pack": ("build",),
        "pack@base": ("build@base",),
        "test": ("pack",),
        "test@base": ("pack@base",),
        "lint": (),
    }


def test_what_an_old_definition_needs_is_kept_though_its_removal_was_accepted():
    old = policy(job("seed"), job("build", needs=("seed",)), job("test", needs=("build",)))
    new = policy(job("test", "y"))
    found = requirements(old, new, accept("build", "seed"))
    assert needs(found) == {
        "seed@base": (),
        "build@base": ("seed@base",),
        "test": (),
        "test@base": ("build@base",),
    }
    assert found.objections == ()


def test_what_an_old_definition_needs_is_kept_where_the_new_one_runs_too_late():
    old = policy(job("gen", stage="build"), job("pack", stage="build", needs=("gen",)))
    new = policy(job("gen", stage="test"), job("pack", "y", stage="build"))
    found = requirements(old, new, accept("gen"))
    assert needs(found) == {
        "gen@base": (),
        "pack": (),
        "pack@base": ("gen@base",),
        "gen": (),
    }


def test_the_order_in_which_needs_are_listed_is_no_change():
    old = policy(job("a"), job("b"), job("test", needs=("a", "b")))
    new = policy(job("a"), job("b", "y"), job("test", needs=("b", "a")))
    assert needs(requirements(old, new))["test@base"] == ("a", "b@base")


# ── What is accepted ─────────────────────────────────────────────────────────────────────


def test_an_accepted_change_requires_only_the_new_definition():
    old, new = policy(job("a"), job("b")), policy(job("a", "y"), job("b", "y"))
    found = requirements(old, new, accept("a"))
    assert names(found) == ["a", "b", "b@base"]
    assert found.accepted == ("a",)


def test_accepting_a_changed_need_accepts_it_for_everything_above():
    above = job("test", needs=("build",))
    found = requirements(
        policy(job("build"), above), policy(job("build", "y"), above), accept("build")
    )
    assert names(found) == ["build", "test"]


def test_an_accepted_removal_is_no_objection():
    found = requirements(policy(job("a"), job("b")), policy(job("a")), accept("b"))
    assert names(found) == ["a"]
    assert found.objections == ()
    assert found.accepted == ("b",)


@pytest.mark.parametrize("name", ["a", "c", "b@base", "trunk", ""])
def test_accepting_what_did_not_change_is_an_error_that_names_what_could_be(name):
    old, new = policy(job("a"), job("b"), job("gone")), policy(job("a"), job("b", "y"), job("c"))
    with pytest.raises(UsageError) as caught:
        requirements(old, new, accept(name))
    assert repr(name) in caught.value.what
    assert "what could be: 'b', 'gone'" in caught.value.next
    assert caught.value.exit_code == 2


def test_accepting_anything_where_nothing_changed_is_an_error():
    for judging in (None, policy(job("a"))):
        with pytest.raises(UsageError, match="changes nothing"):
            requirements(judging, policy(job("a")), accept("a"))


# ── The trunk ────────────────────────────────────────────────────────────────────────────


def test_a_renamed_trunk_is_loosened():
    found = requirements(policy(job("a"), trunk="main"), policy(job("a"), trunk="mine"))
    assert found.objections == (
        Objection(
            name="trunk",
            kind="loosened",
            detail="the base names the trunk 'main' and the branch names 'mine'",
        ),
    )


@pytest.mark.parametrize(
    ("before", "after", "counts", "objects"),
    [
        ("main", "main", None, False),
        ("main", None, None, True),
        (None, "main", None, False),  # nobody knows of another one
        (None, "main", "main", False),
        (None, "mine", "main", True),
        ("main", None, "main", False),
        ("main", None, "mine", True),
        (None, None, "main", False),
    ],
)
def test_a_trunk_is_renamed_when_another_one_would_count(before, after, counts, objects):
    found = requirements(
        policy(job("a"), trunk=before), policy(job("a"), trunk=after), trunk=counts
    )
    assert [o.name for o in found.objections] == (["trunk"] if objects else [])


def test_a_renamed_trunk_can_be_accepted():
    old, new = policy(job("a"), trunk="main"), policy(job("a"), trunk="mine")
    found = requirements(old, new, accept("trunk"))
    assert found.objections == ()
    assert found.accepted == ("trunk",)


# ── Order ────────────────────────────────────────────────────────────────────────────────


def test_requirements_come_by_stage_then_as_in_the_file():
    jobs = [
        job(n, stage=s) for n, s in (("t", "test"), ("c", "check"), ("f", "fix"), ("b", "build"))
    ]
    found = requirements(None, policy(*jobs, job("f2", stage="fix")))
    assert names(found) == ["f", "f2", "b", "c", "t"]


def test_nothing_comes_before_what_it_needs():
    found = requirements(
        None,
        policy(job("cov", stage="check", needs=("test",)), job("test", stage="test"), job("lint")),
    )
    assert names(found) == ["lint", "test", "cov"]


JOBS = st.fixed_dictionaries(
    {},
    optional={
        name: st.tuples(
            st.sampled_from(STAGES), st.sampled_from("xy"), st.sets(st.sampled_from("abcdef"))
        )
        for name in "abcdef"
    },
).filter(bool)


def generated(drawn) -> Policy:
    """A valid policy: needs only of earlier names, in the same or an earlier stage."""
    jobs: list[Job] = []
    for name, (stage, run, wanted) in sorted(drawn.items()):
        needed = [
            j.name for j in jobs if j.name in wanted and STAGE_RANK[j.stage] <= STAGE_RANK[stage]
        ]
        jobs.append(Job(name=name, run=(run,), stage=stage, needs=tuple(needed), outputs=(name,)))
    return policy(*jobs)


@given(JOBS, JOBS, st.sets(st.sampled_from("abcdef")))
def test_every_requirement_set_can_be_run_and_forgets_nothing(one, other, wanted):
    judging, candidate = generated(one), generated(other)
    changed = {n for n in judging.jobs if judging.jobs[n] != candidate.jobs.get(n)}
    accepted = frozenset(wanted & changed)
    found = requirements(judging, candidate, accepted)
    seen: set[str] = set()
    rank = 0
    for requirement in found.requirements:
        assert seen.issuperset(requirement.needs)
        assert STAGE_RANK[requirement.job.stage] >= rank
        rank = STAGE_RANK[requirement.job.stage]
        seen.add(requirement.name)
    assert len(seen) == len(found.requirements)
    assert seen.issuperset(candidate.jobs)
    objected = {objection.name for objection in found.objections}
    for name, old in judging.jobs.items():
        if name in accepted:
            continue
        if name not in candidate.jobs:
            assert name in objected
        elif old != candidate.jobs[name]:
            assert found[f"{name}@base"].job == old
    for requirement in found.requirements:
        if requirement.origin == "base":
            own = tuple(need.removesuffix("@base") for need in requirement.needs)
            assert own == requirement.job.needs


# ── What must not run at the same time ───────────────────────────────────────────────────


def test_only_some_requirements_are_those_and_what_they_need():
    chain = policy(job("a"), job("b", needs=("a",)), job("c", needs=("b",)), job("d"))
    found = requirements(None, chain)
    assert names(found.only(["b"])) == ["a", "b"]
    assert names(found.only(["d", "c"])) == ["a", "b", "c", "d"]
    assert names(found.only([])) == []
    with pytest.raises(KeyError):
        found.only(["e"])


def test_two_definitions_that_write_one_path_conflict():
    old, new = job("test", "x", outputs=("r.xml",)), job("test", "y", outputs=("r.xml", "more"))
    found = requirements(policy(old, job("lint")), policy(new, job("lint")))
    assert found.conflicts("test", "test@base")
    assert found.conflicts("test@base", "test")
    assert not found.conflicts("test", "lint")
    assert not found.conflicts("test", "test")


def test_a_path_inside_the_other_conflicts_too():
    old, new = job("b", outputs=("dist",)), job("b", outputs=("dist/x",))
    assert requirements(policy(old), policy(new)).conflicts("b", "b@base")


def test_two_definitions_that_write_nothing_in_common_may_run_together():
    old, new = job("test", outputs=("old.xml",)), job("test", outputs=("new.xml",))
    assert not requirements(policy(old), policy(new)).conflicts("test", "test@base")


def test_who_relies_on_a_path_conflicts_with_who_rewrites_it():
    build = job("build", outputs=("dist",), stage="build")
    above = [job("test", needs=("build",), outputs=("r",)), job("lint", needs=("build",))]
    changed = msgspec.structs.replace(build, run=("y",))
    found = requirements(policy(build, *above), policy(changed, *above))
    assert found.footprint("test") == {"r": "test", "dist": "build"}
    assert found.footprint("test@base") == {"r": "test@base", "dist": "build@base"}
    assert found.conflicts("test", "build@base")
    assert found.conflicts("test@base", "build")
    assert found.conflicts("lint", "test@base")
    assert not found.conflicts("test", "lint")
    assert not found.conflicts("test@base", "lint@base")


@given(JOBS)
def test_one_policy_alone_has_no_conflicts(drawn):
    found = requirements(None, generated(drawn))
    assert not any(found.conflicts(a, b) for a in names(found) for b in names(found))


# ── Identities ───────────────────────────────────────────────────────────────────────────

PARTS = {"definition": "d1", "inputs": "i1", "env:A": "k1", "platform": "linux x86_64 glibc"}


@pytest.mark.parametrize("part", PARTS)
def test_every_part_changes_the_identity(part):
    without = {name: value for name, value in PARTS.items() if name != part}
    digests = {identity(PARTS), identity({**PARTS, part: "other"}), identity(without)}
    assert len(digests | {identity({**PARTS, part: ""})}) == 4


def test_the_order_of_parts_and_the_name_are_not_part_of_an_identity():
    turned = dict(reversed(PARTS.items()))
    assert identify("test", PARTS).digest == identify("test@base", turned).digest == identity(PARTS)
    assert identify("test", PARTS).parts == PARTS
    assert identify("test", PARTS).name == "test"


def test_a_requirement_set_is_its_names_and_identities():
    a, b = identify("a", PARTS), identify("b", {"inputs": "x"})
    assert requirement_set_digest([a, b]) == requirement_set_digest([b, a])
    others = [
        [a],
        [],
        [a, identify("c", b.parts)],
        [a, identify("b", {"inputs": "y"})],
        [identify("a", b.parts), identify("b", a.parts)],
    ]
    assert len({requirement_set_digest(each) for each in [[a, b], *others]}) == 6


def test_a_candidate_is_its_tree_its_judge_and_its_requirements():
    identities = {
        candidate_identity("t", "p", "r"),
        candidate_identity("u", "p", "r"),
        candidate_identity("t", "q", "r"),
        candidate_identity("t", "p", "s"),
        candidate_identity("p", "t", "r"),
    }
    assert len(identities) == 5


def test_a_subject_is_the_question_and_not_who_asks_it():
    same = subject("done", "c", ["b", "a"])
    assert same == subject("done", "c", frozenset(["a", "b"]), ())
    others = {
        subject("standards", "c", ["a", "b"]),
        subject("done", "d", ["a", "b"]),
        subject("done", "c", ["a"]),
        subject("done", "c", []),
        subject("done", "c", ["a"], ["b"]),
        subject("done", "c", [], ["a", "b"]),
    }
    assert len(others | {same}) == 7


# ── Why a receipt does not answer ────────────────────────────────────────────────────────


COUNTED = "the packages in .venv counted"


@pytest.mark.parametrize(
    ("part", "old", "new", "reason"),
    [
        ("definition", "1", "2", "definition changed"),
        ("inputs", "1", "2", "inputs changed"),
        ("env:DATABASE_URL", "1", "2", "env DATABASE_URL changed"),
        ("env:DATABASE_URL", None, "2", "env DATABASE_URL is new"),
        ("env:DATABASE_URL", "1", None, "env DATABASE_URL no longer counts"),
        ("platform", "linux a", "linux b", "platform changed (linux a → linux b)"),
        ("exec:pytest", "1", "2", "pytest changed on disk"),
        ("interpreter:python3", "1", "2", "python3, which runs it, changed on disk"),
        ("dists:.venv", "1", "2", "packages installed in .venv changed"),
        ("dists:.venv", "1", None, f"{COUNTED} last time; there is no .venv here, or it adds none"),
        ("exec:pytest", None, "2", "program pytest is new"),
        ("need:build", "1", None, "need of build no longer counts"),
        ("lock:uv.lock", "1", "2", "uv.lock changed"),
        ("context:ruff --version", "1", "2", "output of `ruff --version` changed"),
        ("need:build", "1", "2", "build changed, which it needs"),
        ("host", "1", "2", "another host"),
        ("weather", "1", "2", "weather changed"),
        ("weather:a:b", "1", "2", "weather a:b changed"),
    ],
)
def test_a_miss_names_the_part_that_differs(part, old, new, reason):
    nearest = {"inputs": "same", "x": "same"} | ({} if old is None else {part: old})
    wanted = {"inputs": "same", "x": "same"} | ({} if new is None else {part: new})
    assert miss_reasons(wanted, nearest) == (reason,)


def test_all_parts_that_differ_are_named_the_weightiest_first():
    wanted = {"zeal": "2", "env:B": "2", "env:A": "2", "inputs": "2", "definition": "2"}
    nearest = dict.fromkeys(wanted, "1")
    assert miss_reasons(wanted, nearest) == (
        "definition changed",
        "inputs changed",
        "env A changed",
        "env B changed",
        "zeal changed",
    )


def test_nothing_differs_and_nothing_there_are_not_the_same_answer():
    assert miss_reasons(PARTS, PARTS) == ()
    assert miss_reasons(PARTS, None) == ("no earlier result",)


@given(
    st.dictionaries(st.text("ab:{}", max_size=3), st.text(max_size=2), max_size=3),
    st.dictionaries(st.text("ab:{}", max_size=3), st.text(max_size=2), max_size=3),
)
def test_there_is_a_reason_exactly_when_the_identity_differs(wanted, nearest):
    assert bool(miss_reasons(wanted, nearest)) == (identity(wanted) != identity(nearest))
