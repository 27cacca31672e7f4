"""The law book of the session store, continued: the commit, what follows it, and what is looked at."""

import msgspec
import pytest

from tenure.kernel.errors import ClaimSuperseded, LaneBusy, ReplyLost
from tenure.runtime.errors import (
    BudgetBreached,
    CommitConflict,
    HeadConflict,
    TurnCancelRequested,
    TurnMissing,
    TurnNotOver,
)
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.message import AssistantMessage, UserMessage
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import CommitBudget, TurnResult
from tenure.runtime.model.work import ActiveTurn, Wake
from tenure.testing.conformance.requests import TTL, acquire_request
from tenure.testing.conformance.session_scene import (
    CHAT,
    PROGRAM,
    SessionBackend,
    boundary,
    commit_of,
    draft,
    effect,
    work,
)

YES = Outcome(status="ok", value="yes")


class CommitLaws:
    """Bound to a backend by a subclass with a `sessions` fixture."""

    def test_s11_a_commit_is_done_once_and_answered_for_ever(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        store, wire = sessions.handle()
        wire.lose_answer()
        with pytest.raises(ReplyLost):
            store.commit(commit_of(assigned, ann))
        result = store.commit(commit_of(assigned, ann))
        sessions.ask("w2")
        following, bob = sessions.assign("bob")
        sessions.store.commit(commit_of(following, bob))
        assert store.commit(commit_of(assigned, ann)) == result
        assert sessions.store.result(turn) == result
        assert len(sessions.store.messages(CHAT)) == 4

    def test_a_commit_with_other_content_conflicts(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.store.commit(commit_of(assigned, ann))
        with pytest.raises(CommitConflict):
            sessions.store.commit(commit_of(assigned, ann, draft("Other.")))

    def test_s11_what_a_boundary_took_in_is_not_left_out_by_repeating_the_commit(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        active = ActiveTurn(turn=turn, boundary="before_completion")
        sessions.store.admit(work("w2", "more", active=active), None)
        last = boundary("1.before_completion")
        first = sessions.store.commit(commit_of(assigned, ann), (), last)
        assert isinstance(first, Outcome)
        sessions.kernel.clock.advance(TTL)
        sessions.enter("bob")
        assert sessions.store.commit(commit_of(assigned, ann), (), last) == first
        assert sessions.store.messages(CHAT) == []

    def test_a_takeover_of_the_lane_alone_does_not_refuse_a_commit(
        self, sessions: SessionBackend
    ) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.kernel.clock.advance(TTL)
        bob = sessions.enter("bob")
        assert isinstance(sessions.store.commit(commit_of(assigned, ann)), TurnResult)
        lane = sessions.store.lane(CHAT)
        assert lane is not None
        assert lane.held, "the release that rides along frees no successor"
        assert lane.fence == bob

    def test_whoever_lost_the_lane_alone_commits_and_takes_nothing_more_in(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.store.journal(turn, ann, [], [effect()])
        active = ActiveTurn(turn=turn, boundary="before_completion")
        sessions.store.admit(work("w2", "more", active=active), PROGRAM)
        sessions.kernel.clock.advance(TTL)
        bob = sessions.enter("bob")
        last = boundary("1.before_completion")
        got = sessions.store.commit(commit_of(assigned, ann), [("model:1", YES)], last)
        assert isinstance(got, TurnResult)
        following = sessions.store.assign(CHAT, bob, "bob-claim", "sqlite")
        assert following is not None
        assert following.turn.work == "w2"

    def test_s7_after_a_reclaim_the_predecessors_commit_changes_nothing(
        self, sessions: SessionBackend
    ) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.kernel.clock.advance(TTL)
        taken, bob = sessions.assign("bob")
        with pytest.raises(ClaimSuperseded):
            sessions.store.commit(commit_of(assigned, ann))
        assert sessions.store.messages(CHAT) == []
        assert isinstance(sessions.store.commit(commit_of(taken, bob)), TurnResult)
        assert sessions.store.session(CHAT).head == 2

    def test_s7_after_a_hand_back_the_predecessors_commit_changes_nothing(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        assert assigned.turn.claim is not None
        for _ in range(2):
            said = sessions.store.hand_back(turn, assigned.turn.claim)
            assert said == "handed_back"
        with pytest.raises(ClaimSuperseded):
            sessions.store.commit(commit_of(assigned, ann))
        taken, _ = sessions.assign("bob")
        assert taken.turn.id == turn, "handed back is claimed at once, no lease is waited for"
        assert sessions.store.hand_back(turn, assigned.turn.claim) == "superseded"
        assert sessions.store.hand_back("turn-nobody", "c") == "unknown"

    def test_a_head_that_moved_refuses_a_commit(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        wrong = msgspec.structs.replace(commit_of(assigned, ann), head=7)
        with pytest.raises(HeadConflict):
            sessions.store.commit(wrong)
        assert sessions.store.session(CHAT).head == 0

    def test_s10_a_refused_commit_leaves_nothing_behind(self, sessions: SessionBackend) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        before = (sessions.store.turn(turn), sessions.store.work("w1"))
        tight = CommitBudget(bytes=10)
        with pytest.raises(BudgetBreached):
            sessions.store.commit(commit_of(assigned, ann, budget=tight))
        with pytest.raises(BudgetBreached):
            sessions.store.commit(commit_of(assigned, ann, budget=CommitBudget(rows=1)))
        crowded = draft(outbox=(Wake(session=CHAT, text="!"),) * 2)
        with pytest.raises(BudgetBreached):
            sessions.store.commit(commit_of(assigned, ann, crowded, budget=CommitBudget(rows=3)))
        assert (sessions.store.turn(turn), sessions.store.work("w1")) == before
        assert sessions.store.messages(CHAT) == []

    def test_s10_what_a_turn_says_to_others_goes_with_its_commit_once(
        self, sessions: SessionBackend
    ) -> None:
        for name in ("other", "gone"):
            sessions.store.create(SessionRecord(id=name, agent="support", host="sqlite"))
        sessions.store.delete(sessions.store.enter(acquire_request("ann", lane="gone")).fence)
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        said = tuple(
            Wake(session=name, text=f"to {name}", delay=delay)
            for name, delay in (("other", 0.0), ("gone", 0.0), ("nowhere", 0.0), ("other", 5.0))
        )
        assert sessions.store.waiting("other") == []
        for _ in range(2):
            sessions.store.commit(commit_of(assigned, ann, draft(outbox=said)))
        now = sessions.kernel.clock.now().wall_ns
        rows = sessions.store.waiting("other")
        assert [(row.kind, row.content["text"]) for row in rows] == [("queued", "to other")] * 2
        assert [row.available_at for row in rows] == [0, now + 5_000_000_000]
        fence = sessions.store.enter(acquire_request("bob", lane="other")).fence
        woken = sessions.store.assign("other", fence, "bob's", "sqlite", PROGRAM)
        assert woken is not None
        assert woken.opening.text == "to other"

    def test_s10_messages_claims_and_the_lane_go_together(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.store.commit(commit_of(assigned, ann))
        lane = sessions.store.lane(CHAT)
        assert lane is not None
        assert not lane.held
        found = sessions.store.session(CHAT)
        assert (found.head, found.open_turn) == (2, None)
        row = sessions.store.work("w1")
        assert row is not None
        assert row.state == "completed"

    def test_the_end_of_a_turn_can_be_asked_for_before_it_exists(
        self, sessions: SessionBackend
    ) -> None:
        assert sessions.store.cancel_turn("turn-w1", "first") == "first"
        assert sessions.store.cancel_turn("turn-w1", "second") == "first"
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        assert assigned.cancel == "first"
        with pytest.raises(TurnCancelRequested):
            sessions.store.commit(commit_of(assigned, ann))
        ended = sessions.store.commit(commit_of(assigned, ann, draft(status="cancelled")))
        assert isinstance(ended, TurnResult)
        assert ended.status == "cancelled"
        assert sessions.store.cancel_turn("turn-w1", "late") is None

    def test_a_cancellation_that_comes_after_the_commit_changes_nothing(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        result = sessions.store.commit(commit_of(assigned, ann))
        assert sessions.store.cancel_turn(turn, "late") is None
        assert sessions.store.result(turn) == result

    def test_what_was_never_admitted_and_what_is_not_over_differ(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        with pytest.raises(TurnNotOver):
            sessions.store.result(turn)
        with pytest.raises(TurnMissing):
            sessions.store.result("turn-nobody")

    def test_the_last_turns_are_read_without_the_rest(self, sessions: SessionBackend) -> None:
        for n in range(1, 6):
            sessions.ask(f"w{n}")
            assigned, ann = sessions.assign("ann", n)
            sessions.store.commit(commit_of(assigned, ann, draft(f"a{n}")))
        said = [sessions.store.result(f"turn-w{n}").text for n in range(1, 6)]
        assert said == ["a1", "a2", "a3", "a4", "a5"]
        after, messages = sessions.store.last_turns(CHAT, 2)
        assert (after, len(messages)) == (6, 4)
        assert sessions.store.last_turns(CHAT, 99)[0] == 0
        assert len(sessions.store.messages(CHAT, 8)) == 2
        assert len(sessions.store.messages(CHAT, 0, 3)) == 3

    def test_what_a_turn_said_is_stored_once(self, sessions: SessionBackend) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.store.journal(turn, ann, [], [effect()])
        result = sessions.store.commit(commit_of(assigned, ann), [("model:1", YES)])
        assert isinstance(result, TurnResult)
        assert result.text == "Done."
        record, journal = sessions.store.turn(turn)
        assert record is not None
        assert record.end is not None
        assert journal == []
        assert (record.end.text, record.end.text_at) == ("", 2)
        assert sessions.store.result(turn) == result

    @pytest.mark.parametrize("said", ["", "What no message says."])
    def test_a_text_that_is_no_message_comes_back_too(
        self, sessions: SessionBackend, said: str
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        made = msgspec.structs.replace(draft("Done."), text=said)
        assert sessions.store.commit(commit_of(assigned, ann, made)) == sessions.store.result(turn)
        assert sessions.store.result(turn).text == said

    @pytest.mark.parametrize("output", ["", "x", 0, False, [], {}, [None], {"text": ""}])
    def test_a_typed_answer_comes_back_as_it_was(
        self, sessions: SessionBackend, output: object
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        made = msgspec.structs.replace(draft("Done."), output=output)
        first = sessions.store.commit(commit_of(assigned, ann, made))
        again = sessions.store.commit(commit_of(assigned, ann, made))
        for result in (first, again, sessions.store.result(turn)):
            assert isinstance(result, TurnResult)
            assert (result.output, type(result.output)) == (output, type(output))

    def test_input_that_was_taken_in_and_is_not_told_of_is_asked_again(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        for name in ("w2", "w3"):
            sessions.store.admit(work(name, name, active=ActiveTurn(turn=turn)), PROGRAM)
        taken = sessions.store.accept(turn, ann, [], boundary("1.after_work"), [])
        assert [item["work"] for item in taken.value] == ["w2", "w3"]
        sessions.store.commit(commit_of(assigned, ann, draft(accepted=("w3",))))
        following, bob = sessions.assign("bob")
        assert following.turn.work == "w2"
        sessions.store.commit(commit_of(following, bob))
        assert sessions.store.drain_status(10).pending == ()

    def test_only_a_turns_id_names_a_turn(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        assert sessions.store.turn("w1") == (None, [])
        assert sessions.store.turn("turn-nobody") == (None, [])
        assert sessions.store.hand_back("w1", assigned.turn.claim or "") == "unknown"
        with pytest.raises(TurnMissing):
            sessions.store.result("w1")
        with pytest.raises(TurnMissing):
            sessions.store.admit(work("w2", active=ActiveTurn(turn="w1")), PROGRAM)
        assert isinstance(sessions.store.commit(commit_of(assigned, ann)), TurnResult)

    def test_a_history_is_the_same_page_by_page(self, sessions: SessionBackend) -> None:
        for n in range(1, 5):
            sessions.ask(f"w{n}", f"q{n}")
            assigned, ann = sessions.assign("ann", n)
            asked = UserMessage(text=f"q{n}") if n % 2 else UserMessage(text="rephrased")
            said = (asked, *(AssistantMessage(text=f"a{n}.{m}") for m in range(n)))
            made = msgspec.structs.replace(draft(f"a{n}.{n - 1}"), messages=said)
            sessions.store.commit(commit_of(assigned, ann, made))
        whole = sessions.store.messages(CHAT)
        assert len(whole) == 14
        for size in (1, 2, 3, 5, 14, 99):
            for after in range(15):
                assert sessions.store.messages(CHAT, after, size) == whole[after : after + size]

    def test_of_a_turn_that_is_over_nothing_more_is_recorded(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        keeping = msgspec.structs.replace(commit_of(assigned, ann), fence=None)
        sessions.store.commit(keeping)
        sessions.store.journal(turn, ann, [], [effect()])
        late = sessions.store.accept(turn, ann, [], boundary("1.after_work"), [effect()])
        assert late.value == []
        assert sessions.store.turn(turn)[1] == []

    def test_what_was_taken_back_is_dropped_in_bounds_and_keys_stay(
        self, sessions: SessionBackend
    ) -> None:
        for name in ("w1", "w2", "w3"):
            sessions.ask(name)
            sessions.store.cancel_work(name)
        sessions.store.admit(work("w4", key="k"), PROGRAM)
        kept = sessions.store.cancel_work("w4")
        sessions.ask("w5")
        now = sessions.kernel.clock.now().wall_ns
        assert sessions.store.vacuum(now, 2) == 0, "nothing was taken back before that"
        assert [sessions.store.vacuum(now + 1, 2) for _ in range(3)] == [2, 1, 0]
        assert sessions.store.work("w1") is None
        assert sessions.store.admit(work("w4", key="k"), PROGRAM) == kept
        assert [row.id for row in sessions.store.waiting(CHAT)] == ["w5"]

    def test_what_is_not_at_rest_is_told(self, sessions: SessionBackend) -> None:
        turn = sessions.ask("w1")
        _, ann = sessions.assign("ann")
        sessions.ask("w2")
        sessions.store.journal(turn, ann, [], [effect()])
        told = sessions.store.drain_status(10)
        assert [t.id for t in told.open_turns] == [turn]
        assert [w.id for w in told.pending] == ["w2"]
        assert [lane.fence for lane in told.lanes] == [ann]
        assert told.in_doubt == ((turn, "model:1"),)
        assert sessions.store.hand_back_all(acquire_request("ann").executor.owner) == {
            turn: "handed_back"
        }
        taken, _ = sessions.assign("bob")
        assert taken.turn.id == turn

    def test_a_held_lane_is_refused_to_others(self, sessions: SessionBackend) -> None:
        sessions.enter("ann")
        with pytest.raises(LaneBusy):
            sessions.enter("bob")
