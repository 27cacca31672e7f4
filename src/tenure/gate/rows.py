"""What a backend implements beside the kernel's rows: the gate's own, in an open transaction."""

from typing import Protocol

from tenure.gate.proof import Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import ContentKey, Memo, RunRecord, SetupRecord, TrunkMemo


class GateRows(Protocol):
    """The gate's rows of an open transaction. Rows come back as they were written."""

    def setting(self, name: str) -> str | None:
        """A value pinned for the whole store."""
        ...

    def pin(self, name: str, value: str) -> None:
        """Pin a value that is not pinned yet."""
        ...

    def run(self, run: str) -> RunRecord | None:
        """One run."""
        ...

    def put_run(self, run: RunRecord) -> None:
        """Insert or replace a run."""
        ...

    def open_runs(self, repository: str) -> list[RunRecord]:
        """Runs without a recorded end, newest first."""
        ...

    def recent_runs(self, repository: str, limit: int) -> list[RunRecord]:
        """The newest runs, newest first."""
        ...

    def receipt(self, receipt: str) -> Receipt | None:
        """One receipt by id."""
        ...

    def add_receipt(self, receipt: Receipt) -> Receipt:
        """Insert a receipt and return it with its sequence."""
        ...

    def newest_receipt(self, repository: str, identity: str) -> Receipt | None:
        """The receipt that decides an identity."""
        ...

    def nearest_receipt(self, repository: str, requirement: str) -> Receipt | None:
        """The newest receipt of a requirement, whatever its identity."""
        ...

    def receipts_like(self, repository: str, start: str) -> list[Receipt]:
        """At most two of the receipts whose id begins with `start`."""
        ...

    def drop_receipt(self, receipt: str, reason: str) -> None:
        """Mark a receipt as dropped. One that is keeps its first reason."""
        ...

    def proofs_on(self, receipt: Receipt) -> list[Proof]:
        """Every Proof that rests on a receipt, newest first."""
        ...

    def add_proof(self, proof: Proof) -> None:
        """Insert a Proof."""
        ...

    def proof(self, proof: str) -> Proof | None:
        """One Proof by id."""
        ...

    def newest_proof(self, repository: str, candidate: str) -> Proof | None:
        """The newest Proof of a candidate."""
        ...

    def proofs_of_tree(self, repository: str, tree: str) -> list[Proof]:
        """Every Proof of a tree, newest first."""
        ...

    def proofs_like(self, repository: str, start: str) -> list[Proof]:
        """At most two of the Proofs whose id begins with `start`."""
        ...

    def receipts(self) -> list[Receipt]:
        """Every receipt, of whatever repository, by increasing sequence."""
        ...

    def runs(self) -> list[RunRecord]:
        """Every run, of whatever repository, newest first."""
        ...

    def proofs(self, repository: str) -> list[Proof]:
        """Every Proof of the repository, newest first."""
        ...

    def remove_receipt(self, receipt: str) -> None:
        """Remove a receipt, and that it was dropped."""
        ...

    def remove_proof(self, proof: str) -> None:
        """Remove a Proof and every memo that leads to it."""
        ...

    def remove_run(self, run: str) -> None:
        """Remove a run."""
        ...

    def add_memo(self, memo: Memo) -> None:
        """Insert a memo; of those for one `(tree, base)` only the newest few are kept."""
        ...

    def setup(self, repository: str, checkout: str) -> SetupRecord | None:
        """What a checkout was set up for last."""
        ...

    def put_setup(self, setup: SetupRecord) -> None:
        """Record what a checkout is set up for, in place of what was recorded."""
        ...

    def remove_setup(self, repository: str, checkout: str) -> None:
        """Forget what a checkout was set up for, if anything is recorded."""
        ...

    def contents(self) -> dict[ContentKey, str]:
        """Every remembered digest of a file."""
        ...

    def put_content(self, key: ContentKey, digest: str) -> None:
        """Remember a file's digest in place of what was known of the same path."""
        ...

    def trunk(self) -> TrunkMemo | None:
        """The remembered resolution of the trunk."""
        ...

    def put_trunk(self, trunk: TrunkMemo) -> None:
        """Remember how the trunk was resolved, in place of what was remembered."""
        ...
