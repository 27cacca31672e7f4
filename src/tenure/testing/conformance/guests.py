"""The law book of guest sessions that are lists: what two runs of a framework can do to each other."""

import threading
from collections.abc import Callable

import msgspec
import pytest

from tenure.kernel.errors import (
    FenceMismatch,
    HoldEnded,
    HoldLost,
    LaneBusy,
    ReplyLost,
)
from tenure.kernel.lane import LaneRecord
from tenure.runtime.errors import HeadConflict, HostMismatch, SessionDeleted, WiringError
from tenure.testing.conformance.guest_scene import GUEST, Run, stored
from tenure.testing.conformance.requests import TTL, acquire_request
from tenure.testing.conformance.session_scene import CHAT, SessionBackend
from tenure.testing.faults import Faults

#: Everything that a run can write, on a list of three.
WRITES: list[Callable[[Run], None]] = [
    lambda run: run.adds("4"),
    lambda run: run.removes(3),
    lambda run: run.removes(0),
]
NAMES = ["add", "pop", "clear"]
written = pytest.mark.parametrize("write", WRITES, ids=NAMES)


def filled(sessions: SessionBackend) -> tuple[Run, Run]:
    """Ann has written three items, and bob has read them."""
    ann, bob = Run(sessions, "ann"), Run(sessions, "bob", None)
    ann.adds("1", "2", "3")
    assert bob.looks() == ("1", "2", "3")
    return ann, bob


def lane_of(sessions: SessionBackend) -> LaneRecord:
    """The session's lane."""
    found = sessions.store.lane(GUEST)
    assert found is not None
    return found


