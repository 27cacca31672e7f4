"""Requirements: what a candidate has to pass, given the policy that judges it and its own.

A branch may add and tighten; it cannot fake. Whatever the judging policy declares has to pass
by that definition, besides the branch's own. The old definition of a changed job is a requirement
of its own, `name@base`. A job that itself is unchanged but needs, through any number of others,
one that changed has an `@base` twin too: it was declared to pass on what the old one builds.

Standards go the same way. One whose number is read elsewhere by now, or from a job that changed,
has a twin that is judged by the old definition; one whose limit was loosened is named.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Literal

import msgspec

from tenure.gate.digest import digest
from tenure.gate.errors import PolicyError, UsageError
from tenure.gate.kind import AttemptKind
from tenure.gate.pattern import overlap
from tenure.gate.policy import (
    SETUP,
    STAGE_RANK,
    STAGES,
    Comparison,
    Job,
    Policy,
    compare,
    definition_digest,
)
from tenure.gate.standard import StandardRequirement, loosened, remade, standard_digest

Origin = Literal["candidate", "base"]

#: What `--accept-policy-change` calls a trunk that was renamed. No job can have this name.
TRUNK = "trunk"


class Requirement(msgspec.Struct, frozen=True, kw_only=True):
    """One job that has to pass. `needs` are names of requirements, not of jobs."""

    name: str
    job: Job
    origin: Origin
    needs: tuple[str, ...]


class Objection(msgspec.Struct, frozen=True, kw_only=True):
    """Why the candidate is not met whatever its jobs return, until it is accepted by name."""

    name: str
    kind: Literal["removed", "loosened"]
    detail: str


class RequirementSet(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a candidate has to meet.

    `requirements` are in an order in which they can run one after the other, and `standards`
    are measured from their results. `setups` prepare a checkout, one after the other. `accepted`
    are the policy changes that were accepted by name, sorted. `bootstrap` says that no policy but
    the candidate's own judges.
    """

    requirements: tuple[Requirement, ...]
    standards: tuple[StandardRequirement, ...] = ()
    setups: tuple[Requirement, ...] = ()
    objections: tuple[Objection, ...] = ()
    accepted: tuple[str, ...] = ()
    bootstrap: bool = False

    def __getitem__(self, name: str) -> Requirement:
        for requirement in self.requirements:
            if requirement.name == name:
                return requirement
        raise KeyError(name)

    def footprint(self, name: str) -> dict[str, str]:
        """The paths that have to be a requirement's own while it runs, each with who writes it.

        That is its outputs and those of everything it needs. Two requirements may write the
        same path, so whoever runs one has to see that the outputs it needs are in place.
        """
        paths: dict[str, str] = {}
        waiting, seen = [name], {name}
        while waiting:
            requirement = self[waiting.pop()]
            paths.update(dict.fromkeys(requirement.job.outputs, requirement.name))
            waiting.extend(need for need in requirement.needs if need not in seen)
            seen.update(requirement.needs)
        return paths

    def only(self, names: Iterable[str]) -> "RequirementSet":
        """The requirements of these names, and all that they need; no standards."""
        wanted, waiting = set[str](), list(names)
        while waiting:
            name = waiting.pop()
            if name not in wanted:
                wanted.add(name)
                waiting.extend(self[name].needs)
        kept = tuple(each for each in self.requirements if each.name in wanted)
        return msgspec.structs.replace(self, requirements=kept, standards=())

    def measuring(self, names: Collection[str]) -> "RequirementSet":
        """The standards of these names, old definitions included, and the jobs they take."""
        standards = [one for one in self.standards if one.name.removesuffix("@base") in names]
        return msgspec.structs.replace(
            self.only({one.job for one in standards}),
            standards=tuple(standards),
            objections=tuple(one for one in self.objections if one.name in names),
        )

    def conflicts(self, one: str, other: str) -> bool:
        """Whether two requirements must not run at the same time: one of them relies on a path
        that is written by one requirement for it, and by another for the other."""
        mine, theirs = self.footprint(one), self.footprint(other)
        return any(
            writer != another and overlap(path, place)
            for path, writer in mine.items()
            for place, another in theirs.items()
        )


