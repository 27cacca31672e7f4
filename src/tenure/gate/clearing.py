"""Clearing: which records of a store nothing needs any more. Pure.

Proofs are the roots. A Proof that is kept keeps its receipts, whatever decides whether it still
stands, and the runs whose logs they point to. Nothing younger than the limit is ever
removed, and nothing that a run without a recorded end may be about to use.
"""

from collections.abc import Collection, Sequence

import msgspec

from tenure.gate.proof import Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import RunRecord


class Clearing(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be cleared.

    Of the Proofs, the newest `keep_proofs` stay, those that were settled since `before_ns`
    (wall time), and those of `trees`. Of everything else, what is not older than that.
    """

    before_ns: int
    keep_proofs: int
    trees: frozenset[str] = frozenset()


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Ids of records that nothing needs, each kind the oldest first."""

    proofs: tuple[str, ...] = ()
    receipts: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.proofs) + len(self.receipts) + len(self.runs)

    def first(self, most: int) -> "Found":
        """At most so many of them. What points to something goes before what it points to."""
        proofs = self.proofs[:most]
        receipts = self.receipts[: most - len(proofs)]
        runs = self.runs[: most - len(proofs) - len(receipts)]
        return Found(proofs=proofs, receipts=receipts, runs=runs)


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """What of the files beside a store its records name.

    Files may be written before the record that names them: `since_ns` is when the oldest run
    without a recorded end was started, None if there is none.
    """

    outputs: frozenset[str]  #: digests
    runs: frozenset[str]
    locks: frozenset[str]  #: unfinished attempts
    since_ns: int | None


def cleared(
    clearing: Clearing,
    proofs: Sequence[Proof],
    receipts: Sequence[Receipt],
    runs: Sequence[RunRecord],
    unfinished: Collection[str],
) -> Found:
    """What may go. `proofs` are the newest first, `receipts` by increasing sequence.

    `unfinished` are the runs with an unfinished attempt.
    """
    kept = [
        proof
        for at, proof in enumerate(proofs)
        if at < clearing.keep_proofs
        or proof.settled_wall_ns >= clearing.before_ns
        or proof.tree in clearing.trees
    ]
    at_work = {run.id for run in runs if run.report is None or run.id in unfinished}
    needed = _receipts(clearing, kept, receipts, busy=bool(at_work))
    runs_needed = at_work | {proof.run for proof in kept}
    runs_needed |= {receipt.run for receipt in receipts if receipt.id in needed}
    proofs_kept = {proof.id for proof in kept}
    return Found(
        proofs=tuple(proof.id for proof in reversed(proofs) if proof.id not in proofs_kept),
        receipts=tuple(receipt.id for receipt in receipts if receipt.id not in needed),
        runs=tuple(
            run.id
            for run in reversed(runs)
            if run.id not in runs_needed
            and max(run.started_wall_ns, run.ended_wall_ns or 0) < clearing.before_ns
        ),
    )


def _receipts(
    clearing: Clearing, kept: Sequence[Proof], receipts: Sequence[Receipt], *, busy: bool
) -> set[str]:
    """The receipts that have to stay.

    While a run is at work it may reuse any that decides. And where one receipt stays, the one
    that decides its identity stays as well: without a newer failure, what it voids would stand
    again.
    """
    needed = {item.receipt for proof in kept for item in proof.evidence}
    identities = {item.identity for proof in kept for item in proof.evidence}
    needed |= {each.id for each in receipts if each.started_wall_ns >= clearing.before_ns}
    identities |= {each.identity for each in receipts if each.id in needed or busy}
    deciding = {each.identity: each.id for each in receipts if each.identity in identities}
    return needed.union(deciding.values())
