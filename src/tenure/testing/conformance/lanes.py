"""The law book of lanes: held again and again, each change of holder one generation."""

import msgspec
import pytest

from tenure.kernel.errors import (
    FenceMismatch,
    GenerationRegressed,
    HoldEnded,
    HoldLost,
    LaneBusy,
    LaneDeleted,
    RecordMissing,
    Refused,
    StaleAcquire,
)
from tenure.kernel.fence import Fence
from tenure.testing.conformance.backend import Backend, Caller
from tenure.testing.conformance.requests import (
    GONE,
    LANE,
    TTL,
    acquire_request,
    executor,
    foreign,
    publication,
)


class LaneLaws:
    """Bound to a backend by a subclass with a `backend` fixture."""

    def refuses_everything(self, caller: Caller, fence: Fence, kind: type[Refused]) -> None:
        """Every fenced write is refused, and nothing is changed by it."""
        before = caller.lane(fence.record)
        with pytest.raises(kind):
            caller.renew_lane(fence)
        with pytest.raises(kind):
            caller.publish_under_lane(fence, publication())
        with pytest.raises(kind):
            caller.claim(fence, ["work"], "claim")
        with pytest.raises(kind):
            caller.release(fence)
        with pytest.raises(kind):
            caller.delete(fence)
        assert caller.lane(fence.record) == before
        assert caller.work("published") is None
        assert caller.work("work") is None

    # the table of acquisitions, row by row

    def test_a_lane_never_held_is_acquired(self, backend: Backend) -> None:
        got = backend.caller().acquire(acquire_request("ann"))
        assert (got.manner, got.fence.generation, got.displaced) == ("fresh", 1, None)

    def test_the_same_token_gets_the_same_hold(self, backend: Backend) -> None:
        caller = backend.caller()
        first = caller.acquire(acquire_request("ann"))
        backend.clock.advance(5)
        again = caller.acquire(acquire_request("ann"))
        assert (again.manner, again.record) == ("same", first.record)

    def test_a_greater_count_re_enters_and_the_token_rotates(self, backend: Backend) -> None:
        caller = backend.caller()
        first = caller.acquire(acquire_request("ann", 1))
        again = caller.acquire(acquire_request("ann", 2))
        assert (again.manner, again.fence.generation) == ("reentry", 1)
        assert again.fence.token == acquire_request("ann", 2).token
        self.refuses_everything(caller, first.fence, FenceMismatch)
        assert caller.renew_lane(again.fence).held

    @pytest.mark.parametrize("released", [False, True])
    def test_a_late_duplicate_is_stale(self, backend: Backend, released: bool) -> None:
        caller = backend.caller()
        caller.acquire(acquire_request("ann", 1))
        second = caller.acquire(acquire_request("ann", 2))
        if released:
            caller.release(second.fence)
        before = caller.lane(LANE)
        with pytest.raises(StaleAcquire) as stale:
            caller.acquire(acquire_request("ann", 1))
        assert (stale.value.n, stale.value.last_n) == (1, 2)
        assert caller.lane(LANE) == before

    def test_a_duplicate_after_the_release_is_stale(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann", 1))
        caller.release(held.fence)
        with pytest.raises(StaleAcquire):
            caller.acquire(acquire_request("ann", 1))

    def test_a_live_lane_is_busy_for_everyone_else(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        backend.clock.advance(10)
        with pytest.raises(LaneBusy) as busy:
            caller.acquire(acquire_request("bob"))
        assert busy.value.holder == "ann#ann-1/ann-exec"
        assert busy.value.expires_in == 20.0
        assert caller.lane(LANE) == held.record

    def test_a_released_lane_is_acquired_under_the_next_generation(self, backend: Backend) -> None:
        caller = backend.caller()
        caller.release(caller.acquire(acquire_request("ann")).fence)
        got = caller.acquire(acquire_request("bob"))
        assert (got.manner, got.fence.generation, got.displaced) == ("fresh", 2, None)

    def test_a_lapsed_lane_is_taken_over_and_the_winner_is_told_from_whom(
        self, backend: Backend
    ) -> None:
        caller = backend.caller()
        caller.acquire(acquire_request("ann"))
        backend.clock.advance(TTL)
        got = caller.acquire(acquire_request("bob"))
        assert (got.manner, got.fence.generation) == ("takeover", 2)
        assert got.displaced is not None
        assert (got.displaced.executor, got.displaced.generation) == (executor("ann"), 1)
        assert got.displaced.takeover.by == str(executor("bob"))
        assert got.displaced.takeover.evidence == "lapsed: not renewed within 30 s"
        backend.clock.advance(1)
        caller.renew_lane(got.fence)
        again = caller.acquire(acquire_request("bob"))
        assert (again.manner, again.displaced) == ("same", got.displaced)

    def test_a_deleted_lane_refuses_all(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        caller.delete(held.fence)
        for request in (acquire_request("ann", 2), acquire_request("bob")):
            with pytest.raises(LaneDeleted):
                caller.acquire(request)
            with pytest.raises(LaneDeleted):
                caller.acquire(request, GONE)
        with pytest.raises(LaneDeleted):
            caller.renew_lane(held.fence)

    # S2, S3

    def test_s2_generations_rise_by_one_at_each_change_of_holder(self, backend: Backend) -> None:
        generations = []
        for number, name in enumerate(["ann", "bob", "ann", "cyd", "ann"], start=1):
            caller = backend.caller()  # another handle each time, as after a restart
            got = caller.acquire(acquire_request(name, number))
            generations.append(got.fence.generation)
            if name == "bob":
                caller.release(got.fence)
            else:
                backend.clock.advance(TTL)
        assert generations == [1, 2, 3, 4, 5]

    def test_s2_a_store_that_went_back_is_noticed(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        later = msgspec.structs.replace(held.fence, generation=5)
        self.refuses_everything(caller, later, GenerationRegressed)

    def test_s3_another_token_holds_nothing(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        self.refuses_everything(caller, foreign(held.fence), FenceMismatch)

    # S5, S6, S7, S8

    def test_s5_a_lapsed_holder_that_nobody_replaced_goes_on(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        backend.clock.advance(100 * TTL)
        assert caller.renew_lane(held.fence).held
        backend.clock.reboot()
        assert caller.publish_under_lane(held.fence, publication()) == publication()
        assert [row.work for row in caller.claim(held.fence, ["work"], "claim")] == ["work"]
        assert not caller.release(held.fence).held

    def test_s6_proof_beyond_the_lease_licenses_a_takeover(self, backend: Backend) -> None:
        caller = backend.caller()
        caller.acquire(acquire_request("ann"))
        got = caller.acquire(acquire_request("bob"), GONE)
        assert got.displaced is not None
        assert got.displaced.takeover.licence == GONE

    @pytest.mark.parametrize("ended", [False, True])
    def test_s7_the_displaced_are_inert(self, backend: Backend, ended: bool) -> None:
        caller = backend.caller()
        ann = caller.acquire(acquire_request("ann"))
        backend.clock.advance(TTL)
        bob = caller.acquire(acquire_request("bob"))
        if ended:
            caller.release(bob.fence)
        self.refuses_everything(caller, ann.fence, HoldLost)

    def test_s7_the_displaced_learn_by_whom(self, backend: Backend) -> None:
        caller = backend.caller()
        ann = caller.acquire(acquire_request("ann"))
        backend.clock.advance(TTL)
        caller.acquire(acquire_request("bob"))
        with pytest.raises(HoldLost) as loss:
            caller.renew_lane(ann.fence)
        assert loss.value.by == str(executor("bob"))
        assert loss.value.evidence == "generation 2 follows 1"

    def test_s7_a_released_hold_is_ended_and_not_lost(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        released = caller.release(held.fence)
        with pytest.raises(HoldEnded):
            caller.renew_lane(held.fence)
        with pytest.raises(HoldEnded):
            caller.claim(held.fence, ["work"], "claim")
        assert caller.lane(LANE) == released

    def test_s7_a_release_does_not_touch_a_later_hold_of_the_same_executor(
        self, backend: Backend
    ) -> None:
        """A heartbeat or a release that was under way must not reach what came after it."""
        caller = backend.caller()
        first = caller.acquire(acquire_request("ann", 1))
        caller.release(first.fence)
        second = caller.acquire(acquire_request("ann", 2))
        self.refuses_everything(caller, first.fence, HoldLost)
        assert caller.lane(LANE) == second.record

    def test_s8_an_unknown_lane_is_a_doubt(self, backend: Backend) -> None:
        caller = backend.caller()
        fence = caller.acquire(acquire_request("ann")).fence
        with pytest.raises(RecordMissing):
            caller.renew_lane(msgspec.structs.replace(fence, record="never acquired"))

    # L1, L2

    def test_l1_the_lane_of_a_silent_holder_is_free_after_its_ttl(self, backend: Backend) -> None:
        caller = backend.caller()
        caller.acquire(acquire_request("ann"))
        backend.clock.advance(29.9)
        with pytest.raises(LaneBusy):
            caller.acquire(acquire_request("bob"))
        backend.clock.advance(0.1)
        assert caller.acquire(acquire_request("bob")).manner == "takeover"

    def test_l2_a_holder_that_misses_two_renewals_is_not_replaced(self, backend: Backend) -> None:
        caller = backend.caller()
        held = caller.acquire(acquire_request("ann"))
        for _ in range(5):
            backend.clock.advance(29.999)
            with pytest.raises(LaneBusy):
                caller.acquire(acquire_request("bob"))
            caller.renew_lane(held.fence)