def requirements(
    judging: Policy | None,
    candidate: Policy,
    accepted: frozenset[str] = frozenset(),
    *,
    trunk: str | None = None,
) -> RequirementSet:
    """What `candidate` has to pass when `judging` judges it (None: nothing but itself does).

    `accepted` names policy changes that need no old definition, or no job, any more. `trunk`
    is the branch that counts where a policy names none.

    Raises:
        UsageError: something accepted did not change.
        PolicyError: the candidate's policy requires nothing.
    """
    if not candidate.jobs:
        raise PolicyError(
            file=candidate.file,
            key="jobs",
            what="a policy without requirements proves nothing",
            next="declare a job",
        )
    own = [
        Requirement(name=name, job=job, origin="candidate", needs=job.needs)
        for name, job in candidate.jobs.items()
    ]
    standards = [
        StandardRequirement(name=name, standard=standard, job=standard.job)
        for name, standard in candidate.standards.items()
    ]
    if judging is None:
        _check_accepted(accepted, frozenset())
        return RequirementSet(
            requirements=_ordered(own),
            standards=tuple(standards),
            setups=_setups(candidate, None),
            bootstrap=True,
        )
    difference = compare(judging, candidate)
    found = [_removed(name, "job") for name in difference.removed]
    resetting = _changed_setup(judging, candidate)
    if judging.setup is not None and candidate.setup is None:
        found.append(_removed(SETUP, "setup"))
    found += _changed_standards(judging, candidate)
    before, after = judging.trunk or trunk, candidate.trunk or trunk
    if before is not None and before != after:
        found.append(_renamed(before, after))
    remade_names = _remade(judging, candidate)
    changes = {*difference.changed, *remade_names, *(objection.name for objection in found)}
    changes |= {SETUP} if resetting else set()
    _check_accepted(accepted, changes)
    remade_names -= accepted
    old = _old(judging, candidate, difference, accepted, remade_names)
    standards += _old_standards(judging, candidate, accepted, remade_names, old)
    return RequirementSet(
        requirements=_ordered([*own, *_old_jobs(judging, old)]),
        standards=tuple(standards),
        setups=_setups(candidate, judging if resetting and SETUP not in accepted else None),
        objections=tuple(each for each in found if each.name not in accepted),
        accepted=tuple(sorted(accepted)),
    )


def _changed_setup(judging: Policy, candidate: Policy) -> bool:
    """Whether the base sets a checkout up in one way, and the branch in another."""
    old, new = judging.setup, candidate.setup
    if old is None or new is None:
        return False
    return definition_digest(old) != definition_digest(new)


def _setups(candidate: Policy, judging: Policy | None) -> tuple[Requirement, ...]:
    """What prepares a checkout, the base's own way first, so that the branch's is what jobs find."""
    found = []
    if judging is not None and judging.setup is not None:
        found.append(Requirement(name=f"{SETUP}@base", job=judging.setup, origin="base", needs=()))
    if candidate.setup is not None:
        needs = tuple(each.name for each in found)
        found.append(Requirement(name=SETUP, job=candidate.setup, origin="candidate", needs=needs))
    return tuple(found)


def _old_jobs(judging: Policy, old: set[str]) -> list[Requirement]:
    return [
        Requirement(
            name=f"{name}@base",
            job=job,
            origin="base",
            needs=tuple(f"{need}@base" if need in old else need for need in job.needs),
        )
        for name, job in judging.jobs.items()
        if name in old
    ]


def _old_standards(
    judging: Policy,
    candidate: Policy,
    accepted: frozenset[str],
    remade_names: set[str],
    old: set[str],
) -> list[StandardRequirement]:
    """The standards that have to be met by their old definition as well."""
    return [
        StandardRequirement(
            name=f"{name}@base",
            standard=standard,
            job=f"{standard.job}@base" if standard.job in old else standard.job,
        )
        for name, standard in judging.standards.items()
        if name in candidate.standards
        and name not in accepted
        and (name in remade_names or standard.job in old)
    ]


