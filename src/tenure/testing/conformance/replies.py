"""The law book of lost replies: asked twice, answered once (S11); nothing in halves (S10)."""

import pytest

from tenure.kernel import ledger
from tenure.kernel.errors import ReplyLost
from tenure.testing.conformance.answers import answer
from tenure.testing.conformance.backend import Backend
from tenure.testing.conformance.requests import publication
from tenure.testing.conformance.scene import CALLS, Scene
from tenure.testing.faults import Faults, Planted

#: What each call answers, however often its reply was lost before.
ANSWERS = [
    ("bob binds", "bound"),
    ("ann binds again", "bound"),
    ("renew", "bound"),
    ("publish", "published"),
    ("settle", "passed"),
    ("bob retires", "cancelled"),
    ("bob acquires", "generation 2"),
    ("ann re-enters", "generation 1"),
    ("renew lane", "held"),
    ("publish under lane", "published"),
    ("release", "released"),
    ("delete", "deleted"),
    ("ann claims", "parcel"),
    ("finish", "mail finished+post finished"),
    ("abandon", "done"),
]

#: A renewal that is repeated renews again, which is what it is for.
RENEWALS = {"renew", "renew lane"}

#: An attempt that is bound already is answered from its record, without a write.
WRITES = [row for row in ANSWERS if row[0] != "ann binds again"]


class ReplyLaws:
    """Bound to a backend by a subclass with a `backend` fixture."""

    @pytest.mark.parametrize(("name", "told"), ANSWERS)
    def test_s11_a_call_whose_reply_was_lost_is_repeated(
        self, backend: Backend, name: str, told: str
    ) -> None:
        scene = Scene(backend)
        call = CALLS[name][1]
        scene.caller.wire.lose_answer(times=2)
        with pytest.raises(ReplyLost):
            call(scene, scene.caller)
        done = scene.rows()
        with pytest.raises(ReplyLost):
            call(scene, scene.caller)
        assert answer(lambda caller: call(scene, caller), scene.caller) == told
        assert answer(lambda caller: call(scene, caller), scene.caller) == told
        if name not in RENEWALS:
            assert scene.rows() == done, "the repetition changed something"

    @pytest.mark.parametrize(("name", "told"), ANSWERS)
    def test_s11_a_call_that_never_arrived_is_repeated(
        self, backend: Backend, name: str, told: str
    ) -> None:
        scene = Scene(backend)
        call = CALLS[name][1]
        before = scene.rows()
        scene.caller.wire.lose_call()
        with pytest.raises(ReplyLost):
            call(scene, scene.caller)
        assert scene.rows() == before
        assert answer(lambda caller: call(scene, caller), scene.caller) == told

    def test_s11_a_repeated_answer_is_the_very_record(self, backend: Backend) -> None:
        scene = Scene(backend)
        settled = scene.caller.settle(scene.attempt)
        backend.clock.advance(1000)
        assert scene.caller.settle(scene.attempt) == settled
        held = CALLS["bob acquires"][1](scene, scene.caller)
        again = CALLS["bob acquires"][1](scene, scene.caller)
        assert (again.manner, again.record) == ("same", held.record)

    def test_s11_a_joined_attempt_stays_joined(self, backend: Backend) -> None:
        scene = Scene(backend)
        scene.caller.renew(scene.attempt)
        bind = CALLS["bob binds"][1]
        joined = bind(scene, scene.caller)
        scene.caller.settle(scene.attempt)
        assert bind(scene, scene.caller) == joined

    @pytest.mark.parametrize(("name", "told"), WRITES)
    def test_s10_a_call_that_dies_before_it_wrote_changed_nothing(
        self, backend: Backend, name: str, told: str
    ) -> None:
        scene = Scene(backend)
        point, call = CALLS[name]
        before = scene.rows()
        with Faults() as faults:
            faults.crash(point)
            with pytest.raises(Planted):
                call(scene, scene.caller)
        assert scene.rows() == before
        assert answer(lambda caller: call(scene, caller), scene.caller) == told

    def test_s10_a_settlement_and_what_it_publishes_are_stored_together(
        self, backend: Backend
    ) -> None:
        scene = Scene(backend)
        before = scene.rows()
        now = backend.clock.now()
        database = backend.open()

        def settle_and_publish(crash: bool) -> None:
            with database.write() as tx:
                ledger.settle(tx, scene.attempt, "passed", now)
                tx.claims.insert(publication())
                if crash:
                    raise Planted

        with pytest.raises(Planted):
            settle_and_publish(crash=True)
        assert scene.rows() == before
        settle_and_publish(crash=False)
        record = scene.caller.attempt("ann-attempt")
        assert record is not None
        assert record.outcome == "passed"
        assert scene.caller.work("published") == publication()

    def test_s10_a_takeover_that_dies_leaves_the_holder_as_it_was(self, backend: Backend) -> None:
        """The retirement of a rival is in the transaction of the bind that needs it."""
        scene = Scene(backend)
        with Faults() as faults:
            faults.crash("bind:read")
            with pytest.raises(Planted):
                CALLS["bob binds"][1](scene, scene.caller)
        assert scene.caller.attempt("ann-attempt") == scene.seen
        assert scene.caller.settle(scene.attempt).outcome == "passed"
