"""What of a requirement set a run is asked for. Pure.

A job that is named stands for its old definition too, as far as that has to pass: whoever asks
for `lint` wants to know what `done` will say of it.
"""

from collections.abc import Collection

import msgspec

from tenure.gate.errors import UsageError
from tenure.gate.kind import RunKind
from tenure.gate.policy_table import suggestion
from tenure.gate.requirement import RequirementSet


def chosen(required: RequirementSet, kind: RunKind, named: Collection[str]) -> RequirementSet:
    """What a run of this kind has to answer, with everything that needs.

    A check leaves fix jobs out unless they are named or needed; `fix` is about them alone.

    Raises:
        UsageError: a name is no job's, or there is no fix job.
    """
    if kind not in ("check", "fix"):
        return required
    fixes = [each.name for each in required.requirements if each.job.stage == "fix"]
    everything = [each.name for each in required.requirements]
    if kind == "fix" and not fixes:
        raise UsageError(
            what="no job of this policy has the stage fix",
            next='give a job that may change files `stage = "fix"`',
        )
    if named:
        names = _named(fixes if kind == "fix" else everything, named)
    else:
        names = fixes if kind == "fix" else [name for name in everything if name not in fixes]
    found = required.only(names)
    jobs = {each.name for each in found.requirements}
    measured = tuple(each for each in required.standards if each.job in jobs)
    return msgspec.structs.replace(found, standards=measured)


def left_out(required: RequirementSet, kind: RunKind, named: Collection[str]) -> frozenset[str]:
    """The fix jobs that a check of everything leaves out, and `done` will run."""
    if kind != "check" or named:
        return frozenset()
    asked = {each.name for each in chosen(required, kind, named).requirements}
    return frozenset(each.name for each in required.requirements if each.name not in asked)


def _named(among: list[str], named: Collection[str]) -> list[str]:
    """The requirements that have one of these names, or are the old definition of one."""
    found: list[str] = []
    for name in sorted(named):
        mine = [each for each in (name, f"{name}@base") if each in among]
        if not mine:
            raise UsageError(what=f"{name!r} is none of these jobs", next=suggestion(name, among))
        found += mine
    return found