def _remade(judging: Policy, candidate: Policy) -> set[str]:
    """The standards whose number is another one by now."""
    return {
        name
        for name, old in judging.standards.items()
        if name in candidate.standards and remade(old, candidate.standards[name])
    }


def _changed_standards(judging: Policy, candidate: Policy) -> list[Objection]:
    """The standards that were removed, or that allow by now what they did not."""
    found = []
    for name, old in judging.standards.items():
        new = candidate.standards.get(name)
        if new is None:
            found.append(_removed(name, "standard"))
        elif not remade(old, new) and (how := loosened(old, new)):
            detail = f"the branch loosens this standard of the base: {how}"
            found.append(Objection(name=name, kind="loosened", detail=detail))
    return found


def _old(
    judging: Policy,
    candidate: Policy,
    difference: Comparison,
    accepted: frozenset[str],
    remade_names: set[str],
) -> set[str]:
    """The jobs whose old definition is a requirement of its own.

    The changed ones that were not accepted, unchanged ones that need one of these, and
    whatever one of these needs that the candidate no longer has, or runs too late. So is a
    job that the candidate no longer has and an old standard is measured from.
    """
    old: set[str] = set()
    more = set(difference.changed) - accepted
    more |= {judging.standards[name].job for name in remade_names} - candidate.jobs.keys()
    while more - old:
        old |= more
        more = {name for name in difference.same if old.intersection(judging.jobs[name].needs)}
        for name in old:
            rank = STAGE_RANK[judging.jobs[name].stage]
            for need in judging.jobs[name].needs:
                new = candidate.jobs.get(need)
                if new is None or STAGE_RANK[new.stage] > rank:
                    more.add(need)
    return old


def _ordered(them: list[Requirement]) -> tuple[Requirement, ...]:
    """By stage, then as they came, and never before something they need."""
    left = sorted(them, key=lambda requirement: STAGES.index(requirement.job.stage))
    placed: dict[str, Requirement] = {}
    while left:
        following = next((r for r in left if all(need in placed for need in r.needs)), None)
        assert following is not None, "needs of a policy form no circle"
        left.remove(following)
        placed[following.name] = following
    return tuple(placed.values())


def _removed(name: str, what: str) -> Objection:
    detail = f"the base requires this {what} and the branch removes it"
    return Objection(name=name, kind="removed", detail=detail)


def _renamed(before: str, after: str | None) -> Objection:
    now = f"names {after!r}" if after else "names none"
    detail = f"the base names the trunk {before!r} and the branch {now}"
    return Objection(name=TRUNK, kind="loosened", detail=detail)


def _check_accepted(accepted: frozenset[str], changes: Iterable[str]) -> None:
    names = sorted(changes)
    for name in sorted(accepted.difference(names)):
        listed = ", ".join(repr(change) for change in names)
        raise UsageError(
            what=f"{name!r} is no change of policy that could be accepted",
            next=f"what could be: {listed}"
            if names
            else "the policy changes nothing that could be",
        )


class RequirementIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """What the result of one requirement depends on.

    `parts` has each thing under a name `kind` or `kind:detail` (see `miss_reasons`), as a digest
    or in clear text; `digest` covers all of them. The requirement's own name is no part of
    it: a definition that is now `test@base` reuses what it returned when it was `test`.
    """

    name: str
    digest: str
    parts: dict[str, str]


def identify(name: str, parts: Mapping[str, str]) -> RequirementIdentity:
    """The identity of the requirement `name`."""
    return RequirementIdentity(name=name, digest=identity(parts), parts=dict(parts))


def identity(parts: Mapping[str, str]) -> str:
    """The digest over all parts, whatever their order."""
    return digest("requirement", parts)


