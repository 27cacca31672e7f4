"""The verdict: what the checkout looks like at the end, and the Proof of a pass."""

from collections.abc import Iterable

from tenure.gate.diagnosis import listed, shown
from tenure.gate.measurement import Measurement
from tenure.gate.proof import Evidence, Proof
from tenure.gate.receipt import Receipt
from tenure.gate.report import Failure
from tenure.gate.situation import Situation
from tenure.gate.worktree import UNTRACKED, Change

_SHOWN = 20


def fixed_failures(changes: Iterable[Change]) -> list[Failure]:
    """What the fix jobs changed in the tree, left for the author to look at and commit."""
    changes = list(changes)
    found = []
    fixed = [path for kind, path in changes if kind != UNTRACKED]
    if fixed:
        found.append(
            Failure(
                requirement="",
                kind="fixed",
                detail=f"fix jobs changed {listed(fixed)}; look at the changes and commit them",
                paths=_names(fixed),
            )
        )
    return found + left_failures(changes)


def left_failures(changes: Iterable[Change]) -> list[Failure]:
    """New files that are neither declared outputs nor ignored."""
    left = [path for kind, path in changes if kind == UNTRACKED]
    if not left:
        return []
    lines = " ".join(dict.fromkeys(_ignoring(path) for path in left[:_SHOWN]))
    return [
        Failure(
            requirement="",
            kind="left_files",
            detail=f"jobs left {listed(left)}; add to .gitignore: {lines}",
            paths=_names(left),
        )
    ]


def closing_failures(
    edited: Iterable[bytes], changes: Iterable[Change], elsewhere: str | None
) -> list[Failure]:
    """What differs from the baseline now that the jobs are over.

    `edited` are the paths that moved since the baseline was drawn, `changes` what differs from
    the candidate, and `elsewhere` is the commit that is checked out instead of its own, if any.
    """
    changes = list(changes)
    touched = set(edited)
    touched.update(path for kind, path in changes if kind != UNTRACKED)
    failures = left_failures(changes)
    if elsewhere is not None:
        detail = f"the checkout was moved to commit {elsewhere[:12]} during the run"
        failures.append(Failure(requirement="", kind="inputs_moved", detail=detail))
    elif touched:
        paths = sorted(touched)
        detail = (
            f"files were edited during the run: {listed(paths)}; ask again when nobody edits them, "
            'and if a job does, make its stage "fix"'
        )
        failures.append(
            Failure(requirement="", kind="inputs_moved", detail=detail, paths=_names(paths))
        )
    return failures


def assemble(
    found: Situation,
    receipts: dict[str, Receipt],
    standards: Iterable[Measurement],
    *,
    proof: str,
    attempt: str,
    run: str,
    repository: str,
    store: str,
    wall_ns: int,
) -> Proof:
    """The Proof of a pass: one passed receipt for every requirement, and every standard met."""
    names = [requirement.name for requirement in found.required.requirements]
    assert all(receipts[name].passed for name in names), "a pass has a receipt for everything"
    measured = {each.standard: each for each in standards}
    wanted = [each.name for each in found.required.standards]
    assert all(measured[name].verdict == "met" for name in wanted), "and every standard is met"
    evidence = tuple(_evidence(receipts[name], name, attempt) for name in names)
    return Proof(
        id=proof,
        repository=repository,
        candidate=found.candidate_id,
        attempt=attempt,
        run=run,
        tree=found.candidate.tree,
        commit=found.candidate.commit,
        branch=found.candidate.branch,
        base=found.candidate.base,
        judged_by=found.candidate.judging.value,
        policy=found.judging_policy,
        requirements=found.requirements_digest,
        accepted=found.required.accepted,
        evidence=evidence,
        standards=tuple(measured[name] for name in wanted),
        worktree=found.top,
        settled_wall_ns=wall_ns,
        store=store,
    )


def _evidence(receipt: Receipt, name: str, attempt: str) -> Evidence:
    return Evidence(
        requirement=name,
        identity=receipt.identity,
        receipt=receipt.id,
        source="executed" if receipt.attempt == attempt else "reused",
        run=receipt.run,
        worktree=receipt.worktree,
        executed_wall_ns=receipt.started_wall_ns,
        seconds=receipt.seconds,
        flaky=receipt.flaky,
    )


def _names(paths: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(shown(path) for path in paths)


def _ignoring(path: bytes) -> str:
    """The line of a .gitignore for a path that was left: caches by their name, wherever they are."""
    name = path.rstrip(b"/").rpartition(b"/")[2]
    return "__pycache__/" if name == b"__pycache__" else f"/{shown(path)}"
