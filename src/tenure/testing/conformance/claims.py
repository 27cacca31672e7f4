"""The law book of claims: holds on work, without a time limit."""

import msgspec
import pytest

from tenure.kernel.claim import live
from tenure.kernel.errors import ClaimSuperseded, HoldLost
from tenure.testing.conformance.backend import Backend, Caller
from tenure.testing.conformance.requests import LANE, TTL, acquire_request

WORK = ["mail", "post"]


class ClaimLaws:
    """Bound to a backend by a subclass with a `backend` fixture."""

    def superseded(self, backend: Backend, caller: Caller) -> None:
        """Ann claimed all the work, and then bob took her lane and claimed `mail`."""
        ann = caller.acquire(acquire_request("ann"))
        caller.claim(ann.fence, WORK, "ann's")
        backend.clock.advance(TTL)
        bob = caller.acquire(acquire_request("bob"))
        assert [row.work for row in caller.claim(bob.fence, ["mail"], "bob's")] == ["mail"]

    def test_s9_a_hold_does_not_claim_again_what_it_claimed(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        rows = caller.claim(held.fence, WORK, "first")
        assert [row.work for row in rows] == WORK
        assert caller.claim(held.fence, WORK, "second") == ()
        assert caller.work("mail") == rows[0]

    def test_s9_a_re_entry_does_not_claim_again_and_is_told_what_is_open(
        self, backend: Backend
    ) -> None:
        caller = backend.caller()
        first = caller.acquire(acquire_request("ann", 1))
        rows = caller.claim(first.fence, WORK, "first")
        second = caller.acquire(acquire_request("ann", 2))
        assert caller.claim(second.fence, WORK, "second") == ()
        with caller.wire.read() as tx:
            assert tuple(tx.claims.open_in(LANE)) == rows
        assert [row.finished for row in caller.finish("first", WORK)] == [True, True]

    def test_a_successor_claims_what_an_earlier_hold_left(self, backend: Backend) -> None:
        caller = backend.caller()
        ann = caller.acquire(acquire_request("ann"))
        caller.claim(ann.fence, WORK, "ann's")
        caller.release(ann.fence)
        bob = caller.acquire(acquire_request("bob"))
        rows = caller.claim(bob.fence, WORK, "bob's")
        assert [(row.claim, row.generation) for row in rows] == [("bob's", 2), ("bob's", 2)]

    def test_another_lane_does_not_claim_claimed_work(self, backend: Backend) -> None:
        caller = backend.caller()
        ann = caller.acquire(acquire_request("ann"))
        caller.claim(ann.fence, ["mail"], "ann's")
        caller.release(ann.fence)
        other = caller.acquire(acquire_request("bob", lane="another"))
        caller.release(other.fence)
        other = caller.acquire(acquire_request("bob", 2, lane="another"))
        assert other.fence.generation == 2
        assert caller.claim(other.fence, ["mail"], "bob's") == ()

    def test_s5_a_claim_survives_the_lapse_of_its_lane(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        caller.claim(held.fence, WORK, "ann's")
        backend.clock.advance(100 * TTL)
        assert [row.finished for row in caller.finish("ann's", WORK)] == [True, True]

    def test_a_takeover_of_the_lane_alone_does_not_refuse_the_commit(
        self, backend: Backend
    ) -> None:
        caller = backend.caller()
        ann = caller.acquire(acquire_request("ann"))
        caller.claim(ann.fence, WORK, "ann's")
        backend.clock.advance(TTL)
        bob = caller.acquire(acquire_request("bob"))
        assert [row.finished for row in caller.finish("ann's", WORK)] == [True, True]
        assert caller.claim(bob.fence, WORK, "bob's") == ()

    def test_s7_once_claimed_again_the_predecessor_commits_nothing(self, backend: Backend) -> None:
        caller = backend.caller()
        self.superseded(backend, caller)
        before = [caller.work(item) for item in WORK]
        with pytest.raises(ClaimSuperseded) as refused:
            caller.finish("ann's", WORK)
        assert refused.value.rows == ("mail",)
        assert [caller.work(item) for item in WORK] == before

    def test_s7_work_is_closed_by_its_claim_alone_and_leaves_no_row(self, backend: Backend) -> None:
        caller = backend.caller()
        self.superseded(backend, caller)
        before = [caller.work(item) for item in WORK]
        with pytest.raises(ClaimSuperseded) as refused:
            caller.close_claim("ann's", WORK)
        assert refused.value.rows == ("mail",)
        assert [caller.work(item) for item in WORK] == before
        caller.close_claim("bob's", ["mail"])
        assert caller.work("mail") is None
        with pytest.raises(ClaimSuperseded):
            caller.close_claim("bob's", ["mail"])

    def test_s7_the_predecessor_hands_back_only_what_is_still_its_own(
        self, backend: Backend
    ) -> None:
        caller = backend.caller()
        self.superseded(backend, caller)
        caller.abandon("ann's")
        row = caller.work("mail")
        assert row is not None
        assert (row.claim, row.finished) == ("bob's", False)
        assert caller.work("post") is None

    def test_s7_once_handed_back_a_claim_commits_nothing(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        caller.claim(held.fence, WORK, "ann's")
        caller.abandon("ann's")
        with pytest.raises(ClaimSuperseded):
            caller.finish("ann's", WORK)
        assert [caller.work(item) for item in WORK] == [None, None]

    def test_handed_back_work_is_claimable_by_the_same_hold(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        caller.claim(held.fence, WORK, "first")
        caller.abandon("first")
        assert [row.work for row in caller.claim(held.fence, WORK, "second")] == WORK

    def test_s1_finished_work_is_never_claimed_again(self, backend: Backend) -> None:
        caller = backend.caller()
        ann = caller.acquire(acquire_request("ann"))
        caller.claim(ann.fence, WORK, "ann's")
        done = caller.finish("ann's", WORK)
        caller.release(ann.fence)
        bob = caller.acquire(acquire_request("bob"))
        assert caller.claim(bob.fence, WORK, "bob's") == ()
        caller.abandon("ann's")
        assert caller.work("mail") == done[0]

    def test_s3_a_displaced_holder_claims_nothing(self, backend: Backend) -> None:
        caller = backend.caller()
        ann = caller.acquire(acquire_request("ann"))
        backend.clock.advance(TTL)
        caller.acquire(acquire_request("bob"))
        with pytest.raises(HoldLost):
            caller.claim(ann.fence, WORK, "ann's")
        assert caller.work("mail") is None

    def test_callers_without_a_lane_see_a_claim_live_as_long_as_its_hold(
        self, backend: Backend
    ) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        (row,) = caller.claim(held.fence, ["mail"], "ann's")
        assert live(row, caller.lane(LANE), backend.clock.now())
        rotated = msgspec.structs.replace(row, token=acquire_request("ann", 2).token)
        assert not live(rotated, caller.lane(LANE), backend.clock.now())
        backend.clock.advance(TTL)
        assert not live(row, caller.lane(LANE), backend.clock.now())
        caller.acquire(acquire_request("bob"))
        assert not live(row, caller.lane(LANE), backend.clock.now())
        (done,) = caller.finish("ann's", ["mail"])
        assert not live(done, caller.lane(LANE), backend.clock.now())
        assert not live(row, None, backend.clock.now())