class GuestLaws:
    """What every backend keeps of a list that a framework keeps."""

    def test_items_come_back_in_order_and_the_last_ones_when_few_are_asked_for(
        self, sessions: SessionBackend
    ) -> None:
        ann, bob = filled(sessions)
        items = bob.items
        assert items.items(GUEST, "openai-agents", 2).bodies == ("2", "3")
        assert items.items(GUEST, "openai-agents", 0).bodies == ()
        assert items.items(GUEST, "openai-agents", 9).bodies == ("1", "2", "3")
        assert items.items("nobody's", "openai-agents", None).head == 0
        ann.removes(3)
        ann.adds("4")
        assert stored(sessions) == ("1", "2", "4")
        ann.removes(0)
        assert stored(sessions) == ()
        assert not lane_of(sessions).held, "a lane is held for no longer than a write"

    @written
    def test_s3_a_run_that_did_not_see_what_was_written_writes_nothing(
        self, sessions: SessionBackend, write: Callable[[Run], None]
    ) -> None:
        ann, bob = filled(sessions)
        ann.adds("by ann")
        before = lane_of(sessions)
        with pytest.raises(HeadConflict) as refusal:
            write(bob)
        assert (refusal.value.now, refusal.value.expected) == (4, 3)
        assert stored(sessions) == ("1", "2", "3", "by ann")
        assert lane_of(sessions) == before

    def test_s3_a_run_that_never_looked_writes_to_nothing_that_somebody_else_began(
        self, sessions: SessionBackend
    ) -> None:
        filled(sessions)
        with pytest.raises(HeadConflict):
            Run(sessions, "cyd", None).adds("?")
        assert stored(sessions) == ("1", "2", "3")

    @written
    def test_s4_of_two_runs_that_saw_the_same_one_writes(
        self, sessions: SessionBackend, write: Callable[[Run], None]
    ) -> None:
        """The rival comes between the decision and the write, and waits for its end."""
        ann, bob = filled(sessions)
        with Faults() as faults:
            pause = faults.pause("acquire:read")
            writing = threading.Thread(target=lambda: write(ann))
            writing.start()
            pause.await_arrival()
            refused: list[Exception] = []

            def rival() -> None:
                try:
                    bob.adds("by bob")
                except HeadConflict as error:
                    refused.append(error)

            waiting = threading.Thread(target=rival)
            waiting.start()
            pause.resume()
            writing.join()
            waiting.join()
        assert len(refused) == 1
        assert "by bob" not in stored(sessions)

    @written
    def test_s3_nobody_writes_beside_a_holder(
        self, sessions: SessionBackend, write: Callable[[Run], None]
    ) -> None:
        ann, bob = filled(sessions)
        ann.holds()
        with pytest.raises(LaneBusy):
            write(bob)
        with pytest.raises(LaneBusy):
            bob.holds()
        assert stored(sessions) == ("1", "2", "3")
        write(ann)
        ann.leaves()
        bob.looks()
        bob.adds("by bob")
        assert stored(sessions)[-1] == "by bob"

    @written
    def test_s5_a_lapse_changes_nothing_for_the_holder(
        self, sessions: SessionBackend, write: Callable[[Run], None]
    ) -> None:
        ann, _ = filled(sessions)
        ann.holds()
        before = stored(sessions)
        sessions.kernel.clock.advance(3 * TTL)
        write(ann)
        assert stored(sessions) != before

    @pytest.mark.parametrize("thief", ["holds", "writes"])
    @written
    def test_s7_a_holder_that_was_replaced_writes_nothing(
        self, sessions: SessionBackend, write: Callable[[Run], None], thief: str
    ) -> None:
        """Also if whoever replaced it wrote nothing, or is gone again."""
        ann, bob = filled(sessions)
        ann.holds()
        sessions.kernel.clock.advance(TTL)
        if thief == "holds":
            bob.holds()
        else:
            bob.adds("by bob")
        before, lane = stored(sessions), lane_of(sessions)
        with pytest.raises(HoldLost) as loss:
            write(ann)
        assert "bob" in loss.value.by
        assert (stored(sessions), lane_of(sessions)) == (before, lane)

    def test_s5_a_write_renews_the_lease_of_its_hold(self, sessions: SessionBackend) -> None:
        ann, bob = filled(sessions)
        ann.holds()
        for _ in range(4):
            sessions.kernel.clock.advance(TTL - 1)
            ann.adds("progress")
        with pytest.raises(LaneBusy):
            bob.holds()

    def test_s9_the_same_object_cannot_hold_a_lane_twice_over(
        self, sessions: SessionBackend
    ) -> None:
        """A later hold of the same run ends the earlier one's fence."""
        ann, _ = filled(sessions)
        ann.holds("first")
        early, generation = ann.footing, lane_of(sessions).generation
        ann.holds("second")
        assert lane_of(sessions).generation == generation
        late, ann.footing = ann.footing, early
        with pytest.raises(FenceMismatch):
            ann.adds("?")
        ann.footing = late
        ann.adds("4")
        ann.leaves()
        ann.footing = late
        with pytest.raises(HoldEnded):
            ann.adds("5")

    @written
    @pytest.mark.parametrize("held", [False, True], ids=["free", "held"])
    def test_s11_a_write_whose_reply_is_lost_happens_once(
        self, sessions: SessionBackend, write: Callable[[Run], None], held: bool
    ) -> None:
        ann, _ = filled(sessions)
        if held:
            ann.holds()
        ann.wire.lose_answer(times=2)
        for _ in range(2):
            with pytest.raises(ReplyLost):
                write(ann)
        done = stored(sessions)
        write(ann)
        assert stored(sessions) == done
        assert done in {("1", "2", "3", "4"), ("1", "2"), ()}
        ann.adds("next")
        assert stored(sessions) == (*done, "next")

    def test_s11_what_was_appended_is_not_refused_because_others_went_on(
        self, sessions: SessionBackend
    ) -> None:
        ann, bob = filled(sessions)
        ann.wire.lose_answer()
        with pytest.raises(ReplyLost):
            ann.adds("by ann")
        bob.looks()
        bob.adds("by bob")
        ann.adds("by ann")
        assert stored(sessions) == ("1", "2", "3", "by ann", "by bob")

    def test_s11_a_hold_whose_reply_is_lost_is_one(self, sessions: SessionBackend) -> None:
        ann, _ = filled(sessions)
        ann.wire.lose_answer()
        with pytest.raises(ReplyLost):
            ann.holds()
        before = lane_of(sessions)
        ann.holds()
        assert lane_of(sessions) == before
        ann.leaves()

    def test_s7_a_deleted_session_takes_its_items_along_and_its_id_is_used_up(
        self, sessions: SessionBackend
    ) -> None:
        ann, bob = filled(sessions)
        sessions.store.delete_free(acquire_request("bob", lane=GUEST))
        for write in WRITES:
            with pytest.raises(SessionDeleted):
                write(ann)
        with pytest.raises(SessionDeleted):
            bob.looks()
        with pytest.raises(SessionDeleted):
            bob.holds()

    def test_an_agents_session_is_no_guests_and_the_other_way_round(
        self, sessions: SessionBackend
    ) -> None:
        ann, _ = filled(sessions)
        with pytest.raises(HostMismatch):
            ann.items.items(CHAT, "openai-agents", None)
        with pytest.raises(HostMismatch):
            ann.items.items(GUEST, "langgraph", None)
        ann.footing = msgspec.structs.replace(ann.footing, session=CHAT)
        for write in WRITES:
            with pytest.raises(HostMismatch):
                write(ann)
        assert sessions.store.lane(CHAT) is None
        ann.footing = msgspec.structs.replace(ann.footing, session="")
        with pytest.raises(WiringError):
            ann.adds("?")
