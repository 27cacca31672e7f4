"""The law book of durable waits: a question of a turn, answered once from outside."""

import msgspec
import pytest

from tenure.kernel.errors import ClaimSuperseded, HoldEnded, HoldLost, ReplyLost
from tenure.runtime.errors import TurnCancelRequested, TurnMissing, WaitKeyUnknown
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.wait import OpenWait, Resolution, WaitRow, wait_id
from tenure.testing.conformance.requests import TTL
from tenure.testing.conformance.session_scene import (
    CHAT,
    SessionBackend,
    commit_of,
    effect,
)

YES = Resolution(word="value", value=True)
NOTHING = Resolution(word="value", value=None)
ERROR = Resolution(word="error", value="no such order")
TIMEOUT = Resolution(word="timeout", value="nobody answered in time")
WAITS = Outcome(status="waiting", value={"on": ["w"]})


def question(turn: str = "turn-w1", name: str = "approve") -> WaitRow:
    """Somebody is asked something by a turn."""
    return WaitRow(
        id=wait_id(turn, "tool:1.0", name, "40 euros?"),
        session=CHAT,
        turn=turn,
        name=name,
        asked="40 euros?",
        created_wall_ns=0,
    )


def waiting(
    sessions: SessionBackend, seconds: float | None = None, names: tuple[str, ...] = ("approve",)
) -> list[OpenWait]:
    """Ann drives `turn-w1` until it waits for all of these, with its tool call on record."""
    sessions.ask("w1")
    assigned, ann = sessions.assign("ann")
    sessions.store.journal("turn-w1", ann, (), (effect(),))
    found = [sessions.store.open_wait(ann, question(name=name), seconds) for name in names]
    claim = assigned.turn.claim or ""
    on = [wait.id for wait in found]
    got = sessions.store.suspend("turn-w1", claim, ann, ((effect().key, WAITS),), on)
    assert got.ended == ()
    assert [wait.key for wait in got.waiting] == [wait.key for wait in found]
    return found


