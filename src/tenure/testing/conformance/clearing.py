"""The law book of clearing: what goes from a gate's store, and that nothing else is changed by it."""

import msgspec
import pytest

from tenure.gate.clearing import Clearing, Found
from tenure.gate.receipt import Output
from tenure.gate.record import Memo
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.errors import HoldLost
from tenure.testing.conformance.gate_scene import (
    CANDIDATE,
    FAILED,
    IDENTITY,
    PASSED,
    GateBackend,
    proof,
    receipt,
    run_record,
)
from tenure.testing.conformance.requests import LAPSED, TTL, bind_request

#: A moment after everything that happens in this book.
LATER = 10**30


class ClearingLaws:
    """Bound to a backend by a subclass with a `gate` fixture."""

    def test_a_kept_proof_keeps_what_it_rests_on_and_stands_as_before(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann", nth=0))
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        found = gate.store.clear(Clearing(before_ns=LATER, keep_proofs=1), 10)
        assert found == Found(receipts=("ann-test-0",))
        assert gate.store.find_proof(CANDIDATE) == proof("ann")
        assert gate.store.run("ann-run") is not None
        assert gate.store.attempt("ann-attempt") is not None

    def test_clearing_never_makes_a_void_proof_stand(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        bob = gate.bind("bob")
        gate.store.publish(bob.fence, receipt("bob", outcome="failed"))
        gate.store.settle(bob.fence, "failed", run="bob-run", report=FAILED)
        found = gate.store.clear(Clearing(before_ns=LATER, keep_proofs=1), 10)
        assert found.count == 0, "the failure decides whether the Proof stands"
        assert gate.store.find_proof(CANDIDATE) is None

    def test_what_nothing_needs_is_cleared_and_what_is_left_is_still_in_order(
        self, gate: GateBackend
    ) -> None:
        clearing = Clearing(before_ns=LATER, keep_proofs=0)
        for name in ("ann", "bob"):
            bound = gate.bind(name)
            gate.store.publish(bound.fence, receipt(name))
            gate.store.drop(f"{name}-test-1", "wrong")
            gate.store.settle(bound.fence, "failed", run=f"{name}-run", report=FAILED)
        would = gate.store.would_clear(clearing)
        assert would.receipts == ("ann-test-1", "bob-test-1")
        assert set(would.runs) == {"ann-run", "bob-run"}
        assert gate.store.clear(clearing, 3).count == 3
        assert gate.store.clear(clearing, 3).count == 1
        assert gate.store.clear(clearing, 3) == Found()
        assert gate.store.recent_runs(10) == []
        assert gate.store.attempt("ann-attempt") is None
        assert gate.store.attempt("bob-attempt") is not None, (
            "the last one, so that none comes twice"
        )
        cyd = gate.bind("cyd")
        assert cyd.sequence == 3
        gate.store.publish(cyd.fence, receipt("ann", nth=1))
        assert gate.store.deciding([IDENTITY])[IDENTITY].passed, "dropped is not what comes later"

    def test_a_memo_goes_with_its_proof(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        memo = Memo(tree="t", base="", tip="", proof="ann-proof", environment=(), watched=())
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.settle(
            ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"), memo=memo
        )
        found = gate.store.clear(Clearing(before_ns=LATER, keep_proofs=0), 10)
        assert (found.proofs, found.receipts) == (("ann-proof",), ("ann-test-1",))
        assert gate.store.proof("ann-proof") is None
        assert gate.store.find_proof(CANDIDATE) is None

    def test_what_is_young_is_kept_and_so_is_what_a_run_at_work_may_use(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        assert gate.store.would_clear(Clearing(before_ns=LATER, keep_proofs=0)) == Found()
        gate.store.settle(ann.fence, "failed", run="ann-run", report=FAILED)
        assert gate.store.would_clear(Clearing(before_ns=1, keep_proofs=0)) == Found()
        bob = gate.bind("bob", subject="another")
        found = gate.store.would_clear(Clearing(before_ns=LATER, keep_proofs=0))
        assert found == Found(), "bob may be about to reuse it, and its log is ann's"
        gate.store.settle(bob.fence, "failed", run="bob-run", report=FAILED)
        found = gate.store.would_clear(Clearing(before_ns=LATER, keep_proofs=0))
        assert (found.receipts, len(found.runs)) == (("ann-test-1",), 2)

    def test_s7_a_retired_run_is_remembered_until_it_has_noticed(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.kernel.clock.advance(TTL)
        gate.store.retire(ann, "bob-run", LAPSED)
        gate.bind("bob", subject="another")
        assert gate.store.clear(Clearing(before_ns=LATER, keep_proofs=0), 10) == Found()
        with pytest.raises(HoldLost):
            gate.store.publish(ann.fence, receipt("ann"))
        gate.store.end_run("ann-run", FAILED)
        assert gate.store.clear(Clearing(before_ns=LATER, keep_proofs=0), 10).runs == ("ann-run",)
        assert gate.store.attempt("ann-attempt") is None

    def test_what_another_repository_has_is_named_and_never_cleared(
        self, gate: GateBackend
    ) -> None:
        """Its files are in the same directories."""
        theirs, _ = gate.handle()
        theirs.repository = "another"
        output = Output(path="report.xml", digest="d1", size=1)
        bound = theirs.bind(
            msgspec.structs.replace(bind_request("ann"), repository="another"),
            msgspec.structs.replace(run_record("ann"), repository="another"),
            unless_proven=False,
        )
        assert isinstance(bound, AttemptRecord)
        published = msgspec.structs.replace(receipt("ann"), repository="another", outputs=(output,))
        theirs.publish(bound.fence, published)
        theirs.settle(bound.fence, "failed", run="ann-run", report=FAILED)
        assert gate.store.clear(Clearing(before_ns=LATER, keep_proofs=0), 10) == Found()
        assert gate.store.named().outputs == frozenset({"d1"})
        assert gate.store.named().runs == frozenset({"ann-run"})
        found = theirs.clear(Clearing(before_ns=LATER, keep_proofs=0), 10)
        assert (found.receipts, found.runs) == (("ann-test-1",), ("ann-run",))

    def test_what_records_name_on_disk_is_told(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        output = Output(path="report.xml", digest="d1", size=1)
        published = msgspec.structs.replace(receipt("ann"), outputs=(output,))
        gate.store.publish(ann.fence, published)
        named = gate.store.named()
        assert (named.outputs, named.runs) == (frozenset({"d1"}), frozenset({"ann-run"}))
        assert named.locks == frozenset({"ann-attempt"})
        assert named.since_ns == run_record("ann").started_wall_ns
        assert gate.store.named(without={"ann-test-1"}).outputs == frozenset()
        gate.store.settle(ann.fence, "failed", run="ann-run", report=FAILED)
        assert (gate.store.named().locks, gate.store.named().since_ns) == (frozenset(), None)
