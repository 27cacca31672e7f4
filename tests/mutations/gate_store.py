"""Faults in the gate's store: what a settlement, a receipt and a Proof are worth."""

from tests.mutations.planted import Mutation

MEMORY = "tests/conformance/test_memory.py::TestGate"
SQLITE = "tests/conformance/test_sqlite.py::TestGate"
QUERIES = "gate/stores/sqlite/queries"

STORE = (
    Mutation(
        "a Proof is stored after its settlement",
        "gate/store.py",
        """            record = ledger.settle(tx, fence, outcome, now)
            rows = self._rows(tx)
""",
        """            record = ledger.settle(tx, fence, outcome, now)
        with self._database.write() as tx:
            rows = self._rows(tx)
""",
        (MEMORY,),
    ),
    Mutation(
        "a receipt is published without the hold",
        "gate/store.py",
        "            ledger.hold(tx, fence)\n            return _publish",
        "            return _publish",
        (MEMORY,),
    ),
    Mutation(
        "the oldest receipt decides",
        f"{QUERIES}/read_newest_receipt.sql",
        "ORDER BY receipt.sequence DESC",
        "ORDER BY receipt.sequence",
        (SQLITE,),
    ),
    Mutation(
        "a newer failure voids nothing",
        "gate/store.py",
        "            if proof is None or not _stands(rows, proof):\n",
        "            if proof is None:\n",
        (MEMORY,),
    ),
    Mutation(
        "a Proof is settled on receipts that are gone",
        "gate/store.py",
        "return known is not None and known.passed",
        "return known is None or known.passed",
        (MEMORY,),
    ),
    Mutation(
        "a dropped receipt is reused",
        "gate/receipt.py",
        'return self.outcome == "passed" and not self.dropped',
        'return self.outcome == "passed"',
        (MEMORY,),
    ),
    Mutation(
        "a Proof comes back when the job of its dropped receipt passes again",
        "gate/store.py",
        "if newest.id != item.receipt and not _relied_on(rows, item.receipt):",
        "if newest.id == item.receipt and not _relied_on(rows, item.receipt):",
        (MEMORY,),
    ),
    Mutation(
        "a Proof is settled on a receipt that was dropped meanwhile",
        "gate/store.py",
        "                _require_evidence(rows, proof)\n",
        "",
        (MEMORY,),
    ),
    Mutation(
        "the shortcut does not know of dropped receipts",
        f"{QUERIES}/find_memos.sql",
        "WHERE receipt.id IS NULL OR dropped.receipt IS NOT NULL",
        "WHERE receipt.id IS NULL",
        ("tests/gate/test_shortcut.py",),
    ),
    Mutation(
        "a void Proof answers a bind",
        "gate/store.py",
        "if proof is not None and _stands(rows, proof):",
        "if proof is not None:",
        (MEMORY,),
    ),
    Mutation(
        "a bind does not see the Proof that came meanwhile",
        "gate/store.py",
        "if unless_proven and tx.attempts.read(request.attempt) is None:",
        "if unless_proven and run.id == request.attempt:",
        (MEMORY,),
    ),
    Mutation(
        "a receipt in doubt is left out of the settlement",
        "gate/store.py",
        "            for receipt in receipts:\n                _publish(rows, receipt)\n",
        "",
        (MEMORY,),
    ),
    Mutation(
        "a receipt asked for twice is published twice",
        "gate/store.py",
        "return rows.add_receipt(receipt) if known is None else known",
        "return rows.add_receipt(msgspec.structs.replace(receipt, id=new_id()))",
        (MEMORY,),
    ),
    Mutation(
        "a settlement leaves its run without an end",
        "gate/store.py",
        "            _end_run(rows, run, report, now.wall_ns)\n",
        "",
        (MEMORY,),
    ),
    Mutation(
        "the recorded end of a run is written over",
        "gate/store.py",
        "if known is not None and known.report is None:",
        "if known is not None:",
        (MEMORY,),
    ),
    Mutation(
        "the second cancel wins",
        "gate/store.py",
        "if known.cancel is None:",
        "if known.cancel is None or known.cancel.by != by:",
        (MEMORY,),
    ),
    Mutation(
        "a file's digest is remembered for another time than it was taken",
        f"{QUERIES}/list_contents.sql",
        "SELECT path, device, inode, size, mtime_ns, ctime_ns, digest FROM content;",
        "SELECT path, device, inode, size, mtime_ns, ctime_ns - 1, digest FROM content;",
        (SQLITE,),
    ),
)
