"""The plan of a run: which receipts answer, which jobs have to run, and why. Pure."""

from collections.abc import Callable, Mapping

import msgspec

from tenure.gate.receipt import Receipt
from tenure.gate.requirement import Detail, RequirementIdentity, RequirementSet, miss_reasons


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Every requirement is in exactly one of the two."""

    reused: dict[str, Receipt]
    execute: dict[str, tuple[str, ...]]  #: requirement to the reasons it has to run
    estimate: dict[str, float]  #: seconds its nearest receipt took, where there is one


def make_plan(
    required: RequirementSet,
    identities: Mapping[str, RequirementIdentity],
    deciding: Mapping[str, Receipt],
    nearest: Mapping[str, Receipt],
    intact: Callable[[Receipt], bool],
    *,
    rerun: bool = False,
    detail: Detail | None = None,
) -> Plan:
    """Reuse what was passed for exactly this input; run the rest, and what the rest needs.

    `deciding` has the newest receipt by identity, `nearest` the newest by requirement.
    `intact` says whether a receipt's captured outputs can be restored, `detail` what else is
    known of a difference.
    """
    execute: dict[str, tuple[str, ...]] = {}
    reused: dict[str, Receipt] = {}
    for requirement in required.requirements:
        name = requirement.name
        wanted = identities[name]
        receipt = deciding.get(wanted.digest)
        if rerun:
            reasons: tuple[str, ...] = ("asked to run again",)
        elif not requirement.job.reuse:
            reasons = ("its policy says reuse = false",)
        elif receipt is None:
            known = nearest.get(name)
            reasons = miss_reasons(wanted.parts, None if known is None else known.parts, detail)
        elif not receipt.passed:
            reasons = (f"its last run on exactly this input {_said(receipt)}",)
        elif receipt.flaky:
            reasons = ("its last pass on exactly this input took a retry",)
        elif not intact(receipt):
            reasons = ("the captured outputs of its last run are gone",)
        else:
            reused[name] = receipt
            continue
        execute[name] = reasons
    _pull_needs(required, reused, execute)
    order = [requirement.name for requirement in required.requirements]
    return Plan(
        reused=reused,
        execute={name: execute[name] for name in order if name in execute},
        estimate={name: nearest[name].seconds for name in execute if name in nearest},
    )


def _said(receipt: Receipt) -> str:
    if receipt.dropped:
        return f"was dropped ({receipt.dropped})"
    return {"not_found": "was not found", "killed": "was killed"}.get(
        receipt.outcome, receipt.outcome.replace("_", " ")
    )


def _pull_needs(
    required: RequirementSet, reused: dict[str, Receipt], execute: dict[str, tuple[str, ...]]
) -> None:
    """A job that a job to be run needs is itself run: its effects are more than its outputs."""
    for requirement in reversed(required.requirements):
        if requirement.name not in execute:
            continue
        for need in requirement.needs:
            if need in reused:
                del reused[need]
                execute[need] = (f"{requirement.name} needs it and has to run",)