def requirement_set_digest(
    identities: Iterable[RequirementIdentity], standards: Iterable[StandardRequirement] = ()
) -> str:
    """The digest over each requirement's name and identity, whatever their order.

    A standard counts with its definition and with what it is measured from, here and nowhere
    else: another limit is another question, and the same result of the same job.
    """
    found = {(each.name, each.digest) for each in identities}
    found |= {
        (each.name, digest("measured", (each.job, standard_digest(each.standard))))
        for each in standards
    }
    return digest("requirement set", frozenset(found))


def candidate_identity(tree: str, judging_policy_digest: str, requirements_digest: str) -> str:
    """What a Proof is for: a tree, who judges it, and what it has to meet."""
    return digest("candidate", (tree, judging_policy_digest, requirements_digest))


def subject(
    kind: AttemptKind, candidate: str, accepted: Iterable[str], requested: Iterable[str] = ()
) -> str:
    """What two attempts compete for: the same question about the same candidate.

    `candidate` is its identity, `accepted` the policy changes and `requested` the standards.
    """
    return digest("subject", (kind, candidate, frozenset(accepted), frozenset(requested)))


#: How a part that differs is told; `{}` is the detail of its name.
_REASONS = {
    "definition": "definition changed",
    "inputs": "inputs changed",
    "env": "env {} changed",
    "platform": "platform changed",
    "exec": "{} changed on disk",
    "interpreter": "{}, which runs it, changed on disk",
    "library": "{} changed on disk",
    "dists": "packages installed in {} changed",
    "lock": "{} changed",
    "context": "output of `{}` changed",
    "need": "{} changed, which it needs",
    "host": "another host",
}
#: What a part is called that is there in one of the two only, where its kind is no word for it.
_NOUNS = {"exec": "program", "lock": "lock file", "need": "need of"}
#: What is said of a part, if its kind has words of its own for being there in one of the two only.
_NEW = {"dists": "the packages in {} count now; last time there was no {}, or it added none"}
_GONE = {"dists": "the packages in {} counted last time; there is no {} here, or it adds none"}
#: Kinds whose value is clear text and worth showing.
_SHOWN = frozenset({"platform"})


#: What is known of a difference besides its name, given the kind and both values; empty if nothing.
Detail = Callable[[str, str, str], tuple[str, ...]]

_DETAILS = 3


def miss_reasons(
    wanted: Mapping[str, str], nearest: Mapping[str, str] | None, detail: Detail | None = None
) -> tuple[str, ...]:
    """Why the nearest receipt does not answer: each part that differs, in words.

    Empty if nothing differs. `nearest` is None where there is no receipt at all.
    """
    if nearest is None:
        return ("no earlier result",)
    kinds = list(_REASONS)
    differing = [name for name in {**wanted, **nearest} if wanted.get(name) != nearest.get(name)]
    differing.sort(key=lambda name: (_rank(name, kinds), name))
    return tuple(
        miss_reason(name, wanted.get(name), nearest.get(name), detail) for name in differing
    )


def _rank(name: str, kinds: list[str]) -> int:
    kind = name.partition(":")[0]
    return kinds.index(kind) if kind in kinds else len(kinds)


def miss_reason(
    name: str, wanted: str | None, nearest: str | None, detail: Detail | None = None
) -> str:
    """One part that differs, in words; None where it is no part."""
    kind, _, about = name.partition(":")
    own = (_NEW if nearest is None else _GONE).get(kind)
    if own is not None and None in (wanted, nearest):
        return own.replace("{}", about)
    if wanted is None or nearest is None:
        thing = f"{_NOUNS.get(kind, kind)} {about}".strip()
        return f"{thing} is new" if nearest is None else f"{thing} no longer counts"
    known = _REASONS.get(kind)
    told = known.replace("{}", about) if known else f"{kind} {about}".strip() + " changed"
    if kind in _SHOWN:
        return f"{told} ({nearest} → {wanted})"
    more = detail(kind, nearest, wanted) if detail else ()
    left = [f"{len(more) - _DETAILS} more"] if len(more) > _DETAILS else []
    return f"{told} ({', '.join([*more[:_DETAILS], *left])})" if more else told
