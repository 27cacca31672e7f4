"""The law book of the session store: admission, driving and the journal."""

import msgspec
import pytest

from tenure.kernel import ledger
from tenure.kernel.errors import HoldLost, ReplyLost
from tenure.runtime import admission
from tenure.runtime.errors import (
    HostMismatch,
    ReplayMismatch,
    SessionBusy,
    SessionDeleted,
    SessionMissing,
    TurnNotOver,
    WorkConflict,
)
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.work import ActiveTurn
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
NO = Outcome(status="ok", value="no")


class AdmissionLaws:
    """Bound to a backend by a subclass with a `sessions` fixture."""

    def test_s11_the_same_input_is_admitted_once(self, sessions: SessionBackend) -> None:
        store, wire = sessions.handle()
        wire.lose_answer()
        with pytest.raises(ReplyLost):
            store.admit(work("w1"), PROGRAM)
        first = store.admit(work("w1"), PROGRAM)
        assert store.admit(work("w1"), PROGRAM) == first
        assert store.admit(work("w2", key="k"), PROGRAM).id == "w2"
        assert store.admit(work("w3", key="k"), PROGRAM).id == "w2"
        assert store.work("w3") is None

    def test_the_same_key_with_other_content_conflicts(self, sessions: SessionBackend) -> None:
        sessions.store.admit(work("w1", "one", key="k"), PROGRAM)
        with pytest.raises(WorkConflict):
            sessions.store.admit(work("w2", "two", key="k"), PROGRAM)
        with pytest.raises(WorkConflict):
            sessions.store.admit(work("w1", "two", key="k"), PROGRAM)

    def test_a_key_is_kept_after_its_turn(self, sessions: SessionBackend) -> None:
        sessions.store.admit(work("w1", key="k"), PROGRAM)
        assigned, fence = sessions.assign("ann")
        sessions.store.commit(commit_of(assigned, fence))
        assert sessions.store.admit(work("w2", key="k"), PROGRAM).state == "completed"

    def test_fail_admits_nothing_while_anything_is_under_way(
        self, sessions: SessionBackend
    ) -> None:
        sessions.ask("w1")
        with pytest.raises(SessionBusy):
            sessions.store.admit(work("w2"), PROGRAM, "fail")
        assigned, fence = sessions.assign("ann")
        with pytest.raises(SessionBusy):
            sessions.store.admit(work("w2"), PROGRAM, "fail")
        assert sessions.store.work("w2") is None
        sessions.store.commit(commit_of(assigned, fence))
        assert sessions.store.admit(work("w2"), PROGRAM, "fail").state == "pending"

    def test_a_session_that_is_not_there_admits_nothing(self, sessions: SessionBackend) -> None:
        elsewhere = msgspec.structs.replace(work("w1"), session="nowhere")
        with pytest.raises(SessionMissing):
            sessions.store.admit(elsewhere, PROGRAM)

    def test_a_deleted_session_refuses_everything(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, fence = sessions.assign("ann")
        sessions.store.delete(fence)
        with pytest.raises(SessionDeleted):
            sessions.store.session(CHAT)
        with pytest.raises(SessionDeleted):
            sessions.store.admit(work("w2"), PROGRAM)
        with pytest.raises(SessionDeleted):
            sessions.store.commit(commit_of(assigned, fence))
        with pytest.raises(SessionDeleted):
            sessions.enter("bob")
        assert sessions.store.to_drive(10) == []

    def test_inputs_become_turns_in_their_order_one_at_a_time(
        self, sessions: SessionBackend
    ) -> None:
        sessions.ask("w1")
        sessions.ask("w2")
        first, fence = sessions.assign("ann")
        assert first.turn.id == "turn-w1"
        again = sessions.store.assign(CHAT, fence, "ann-claim-1", "sqlite")
        assert again == first, "asked again, the same assignment"
        assert sessions.store.assign(CHAT, fence, "another", "sqlite") is None
        sessions.store.commit(commit_of(first, fence))
        second, _ = sessions.assign("ann", 2)
        assert (second.turn.id, second.head) == ("turn-w2", 2)

    @pytest.mark.parametrize(("length", "size"), [(3, 10), (3, 20_000), (40, 10)])
    def test_a_queue_of_any_size_becomes_turns_in_its_order(
        self, sessions: SessionBackend, length: int, size: int
    ) -> None:
        names = [f"w{n}" for n in range(length)]
        for name in names:
            sessions.store.admit(work(name, "x" * size), PROGRAM)
        seen = []
        for n in range(length - 1):
            got, fence = sessions.assign("ann", n + 1)
            seen.append(got.turn.work)
            if n == 0:
                sessions.store.cancel_work(names[1])
            sessions.store.commit(commit_of(got, fence))
        assert seen == [names[0], *names[2:]]
        assert sessions.store.to_drive(10) == []

    def test_input_that_is_not_due_waits(self, sessions: SessionBackend) -> None:
        now = sessions.kernel.clock.now().wall_ns
        sessions.store.admit(work("later", available_at=now + 10**10), PROGRAM)
        assert sessions.store.to_drive(10) == []
        fence = sessions.enter("ann")
        assert sessions.store.assign(CHAT, fence, "c", "sqlite") is None
        sessions.kernel.clock.advance(10)
        got = sessions.store.assign(CHAT, fence, "c", "sqlite")
        assert got is not None

    def test_input_taken_back_in_time_is_never_a_turn(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        for _ in range(2):
            row = sessions.store.cancel_work("w1")
            assert row is not None
            assert row.state == "cancelled"
        fence = sessions.enter("ann")
        assert sessions.store.assign(CHAT, fence, "c", "sqlite") is None
        sessions.store.leave(fence)
        sessions.ask("w2")
        sessions.assign("ann", 2)
        row = sessions.store.cancel_work("w2")
        assert row is not None
        assert row.state == "accepted", "what was started is not taken back"

    def test_another_kind_of_host_is_refused(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        fence = sessions.enter("ann")
        with pytest.raises(HostMismatch):
            sessions.store.assign(CHAT, fence, "c", "inline")

    def test_what_is_due_is_found_by_looking(self, sessions: SessionBackend) -> None:
        assert sessions.store.to_drive(10) == []
        sessions.ask("w1")
        assert sessions.store.to_drive(10) == [CHAT]
        sessions.assign("ann")
        assert sessions.store.to_drive(10) == [], "somebody drives it"
        sessions.kernel.clock.advance(TTL)
        assert sessions.store.to_drive(10) == [CHAT], "its driver is silent"

    def test_l3_what_is_due_is_found_behind_everything_that_others_drive(
        self, sessions: SessionBackend
    ) -> None:
        now = sessions.kernel.clock.now()
        with sessions.transaction() as (tx, rows):
            for n in range(70):
                name = f"busy-{n:02}"
                admission.create(rows, SessionRecord(id=name, agent="support", host="sqlite"))
                new = msgspec.structs.replace(work(f"w-{n}"), session=name)
                admission.admit(rows, new, PROGRAM, "wait")
                ledger.acquire(tx, acquire_request("ann", lane=name), None, now)
        sessions.ask("w-last")
        assert sessions.store.to_drive(1) == [CHAT]


class JournalLaws:
    """Bound to a backend by a subclass with a `sessions` fixture."""

    def test_s3_only_the_holder_writes_the_journal(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        turn = assigned.turn.id
        sessions.store.journal(turn, ann, [], [effect()])
        sessions.kernel.clock.advance(TTL)
        sessions.assign("bob")
        before = sessions.store.turn(turn)
        with pytest.raises(HoldLost):
            sessions.store.journal(turn, ann, [("model:1", YES)], [])
        with pytest.raises(HoldLost):
            sessions.store.accept(turn, ann, [], boundary(), [])
        assert sessions.store.turn(turn) == before

    def test_s5_a_lapse_without_a_takeover_changes_nothing(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.kernel.clock.advance(10 * TTL)
        sessions.store.journal(assigned.turn.id, ann, [], [effect()])
        sessions.store.journal(assigned.turn.id, ann, [("model:1", YES)], [])
        sessions.store.renew(ann)
        sessions.kernel.clock.advance(10 * TTL)
        assert isinstance(sessions.store.commit(commit_of(assigned, ann)), TurnResult)

    def test_s11_what_is_recorded_is_recorded_once_and_stays(
        self, sessions: SessionBackend
    ) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        turn = assigned.turn.id
        for _ in range(2):
            sessions.store.journal(turn, ann, [], [effect()])
        for _ in range(2):
            sessions.store.journal(turn, ann, [("model:1", YES)], [effect("2")])
        sessions.store.journal(turn, ann, [("model:1", NO)], [effect()])
        _, entries = sessions.store.turn(turn)
        assert [(e.key, e.outcome) for e in entries] == [("model:1", YES), ("model:2", None)]

    def test_a_replay_with_another_request_is_refused(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.store.journal(assigned.turn.id, ann, [], [effect()])
        with pytest.raises(ReplayMismatch):
            sessions.store.journal(assigned.turn.id, ann, [], [effect(asked="other")])

    def test_a_successor_sees_whose_intent_it_is(self, sessions: SessionBackend) -> None:
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        sessions.store.journal(assigned.turn.id, ann, [], [effect()])
        sessions.kernel.clock.advance(TTL)
        taken, bob = sessions.assign("bob")
        (entry,) = taken.journal
        assert (entry.generation, entry.token, entry.outcome) == (1, "ann-secret-1", None)
        sessions.store.journal(assigned.turn.id, bob, [], [effect()])
        _, (entry,) = sessions.store.turn(assigned.turn.id)
        assert (entry.generation, entry.token) == (2, "bob-secret-1")

    def test_pick_ups_are_counted_and_every_recorded_outcome_begins_anew(
        self, sessions: SessionBackend
    ) -> None:
        sessions.ask("w1")
        for n, who in enumerate(("ann", "bob"), 1):
            assert sessions.assign(who)[0].turn.drives == n
            sessions.kernel.clock.advance(TTL)
        assigned, fence = sessions.assign("cyd")
        assert assigned.turn.drives == 3
        sessions.kernel.clock.advance(TTL)
        sessions.store.journal(assigned.turn.id, fence, [], [effect()])
        sessions.store.journal(assigned.turn.id, fence, [("model:1", YES)], [])
        assigned, _ = sessions.assign("dan")
        assert assigned.turn.drives == 1

    def test_input_for_an_open_turn_is_accepted_once_at_its_boundary(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        active = ActiveTurn(turn=turn, boundary="after_work")
        sessions.store.admit(work("w2", "more", active=active), None)
        late = ActiveTurn(turn=turn, boundary="before_completion")
        sessions.store.admit(work("w3", "last", active=late), None)
        first = sessions.store.accept(turn, ann, [], boundary(), [effect("2")])
        assert [item["work"] for item in first.value] == ["w2"]
        assert sessions.store.accept(turn, ann, [], boundary(), [effect("2")]) == first
        _, entries = sessions.store.turn(turn)
        assert [e.key for e in entries] == ["accept:1.after_work"], "what it changed is not guessed"
        nothing = sessions.store.accept(turn, ann, [], boundary("2.after_work"), [effect("3")])
        assert nothing.value == []
        _, entries = sessions.store.turn(turn)
        assert entries[-1].key == "model:3"
        made = draft(accepted=("w2",))
        request = commit_of(assigned, ann, made)
        got = sessions.store.commit(request, (), boundary("3.before_completion"))
        assert isinstance(got, Outcome), "input waited, so nothing is committed"
        assert [item["work"] for item in got.value] == ["w3"]
        with pytest.raises(TurnNotOver):
            sessions.store.result(turn)

    def test_input_for_a_turn_that_is_over_is_the_next_turns(
        self, sessions: SessionBackend
    ) -> None:
        turn = sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        active = ActiveTurn(turn=turn, boundary="after_work")
        sessions.store.admit(work("w2", "more", active=active), None)
        sessions.store.commit(commit_of(assigned, ann))
        following, _ = sessions.assign("ann", 2)
        assert following.turn.work == "w2"
