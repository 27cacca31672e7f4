"""The gate's rows in memory: the reference that other backends are compared with."""

from collections.abc import Callable
from typing import cast

import msgspec

from tenure.gate.proof import Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import ContentKey, Memo, RunRecord, SetupRecord, TrunkMemo
from tenure.kernel.errors import RevisionConflict
from tenure.kernel.store import Transaction
from tenure.kernel.stores.memory import MemoryTransaction


class MemoryGateRows:
    """The gate's tables of one open transaction."""

    def __init__(self, tx: MemoryTransaction) -> None:
        self._settings = tx.table("gate.settings")
        self._runs = tx.table("gate.runs")
        self._receipts = tx.table("gate.receipts")
        self._proofs = tx.table("gate.proofs")
        self._memos = tx.table("gate.memos")
        self._contents = tx.table("gate.contents")
        self._trunks = tx.table("gate.trunks")
        self._setups = tx.table("gate.setups")

    def setting(self, name: str) -> str | None:
        """A value pinned for the whole store."""
        return self._settings.get(name)

    def pin(self, name: str, value: str) -> None:
        """Pin a value that is not pinned yet."""
        if name in self._settings:
            raise RevisionConflict(record=f"setting {name}", expected=0)
        self._settings[name] = value

    def run(self, run: str) -> RunRecord | None:
        """One run."""
        return self._runs.get(run)

    def put_run(self, run: RunRecord) -> None:
        """Insert or replace a run."""
        self._runs[run.id] = run

    def open_runs(self, repository: str) -> list[RunRecord]:
        """Runs without a recorded end, newest first."""
        return [run for run in self.recent_runs(repository, len(self._runs)) if not run.report]

    def recent_runs(self, repository: str, limit: int) -> list[RunRecord]:
        """The newest runs, newest first."""
        runs = [run for run in self._runs.values() if run.repository == repository]
        runs.sort(key=_age, reverse=True)
        return runs[:limit]

    def receipt(self, receipt: str) -> Receipt | None:
        """One receipt by id."""
        return self._receipts.get(receipt)

    def add_receipt(self, receipt: Receipt) -> Receipt:
        """Insert a receipt and return it with its sequence."""
        if receipt.id in self._receipts:
            raise RevisionConflict(record=f"receipt {receipt.id}", expected=0)
        sequences = [known.sequence for known in self._receipts.values()]
        stored = msgspec.structs.replace(receipt, sequence=1 + max(sequences, default=0))
        self._receipts[receipt.id] = stored
        return stored

    def newest_receipt(self, repository: str, identity: str) -> Receipt | None:
        """The receipt that decides an identity."""
        return self._newest(repository, lambda receipt: receipt.identity == identity)

    def nearest_receipt(self, repository: str, requirement: str) -> Receipt | None:
        """The newest receipt of a requirement, whatever its identity."""
        return self._newest(repository, lambda receipt: receipt.requirement == requirement)

    def _newest(self, repository: str, wanted: Callable[[Receipt], bool]) -> Receipt | None:
        found = [
            receipt
            for receipt in self._receipts.values()
            if receipt.repository == repository and wanted(receipt)
        ]
        return max(found, key=lambda receipt: receipt.sequence, default=None)

    def receipts_like(self, repository: str, start: str) -> list[Receipt]:
        """At most two of the receipts whose id begins with `start`."""
        found = [
            receipt
            for receipt in self._receipts.values()
            if receipt.repository == repository and receipt.id.startswith(start)
        ]
        return found[:2]

    def drop_receipt(self, receipt: str, reason: str) -> None:
        """Mark a receipt as dropped, unless it is."""
        known = self._receipts[receipt]
        if not known.dropped:
            self._receipts[receipt] = msgspec.structs.replace(known, dropped=reason)

    def proofs_on(self, receipt: Receipt) -> list[Proof]:
        """Every Proof that rests on a receipt, newest first."""
        return [
            proof
            for proof in self._newest_first(receipt.repository)
            if any(item.receipt == receipt.id for item in proof.evidence)
        ]

    def add_proof(self, proof: Proof) -> None:
        """Insert a Proof."""
        if proof.id in self._proofs:
            raise RevisionConflict(record=f"proof {proof.id}", expected=0)
        self._proofs[proof.id] = proof

    def proof(self, proof: str) -> Proof | None:
        """One Proof by id."""
        return self._proofs.get(proof)

    def newest_proof(self, repository: str, candidate: str) -> Proof | None:
        """The newest Proof of a candidate."""
        found = [proof for proof in self._newest_first(repository) if proof.candidate == candidate]
        return found[0] if found else None

    def proofs_of_tree(self, repository: str, tree: str) -> list[Proof]:
        """Every Proof of a tree, newest first."""
        return [proof for proof in self._newest_first(repository) if proof.tree == tree]

    def proofs_like(self, repository: str, start: str) -> list[Proof]:
        """At most two of the Proofs whose id begins with `start`."""
        return [proof for proof in self._newest_first(repository) if proof.id.startswith(start)][:2]

    def _newest_first(self, repository: str) -> list[Proof]:
        # Tables keep the order of insertion, which is the order of settlement.
        return [proof for proof in self._proofs.values() if proof.repository == repository][::-1]

    def receipts(self) -> list[Receipt]:
        """Every receipt, of whatever repository, by increasing sequence."""
        return sorted(self._receipts.values(), key=lambda receipt: receipt.sequence)

    def runs(self) -> list[RunRecord]:
        """Every run, of whatever repository, newest first."""
        return sorted(self._runs.values(), key=_age, reverse=True)

    def proofs(self, repository: str) -> list[Proof]:
        """Every Proof of the repository, newest first."""
        return self._newest_first(repository)

    def remove_receipt(self, receipt: str) -> None:
        """Remove a receipt, and that it was dropped."""
        self._receipts.pop(receipt, None)

    def remove_proof(self, proof: str) -> None:
        """Remove a Proof and every memo that leads to it."""
        self._proofs.pop(proof, None)
        for key in [key for key, memo in self._memos.items() if memo.proof == proof]:
            del self._memos[key]

    def remove_run(self, run: str) -> None:
        """Remove a run."""
        self._runs.pop(run, None)

    def add_memo(self, memo: Memo) -> None:
        """Insert a memo in place of older ones for the same `(tree, base)`."""
        self._memos[f"{memo.tree} {memo.base}"] = memo

    def setup(self, repository: str, checkout: str) -> SetupRecord | None:
        """What a checkout was set up for last."""
        return self._setups.get(f"{repository} {checkout}")

    def put_setup(self, setup: SetupRecord) -> None:
        """Record what a checkout is set up for."""
        self._setups[f"{setup.repository} {setup.checkout}"] = setup

    def remove_setup(self, repository: str, checkout: str) -> None:
        """Forget what a checkout was set up for."""
        self._setups.pop(f"{repository} {checkout}", None)

    def contents(self) -> dict[ContentKey, str]:
        """Every remembered digest of a file."""
        return dict(self._contents.values())

    def put_content(self, key: ContentKey, digest: str) -> None:
        """Remember a file's digest in place of what was known of the same path."""
        self._contents[key[0]] = (key, digest)

    def trunk(self) -> TrunkMemo | None:
        """The remembered resolution of the trunk."""
        return self._trunks.get("trunk")

    def put_trunk(self, trunk: TrunkMemo) -> None:
        """Remember how the trunk was resolved, in place of what was remembered."""
        self._trunks["trunk"] = trunk


def _age(run: RunRecord) -> tuple[int, str]:
    return run.started_wall_ns, run.id


def memory_rows(tx: Transaction) -> MemoryGateRows:
    """The gate's rows of a transaction of the memory backend."""
    return MemoryGateRows(cast(MemoryTransaction, tx))
