"""The law book of the gate's store: what a settlement, a receipt and a Proof are worth."""

import threading

import pytest

from tenure.gate.errors import EvidenceGone
from tenure.gate.proof import Proof
from tenure.gate.record import ContentMemo, Memo, TrunkMemo, Watched
from tenure.gate.report import Report
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.errors import HoldEnded, HoldLost, RecordMissing, ReplyLost, RevisionConflict
from tenure.testing.conformance.gate_scene import (
    CANDIDATE,
    FAILED,
    IDENTITY,
    PASSED,
    GateBackend,
    proof,
    receipt,
    run_record,
    setup_record,
)
from tenure.testing.conformance.requests import LAPSED, TTL, bind_request
from tenure.testing.faults import Faults


class GateLaws:
    """Bound to a backend by a subclass with a `gate` fixture."""

    def test_s10_a_proof_is_there_if_its_settlement_is(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        assert gate.store.find_proof(CANDIDATE) is None
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        assert gate.store.find_proof(CANDIDATE) == proof("ann")
        settled = gate.store.attempt("ann-attempt")
        assert settled is not None
        assert settled.outcome == "passed"
        ended = gate.store.run("ann-run")
        assert ended is not None
        assert ended.report == PASSED

    def test_s10_a_settlement_that_fails_publishes_nothing(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        store, wire = gate.handle()
        wire.lose_call()
        with pytest.raises(ReplyLost):
            store.settle(
                ann.fence,
                "passed",
                run="ann-run",
                report=PASSED,
                proof=proof("ann"),
                receipts=[receipt("ann")],
            )
        assert gate.store.find_proof(CANDIDATE) is None
        assert gate.store.deciding([IDENTITY]) == {}
        assert gate.store.attempt("ann-attempt") == ann

    def test_s10_a_settlement_whose_answer_is_lost_published_everything(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        store, wire = gate.handle()
        wire.lose_answer()
        with pytest.raises(ReplyLost):
            store.settle(
                ann.fence,
                "passed",
                run="ann-run",
                report=PASSED,
                proof=proof("ann"),
                receipts=[receipt("ann")],
            )
        assert gate.store.find_proof(CANDIDATE) == proof("ann")
        ended = gate.store.run("ann-run")
        assert ended is not None
        assert ended.report == PASSED

    def test_s7_a_retired_run_cannot_publish_or_settle(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.kernel.clock.advance(TTL)
        gate.store.retire(ann, "bob-run", LAPSED)
        with pytest.raises(HoldLost) as loss:
            gate.store.publish(ann.fence, receipt("ann"))
        assert loss.value.by == "bob-run"
        with pytest.raises(HoldLost):
            gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        with pytest.raises(HoldLost):
            gate.store.renew(ann.fence)
        with pytest.raises(HoldLost):
            gate.store.held(ann.fence)
        assert gate.store.deciding([IDENTITY]) == {}
        assert gate.store.find_proof(CANDIDATE) is None
        ended = gate.store.run("ann-run")
        assert ended is not None
        assert ended.report is None, "a refused settlement records no end either"

    def test_s7_receipts_published_before_a_retirement_stay(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.kernel.clock.advance(TTL)
        gate.store.retire(ann, "bob-run", LAPSED)
        assert gate.store.deciding([IDENTITY])[IDENTITY].id == "ann-test-1"

    def test_s5_a_lapse_without_a_takeover_changes_nothing(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.kernel.clock.advance(10 * TTL)
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.renew(ann.fence)
        gate.kernel.clock.advance(10 * TTL)
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        assert gate.store.find_proof(CANDIDATE) == proof("ann")

    def test_s11_publishing_twice_publishes_once(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        store, wire = gate.handle()
        wire.lose_answer()
        with pytest.raises(ReplyLost):
            store.publish(ann.fence, receipt("ann"))
        again = store.publish(ann.fence, receipt("ann"))
        other = store.publish(ann.fence, receipt("ann", "lint", identity="identity of lint"))
        assert (again.sequence, other.sequence) == (1, 2)

    def test_s11_settling_twice_settles_once(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        store, wire = gate.handle()
        wire.lose_answer()

        def settle() -> AttemptRecord:
            return store.settle(
                ann.fence,
                "passed",
                run="ann-run",
                report=PASSED,
                proof=proof("ann"),
                receipts=[receipt("ann")],
            )

        with pytest.raises(ReplyLost):
            settle()
        assert settle() == settle()
        assert gate.store.find_proof(CANDIDATE) == proof("ann")
        assert gate.store.deciding([IDENTITY])[IDENTITY].sequence == 1

    def test_s1_a_settled_attempt_takes_no_second_verdict(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.settle(ann.fence, "failed", run="ann-run", report=FAILED)
        with pytest.raises(HoldEnded):
            gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        with pytest.raises(RevisionConflict):
            gate.store.retire(ann, "bob-run", LAPSED)
        assert gate.store.find_proof(CANDIDATE) is None

    def test_s4_of_a_retirement_and_a_proof_exactly_one_lands(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.kernel.clock.advance(TTL)
        rival, _ = gate.handle()
        outcome: list[str] = []
        done = threading.Event()

        def retire() -> None:
            try:
                rival.retire(ann, "bob-run", LAPSED)
                outcome.append("retired")
            except RevisionConflict:
                outcome.append("too late")
            done.set()

        with Faults() as faults:
            pause = faults.pause("settle:read")
            settling = threading.Thread(
                target=lambda: gate.handle()[0].settle(
                    ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann")
                )
            )
            settling.start()
            pause.await_arrival()
            retiring = threading.Thread(target=retire)
            retiring.start()
            pause.resume()
            settling.join(60)
            retiring.join(60)
        assert done.is_set()
        assert outcome == ["too late"]
        assert gate.store.find_proof(CANDIDATE) == proof("ann")

    def test_the_newest_receipt_of_an_identity_decides(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann", nth=1))
        gate.store.publish(ann.fence, receipt("ann", outcome="failed", nth=2))
        assert gate.store.deciding([IDENTITY, "unknown"])[IDENTITY].outcome == "failed"
        assert gate.store.nearest(["test", "lint"])["test"].id == "ann-test-2"
        assert set(gate.store.deciding([IDENTITY, "unknown"])) == {IDENTITY}

    def test_a_newer_failure_voids_a_proof_and_a_newer_pass_restores_it(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        bob = gate.bind("bob")
        gate.store.publish(bob.fence, receipt("bob", outcome="failed"))
        assert gate.store.find_proof(CANDIDATE) is None
        assert gate.store.proofs_of_tree("7" * 40) == [(proof("ann"), False)]
        gate.store.publish(bob.fence, receipt("bob", nth=2))
        assert gate.store.find_proof(CANDIDATE) == proof("ann")

    def test_a_settlement_without_the_receipts_of_its_proof_settles_nothing(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        with pytest.raises(EvidenceGone):
            gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        assert gate.store.find_proof(CANDIDATE) is None
        assert gate.store.attempt("ann-attempt") == ann
        ended = gate.store.run("ann-run")
        assert ended is not None
        assert ended.report is None

    def test_a_dropped_receipt_answers_for_nothing_and_voids_what_rests_on_it(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann", nth=0))
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        known, void = gate.store.drop("ann-test-1", "the machine was broken")
        assert (known.dropped, void) == ("the machine was broken", [proof("ann")])
        assert gate.store.find_proof(CANDIDATE) is None
        assert gate.store.proofs_of_tree("7" * 40) == [(proof("ann"), False)]
        deciding = gate.store.deciding([IDENTITY])[IDENTITY]
        assert (deciding.id, deciding.passed) == ("ann-test-1", False), "no older one comes back"

    def test_a_proof_stays_void_when_the_job_of_its_dropped_receipt_passes_again(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        gate.store.drop("ann-test-1", "wrong")
        bob = gate.bind("bob")
        gate.store.publish(bob.fence, receipt("bob"))
        assert gate.store.deciding([IDENTITY])[IDENTITY].passed
        assert gate.store.find_proof(CANDIDATE) is None
        gate.store.settle(bob.fence, "passed", run="bob-run", report=PASSED, proof=proof("bob"))
        assert gate.store.find_proof(CANDIDATE) == proof("bob")

    def test_s4_a_receipt_dropped_before_the_settlement_keeps_its_proof_out(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.drop("ann-test-1", "wrong")
        with pytest.raises(EvidenceGone):
            gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        assert gate.store.attempt("ann-attempt") == ann
        gate.store.settle(ann.fence, "failed", run="ann-run", report=FAILED)
        assert gate.store.proof("ann-proof") is None

    def test_s11_a_receipt_is_dropped_once_and_keeps_its_first_reason(
        self, gate: GateBackend
    ) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        store, wire = gate.handle()
        wire.lose_answer()
        with pytest.raises(ReplyLost):
            store.drop("ann-test-1", "first")
        assert store.drop("ann-test-1", "second")[0].dropped == "first"
        with pytest.raises(RecordMissing):
            store.drop("nobody's", "none")

    def test_receipts_are_found_by_the_start_of_their_id(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        for nth in range(3):
            gate.store.publish(ann.fence, receipt("ann", nth=nth))
        assert [found.id for found in gate.store.receipt_like("ann-test-2")] == ["ann-test-2"]
        assert len(gate.store.receipt_like("ann")) == 2
        assert gate.store.receipt_like("bob") == []

    def test_a_bind_after_somebody_elses_proof_is_answered_by_it(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        answered = gate.store.bind(bind_request("bob"), run_record("bob"), unless_proven=True)
        assert isinstance(answered, Proof)
        assert answered == proof("ann")
        assert gate.store.attempt("bob-attempt") is None
        assert gate.store.run("bob-run") is None

    def test_a_bind_is_not_answered_by_a_proof_that_is_void(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.publish(ann.fence, receipt("ann", outcome="failed", nth=2))
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        bound = gate.store.bind(bind_request("bob"), run_record("bob"), unless_proven=True)
        assert isinstance(bound, AttemptRecord)
        assert bound.bound

    def test_binding_records_the_run_and_joining_names_the_rival(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        bob = gate.bind("bob")
        assert (ann.outcome, ann.sequence) == (None, 1)
        assert (bob.outcome, bob.joined, bob.sequence) == ("joined", "ann-attempt", 2)
        recorded = gate.store.run("ann-run")
        assert recorded is not None
        assert recorded.attempt == "ann-attempt"
        assert [run.id for run in gate.store.open_runs()] == ["ann-run", "bob-run"]

    def test_the_first_cancel_counts_and_an_ended_run_takes_none(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        first = gate.store.cancel("ann-run", "bob", "first")
        assert first is not None
        assert gate.store.cancel("ann-run", "cyd", "second") == first
        gate.store.settle(ann.fence, "cancelled", run="ann-run", report=FAILED)
        assert gate.store.cancel("ann-run", "dan", "late") is None
        with pytest.raises(RecordMissing):
            gate.store.cancel("nobody's", "bob", "none")

    def test_the_recorded_end_of_a_run_stays(self, gate: GateBackend) -> None:
        gate.bind("ann")
        gate.store.end_run("ann-run", FAILED)
        gate.store.end_run("ann-run", Report(outcome="broken", exit_code=70))
        ended = gate.store.run("ann-run")
        assert ended is not None
        assert ended.report == FAILED
        assert gate.store.open_runs() == []

    def test_runs_are_listed_newest_first(self, gate: GateBackend) -> None:
        for name in ("ann", "bob", "cyd"):
            gate.store.add_run(run_record(name))
        gate.store.add_run(run_record("ann", checkout="w2"))
        started = [run.started_wall_ns for run in gate.store.recent_runs(2)]
        assert started == sorted(started, reverse=True)
        assert len(started) == 2
        kept = gate.store.run("ann-run")
        assert kept is not None
        assert kept.checkout == "w1", "a run is recorded once"

    def test_a_checkout_is_set_up_for_one_thing_and_for_nothing_meanwhile(
        self, gate: GateBackend
    ) -> None:
        store, run = gate.store, run_record("ann", checkout="w1")
        first, second = setup_record("w1", "first"), setup_record("w1", "second")
        assert store.setup("w1") is None
        store.end_setup(first)
        store.end_setup(setup_record("w2", "other"))
        store.end_setup(second)
        assert (store.setup("w1"), store.setup("w2")) == (second, setup_record("w2", "other"))
        store.begin_setup(run)
        store.begin_setup(run)
        assert store.setup("w1") is None
        assert store.setup("w2") is not None
        assert store.run("ann-run") == run

    def test_what_is_pinned_first_stays(self, gate: GateBackend) -> None:
        assert gate.store.setting("trunk") is None
        assert gate.store.pinned("trunk", "main") == "main"
        assert gate.store.pinned("trunk", "other") == "main"
        assert gate.store.secret() == gate.store.secret()

    def test_proofs_are_found_by_the_start_of_their_id(self, gate: GateBackend) -> None:
        ann = gate.bind("ann")
        gate.store.publish(ann.fence, receipt("ann"))
        gate.store.settle(ann.fence, "passed", run="ann-run", report=PASSED, proof=proof("ann"))
        assert gate.store.proof_like("ann-p") == [(proof("ann"), True)]
        assert gate.store.proof_like("bob") == []
        assert gate.store.proof("ann-proof") == proof("ann")

    def test_what_spares_work_is_remembered_in_place_of_the_old(self, gate: GateBackend) -> None:
        watched = (
            Watched(path="/there", stat=(1, 2, 3, 4, 5)),
            Watched(path="/not\udcffthere", stat=None),
        )
        for ref in ("refs/heads/old", "refs/heads/main"):
            gate.store.remember(trunk=TrunkMemo(ref=ref, watched=watched))
        trunk = gate.store.trunk()
        assert trunk is not None
        assert trunk.ref == "refs/heads/main"
        assert set(trunk.watched) == set(watched)
        contents = ContentMemo({})
        contents.put(("/bin/sh@0", 1, 2, 3, 4, 5), "old")
        contents.put(("/bin/sh@0", 1, 2, 3, 4, 6), "new")
        memo = Memo(
            tree="t", base="", tip="", proof="p", environment=(("A", None),), watched=watched
        )
        gate.store.remember(contents=contents, memo=memo)
        assert gate.store.contents().get(("/bin/sh@0", 1, 2, 3, 4, 6)) == "new"
        assert gate.store.contents().get(("/bin/sh@0", 1, 2, 3, 4, 5)) is None