class WaitLaws:
    """What every backend keeps of a wait."""

    def test_a_turn_that_waits_holds_nothing(self, sessions: SessionBackend) -> None:
        (wait,) = waiting(sessions)
        lane = sessions.store.lane(CHAT)
        assert lane is not None
        assert not lane.held
        turn, journal = sessions.store.turn("turn-w1")
        assert turn is not None
        assert (turn.waits, turn.claim, turn.over) == (True, None, False)
        noted = Outcome(status="ok", value=[wait.id])
        assert [entry.outcome for entry in journal] == [WAITS, noted]
        assert sessions.store.to_drive(10) == []
        assert sessions.store.rests(CHAT)
        fence = sessions.enter("bob")
        assert sessions.store.assign(CHAT, fence, "bob-claim-1", "sqlite") is None

    def test_s7_whoever_suspended_a_turn_commits_it_no_more(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        wait = sessions.store.open_wait(ann, question(), None)
        sessions.store.suspend("turn-w1", assigned.turn.claim or "", ann, (), [wait.id])
        with pytest.raises(ClaimSuperseded):
            sessions.store.commit(commit_of(assigned, None))
        with pytest.raises(HoldEnded):
            sessions.store.journal("turn-w1", ann, (), (effect(),))
        assert sessions.store.messages(CHAT) == []

    def test_what_comes_after_a_turn_that_waits_waits_too(self, sessions: SessionBackend) -> None:
        waiting(sessions)
        sessions.ask("w2")
        assert sessions.store.to_drive(10) == []
        fence = sessions.enter("bob")
        assert sessions.store.assign(CHAT, fence, "bob-claim-1", "sqlite") is None

    @pytest.mark.parametrize("answer", [YES, NOTHING, ERROR], ids=["value", "null", "error"])
    def test_l3_an_answer_is_found_by_looking(
        self, sessions: SessionBackend, answer: Resolution
    ) -> None:
        (wait,) = waiting(sessions)
        got = sessions.store.resolve(wait.key, answer)
        assert (got.first, got.resolution, got.turn) == (True, answer, "turn-w1")
        assert sessions.store.to_drive(10) == [CHAT]
        assigned, _ = sessions.assign("bob")
        assert assigned.turn.id == "turn-w1"
        assert [row.resolution for row in assigned.waits] == [answer]
        assert not assigned.turn.waits
        assert assigned.turn.drives == 1, "an answer is progress"
        assert sessions.store.to_drive(10) == [], "bob drives it"

    def test_s11_whoever_is_first_answers_and_everybody_else_is_told(
        self, sessions: SessionBackend
    ) -> None:
        (wait,) = waiting(sessions)
        assert sessions.store.resolve(wait.key, NOTHING).first
        for later in (YES, ERROR, NOTHING):
            got = sessions.store.resolve(wait.key, later)
            assert (got.first, got.resolution) == (False, NOTHING)
        assigned, ann = sessions.assign("bob")
        sessions.store.commit(commit_of(assigned, ann))
        got = sessions.store.resolve(wait.key, YES)
        assert (got.first, got.resolution) == (False, NOTHING), "also when the turn is over"

    def test_s11_an_answer_whose_reply_is_lost_is_the_answer(
        self, sessions: SessionBackend
    ) -> None:
        (wait,) = waiting(sessions)
        sessions.wire.lose_answer()
        with pytest.raises(ReplyLost):
            sessions.store.resolve(wait.key, YES)
        got = sessions.store.resolve(wait.key, YES)
        assert got.resolution == YES

    def test_s11_a_suspension_whose_reply_is_lost_is_one(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        wait = sessions.store.open_wait(ann, question(), None)
        claim = assigned.turn.claim or ""
        sessions.wire.lose_answer()
        with pytest.raises(ReplyLost):
            sessions.store.suspend("turn-w1", claim, ann, (), [wait.id])
        got = sessions.store.suspend("turn-w1", claim, ann, (), [wait.id])
        assert ([one.id for one in got.waiting], got.ended) == ([wait.id], ())

    def test_an_early_answer_keeps_the_turn_going(self, sessions: SessionBackend) -> None:
        """It falls between the look at the wait and the suspension."""
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        wait = sessions.store.open_wait(ann, question(), None)
        assert wait.resolution is None
        sessions.store.resolve(wait.key, YES)
        got = sessions.store.suspend("turn-w1", assigned.turn.claim or "", ann, (), [wait.id])
        assert [row.resolution for row in got.ended] == [YES]
        assert sessions.store.renew(ann).held, "ann drives on"
        assert sessions.store.open_wait(ann, question(), None).resolution == YES

    def test_any_of_several_lets_the_turn_go_on_and_the_others_stay_open(
        self, sessions: SessionBackend
    ) -> None:
        first, second = waiting(sessions, names=("one", "two"))
        sessions.store.resolve(second.key, YES)
        assigned, _ = sessions.assign("bob")
        assert {row.name: row.resolution for row in assigned.waits} == {"one": None, "two": YES}
        assert [one.name for one in sessions.store.open_waits(CHAT, "", 10)] == ["one"]
        assert sessions.store.resolve(first.key, NOTHING).first
        assert sessions.store.to_drive(10) == [], "bob drives it, and is not disturbed"

    def test_s5_a_wait_times_out_by_the_stores_clock_and_like_any_other_answer(
        self, sessions: SessionBackend
    ) -> None:
        (wait,) = waiting(sessions, seconds=10.0)
        sessions.kernel.clock.advance(9.0)
        assert sessions.store.to_drive(10) == []
        sessions.kernel.clock.advance(1.0)
        assert sessions.store.to_drive(10) == [CHAT]
        got = sessions.store.resolve(wait.key, NOTHING)
        assert (got.first, got.resolution) == (False, TIMEOUT)
        assigned, _ = sessions.assign("bob")
        assert [row.resolution for row in assigned.waits] == [TIMEOUT]

    def test_a_timeout_that_nobody_asked_about_is_recorded_by_whoever_goes_on(
        self, sessions: SessionBackend
    ) -> None:
        (wait,) = waiting(sessions, seconds=10.0)
        sessions.kernel.clock.advance(10.0)
        assigned, _ = sessions.assign("bob")
        assert [row.resolution for row in assigned.waits] == [TIMEOUT]
        assert sessions.store.resolve(wait.key, YES).resolution == TIMEOUT

    def test_an_answer_in_time_counts_however_late_the_turn_goes_on(
        self, sessions: SessionBackend
    ) -> None:
        (wait,) = waiting(sessions, seconds=10.0)
        sessions.store.resolve(wait.key, YES)
        sessions.kernel.clock.advance(1000.0)
        assigned, _ = sessions.assign("bob")
        assert [row.resolution for row in assigned.waits] == [YES]

    def test_waits_that_are_revoked_are_cancelled_and_the_session_goes_on(
        self, sessions: SessionBackend
    ) -> None:
        first, second = waiting(sessions, names=("one", "two"))
        sessions.store.resolve(first.key, YES)
        assert sessions.store.revoke_waits(CHAT, "shutting down") == 1
        assert sessions.store.revoke_waits(CHAT, "shutting down") == 0
        cancelled = Resolution(word="cancelled", value="shutting down")
        assert sessions.store.resolve(second.key, YES).resolution == cancelled
        assert sessions.store.resolve(first.key, NOTHING).resolution == YES
        assigned, ann = sessions.assign("bob")
        again = sessions.store.open_wait(ann, question(name="three"), None)
        assert again.resolution is None
        sessions.store.commit(commit_of(assigned, ann))

    def test_a_turn_that_ends_leaves_no_wait_open(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        wait = sessions.store.open_wait(ann, question(), None)
        sessions.store.commit(commit_of(assigned, ann))
        got = sessions.store.resolve(wait.key, YES)
        assert (got.first, got.resolution.word) == (False, "cancelled")
        with pytest.raises((TurnMissing, HoldEnded)):
            sessions.store.open_wait(ann, question(name="late"), None)

    def test_a_deleted_session_leaves_none_either(self, sessions: SessionBackend) -> None:
        (wait,) = waiting(sessions)
        sessions.store.delete(sessions.enter("bob"))
        got = sessions.store.resolve(wait.key, YES)
        assert (got.first, got.resolution.word) == (False, "cancelled")
        assert sessions.store.open_waits(None, "", 10) == []

    def test_a_turn_that_waits_can_be_cancelled(self, sessions: SessionBackend) -> None:
        waiting(sessions)
        assert sessions.store.cancel_turn("turn-w1", "enough") == "enough"
        assert sessions.store.to_drive(10) == [CHAT]
        assigned, _ = sessions.assign("bob")
        assert assigned.cancel == "enough"

    def test_a_turn_whose_end_was_asked_for_does_not_wait(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        wait = sessions.store.open_wait(ann, question(), None)
        sessions.store.cancel_turn("turn-w1", "enough")
        with pytest.raises(TurnCancelRequested):
            sessions.store.suspend("turn-w1", assigned.turn.claim or "", ann, (), [wait.id])
        assert sessions.store.renew(ann).held

    def test_s7_whoever_was_replaced_opens_nothing_and_suspends_nothing(
        self, sessions: SessionBackend
    ) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        wait = sessions.store.open_wait(ann, question(), None)
        sessions.kernel.clock.advance(TTL)
        taken, bob = sessions.assign("bob")
        with pytest.raises(HoldLost):
            sessions.store.open_wait(ann, question(name="other"), None)
        with pytest.raises(HoldLost):
            sessions.store.suspend("turn-w1", assigned.turn.claim or "", ann, (), [wait.id])
        with pytest.raises(ClaimSuperseded):
            sessions.store.suspend("turn-w1", assigned.turn.claim or "", bob, (), [wait.id])
        assert sessions.store.open_wait(bob, question(), None) == wait
        got = sessions.store.suspend("turn-w1", taken.turn.claim or "", bob, (), [wait.id])
        assert got.waiting == (wait,)

    def test_only_a_key_of_this_store_answers(self, sessions: SessionBackend) -> None:
        (wait,) = waiting(sessions)
        name, _, signature = wait.key.partition(".")
        forged = signature[:-1] + ("0" if signature[-1] != "0" else "1")
        for key in (name, f"{name}.", f"{name}.{forged}", f"x{wait.key}", "", "é", "."):
            with pytest.raises(WaitKeyUnknown):
                sessions.store.resolve(key, YES)
        other, _ = sessions.handle()
        assert other.resolve(wait.key, YES).first, "any handle on the store does"

    def test_open_waits_are_listed_in_pages(self, sessions: SessionBackend) -> None:
        found = waiting(sessions, names=("one", "two", "three"))
        keys = sorted(wait.key for wait in found)
        first = sessions.store.open_waits(None, "", 2)
        rest = sessions.store.open_waits(CHAT, first[-1].id, 2)
        assert [wait.key for wait in first + rest] == keys
        assert msgspec.structs.asdict(first[0])["asked"] == "40 euros?"
        assert sessions.store.open_waits("elsewhere", "", 2) == []
