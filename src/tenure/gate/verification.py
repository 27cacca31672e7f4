"""Verifying: whether a bundle proves what git says has to be proven. Pure.

The answer depends on the bundle, on the commit as git tells it, and on what the caller
accepts. Nothing else is asked, and a bundle is never believed where git can be asked.
"""

from collections.abc import Iterable
from typing import Literal

import msgspec

from tenure.gate.bundle import Bundle
from tenure.gate.errors import UsageError
from tenure.gate.policy import definition_digest, policy_digest
from tenure.gate.requirement import (
    Requirement,
    RequirementIdentity,
    RequirementSet,
    requirement_set_digest,
    requirements,
)
from tenure.gate.revision import Judged
from tenure.gate.situation import inputs_of
from tenure.gate.standard import StandardRequirement
from tenure.gate.statement import Measured, Result

ReasonKind = Literal[
    "changed",  # the file is not what was written
    "not_accepted",  # a policy change that the caller was not told of
    "other_tree",
    "other_policy",
    "other_requirements",
    "removed",  # the branch removes or loosens it, and nobody accepted that
    "missing",  # required, and nothing in the bundle says that it passed
    "failed",
    "other_definition",
    "other_inputs",
    "stale",  # merged, it would be another tree
]


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a bundle does not prove it. `name` is what it is about: a requirement, a change, a part."""

    kind: ReasonKind
    name: str
    detail: str


def require_recorded(told: frozenset[str], bundle: Bundle) -> None:
    """Pass if everything that is accepted here was accepted there.

    Raises:
        UsageError: something was not, so that whoever tells it means another bundle.
    """
    recorded = bundle.summary.about.accepted
    for name in sorted(told.difference(recorded)):
        raise UsageError(
            what=f"this bundle records no accepted policy change {name!r}",
            next=f"it records: {', '.join(recorded)}" if recorded else "it records none",
        )


def verify(bundle: Bundle, judged: Judged, told: frozenset[str]) -> list[Reason]:
    """Every reason why the bundle does not prove the commit; none if it does.

    `told` are the policy changes that the caller accepts.
    """
    about = bundle.summary.about
    found = [
        Reason(
            kind="not_accepted",
            name=name,
            detail="it was proven with this policy change accepted, and it was not accepted here",
        )
        for name in about.accepted
        if name not in told
    ]
    if bundle.summary.tree != judged.tree:
        detail = f"the bundle is about tree {bundle.summary.tree}, the commit has {judged.tree}"
        return [*found, Reason(kind="other_tree", name="tree", detail=detail)]
    policy = policy_digest(judged.own if judged.judging is None else judged.judging)
    if bundle.summary.policy != policy:
        detail = "another policy judges this commit now than the one that judged in the bundle"
        found.append(Reason(kind="other_policy", name="policy", detail=detail))
    try:
        required = requirements(
            judged.judging,
            judged.own,
            frozenset(about.accepted) - judged.taken,
            trunk=judged.trunk,
        )
    except UsageError as error:
        return [*found, Reason(kind="other_policy", name="policy", detail=str(error))]
    found += _objections(required)
    found += _results(bundle, judged, required)
    found += _standards(bundle, required)
    return found or _set(bundle, required)


def stale(bundle: Bundle, onto: str, tree: str | None, conflicts: str) -> list[Reason]:
    """Why the bundle says nothing about the commit merged with `onto`, whose tree is `tree`.

    `tree` is None where they conflict, and `conflicts` then names the paths.
    """
    if tree == bundle.summary.tree:
        return []
    detail = (
        f"merged with {onto} it conflicts in {conflicts}"
        if tree is None
        else f"stale: merged with {onto} the tree is {tree}, which this does not prove"
    )
    return [Reason(kind="stale", name=onto, detail=detail)]


def _objections(required: RequirementSet) -> Iterable[Reason]:
    for objection in required.objections:
        yield Reason(kind="removed", name=objection.name, detail=objection.detail)


def _results(bundle: Bundle, judged: Judged, required: RequirementSet) -> Iterable[Reason]:
    results = {result.requirement: result for result in bundle.results}
    for requirement in required.requirements:
        result = results.pop(requirement.name, None)
        if result is None:
            detail = "the policy requires it, and the bundle has no result of it"
            yield Reason(kind="missing", name=requirement.name, detail=detail)
        else:
            yield from _result(result, requirement, judged)
    for name in results:
        detail = "the bundle has a result of it, and no policy that judges here requires it"
        yield Reason(kind="other_requirements", name=name, detail=detail)


def _result(result: Result, requirement: Requirement, judged: Judged) -> Iterable[Reason]:
    name, patterns = requirement.name, requirement.job.inputs
    if not result.passed:
        yield Reason(kind="failed", name=name, detail="its result is not that it passed")
    if result.definition != definition_digest(requirement.job):
        detail = "it passed by another definition than the one that counts here"
        yield Reason(kind="other_definition", name=name, detail=detail)
    _, inputs = inputs_of(patterns, judged.tree, judged.entries, judged.links)
    if result.ran.inputs != inputs:
        detail = "it passed on other inputs than the commit has"
        yield Reason(kind="other_inputs", name=name, detail=detail)


def _standards(bundle: Bundle, required: RequirementSet) -> Iterable[Reason]:
    measured = {item.standard: item for item in bundle.summary.about.standards}
    for standard in required.standards:
        item = measured.pop(standard.name, None)
        if item is None or item.job != standard.job:
            detail = "the policy requires this standard, and the bundle has no number for it"
            yield Reason(kind="missing", name=standard.name, detail=detail)
        else:
            yield from _standard(item, standard)
    for name in measured:
        detail = "the bundle has a number for it, and no policy that judges here requires it"
        yield Reason(kind="other_requirements", name=name, detail=detail)


def _standard(item: Measured, required: StandardRequirement) -> Iterable[Reason]:
    if not required.standard.keeps(item.value):
        detail = f"{item.value} does not keep the limit {required.standard.limit}"
        yield Reason(kind="failed", name=required.name, detail=detail)


def _set(bundle: Bundle, required: RequirementSet) -> list[Reason]:
    """The last look: nothing in particular differs, so the whole has to be the same."""
    identities = [
        RequirementIdentity(name=result.requirement, digest=result.ran.identity, parts={})
        for result in bundle.results
    ]
    about = bundle.summary.about
    if requirement_set_digest(identities, required.standards) == about.requirements:
        return []
    detail = "the bundle is about other requirements than the policies of this commit make"
    return [Reason(kind="other_requirements", name="requirements", detail=detail)]
