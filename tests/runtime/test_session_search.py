"""The exhaustive search finds nothing in the session store, and finds every guard that is taken away."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import pytest

from tenure.kernel import claim as claims
from tenure.kernel import lane as lanes
from tenure.kernel import ledger
from tenure.kernel.errors import ClaimSuperseded, HoldEnded
from tenure.kernel.fence import Fence
from tenure.kernel.lane import LaneRecord
from tenure.kernel.store import Transaction
from tenure.runtime import commit, driving, sessions
from tenure.runtime.commit import CommitRequest
from tenure.runtime.model.effect import Effect, Outcome
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.sessions import SessionStore
from tenure.runtime.store import RuntimeRows
from tenure.runtime.stores.memory import MemoryRuntimeRows
from tenure.testing.search.explorer import Explorer, TooLarge
from tenure.testing.search.session_scenarios import SESSIONS, SessionScenario
from tenure.testing.search.session_world import FIRST, LATER, Troubles
from tenure.testing.search.sessions import Drivers

Patch = pytest.MonkeyPatch
changed = msgspec.structs.replace


# ── The store as it is ───────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SESSIONS, ids=lambda scenario: scenario.name)
def test_no_interleaving_of_drivers_breaks_a_law(scenario: SessionScenario):
    report = scenario.search()
    print(f"{report.states} states, {report.steps} steps, {report.ends} ends: {report.taken}")
    assert report.fault is None, str(report.fault)
    assert report.states > 5_000


def test_the_search_takes_every_kind_of_step():
    taken = set(small(lapses=1, crashes=1, losses=1, inputs=1).search().taken)
    taken |= set(small(lapses=1, duplicates=1).search().taken)
    taken |= set(small(duplicates=1, stops=1, levers=1, cancels=1).search().taken)
    own = ("enters", "is assigned", "intends", "records", "commits", "lets go", "leaves")
    assert taken == {
        *("finds work", "sees it over", "goes home", "asks the model", "gives way"),
        *own,
        *(f"{call}, reply lost" for call in own if call != "records"),
        *(f"{call}, and once more later" for call in own),
        *("jumps", "goes on", "dies", "is asked to stop", "hears of its end", "delivers"),
        *("hands back", "asks for the end", "says more"),
    }


def test_one_driver_without_trouble_takes_one_way():
    report = small(drivers=1).search()
    assert (report.states, report.steps, report.ends) == (8, 7, 1)


def small(drivers: int = 2, asked: tuple[str, ...] = (FIRST,), **troubles: int) -> SessionScenario:
    """A model that takes milliseconds."""
    left = Troubles(**troubles)
    return SessionScenario(name="small", drivers=drivers, inputs=asked, troubles=left)


# ── The store with one guard taken away ──────────────────────────────────────────────────


def breaks(law: str, scenario: SessionScenario) -> None:
    fault = scenario.search().fault
    assert fault is not None, "nothing was found"
    print(fault)
    assert law in fault.law


def test_a_fence_that_is_not_checked_is_found(monkeypatch: Patch):
    def hold_nothing(tx: Transaction, fence: Fence) -> LaneRecord | None:
        return tx.lanes.read(fence.record)

    monkeypatch.setattr(ledger, "hold_lane", hold_nothing)
    breaks("under a fence that does not hold the lane", small(lapses=1))


def test_a_claim_that_is_not_checked_at_the_commit_is_found(monkeypatch: Patch):
    def finish(tx: Transaction, claim: str, work: Iterable[str]) -> None:
        for item in work:
            tx.claims.remove([item])

    monkeypatch.setattr(ledger, "close_claim", finish)
    breaks("handed back w1, which somebody else claimed", small(lapses=1))


def test_a_claim_that_is_never_free_again_is_found(monkeypatch: Patch):
    monkeypatch.setattr(claims, "claimable", lambda row, fence: row is None)
    model = Drivers(2, Troubles(crashes=1), (FIRST,))
    with pytest.raises(TooLarge):  # its rival looks, finds it taken, and looks again for ever
        Explorer(model, limit=3_000).run()


def test_a_commit_that_is_not_recognised_when_it_is_repeated_is_found(monkeypatch: Patch):
    def once(
        tx: Transaction, rows: RuntimeRows, asked: CommitRequest, wall_ns: int, last: Any
    ) -> TurnResult:
        turn = rows.turn(asked.turn)
        if turn is not None and turn.over:
            raise ClaimSuperseded(claim=asked.claim, rows=(turn.work,))
        return commit.commit(tx, rows, asked, wall_ns, last)

    monkeypatch.setattr(sessions, "commit", once)
    breaks("was done and is refused", small(losses=1))


def test_a_hand_back_of_somebody_elses_claim_is_found(monkeypatch: Patch):
    real = driving.hand_back

    def any_claim(tx: Transaction, rows: RuntimeRows, turn_id: str, claim: str) -> str:
        turn = rows.turn(turn_id)
        return real(tx, rows, turn_id, claim if turn is None else turn.claim or claim)

    monkeypatch.setattr(driving, "hand_back", any_claim)
    breaks("hand_back freed a lane that somebody else holds", small(levers=1, lapses=1))


def test_a_release_that_frees_a_successor_is_found(monkeypatch: Patch):
    def release(record: LaneRecord | None, fence: Fence) -> LaneRecord:
        if record is None or not record.held:
            raise HoldEnded(record="lane", outcome="released")
        return changed(record, revision=record.revision + 1, lease=None, displaced=None)

    monkeypatch.setattr(lanes, "release", release)
    breaks("freed a lane that somebody else holds", small(lapses=1))


def test_input_that_is_left_behind_by_a_turn_that_ends_is_found(monkeypatch: Patch):
    monkeypatch.setattr(commit, "free_inputs_of", lambda rows, session, turn, program: None)
    breaks("were not answered", small(inputs=1, cancels=1))


def test_a_wish_for_the_end_that_is_not_asked_for_at_the_commit_is_found(monkeypatch: Patch):
    def nobody_asked(self: MemoryRuntimeRows, turn: str) -> None:
        return None

    monkeypatch.setattr(MemoryRuntimeRows, "cancel_marker", nobody_asked)
    breaks("asked to end: True", small(cancels=1))


def test_an_outcome_that_is_written_over_is_found(monkeypatch: Patch):
    real = driving.journal

    def overwritten(
        tx: Transaction,
        rows: RuntimeRows,
        turn: str,
        fence: Fence,
        outcomes: Sequence[tuple[str, Outcome]],
        intents: Sequence[Effect],
    ) -> None:
        known = rows.journal(turn)
        again = [known[effect.key] for effect in intents if effect.key in known]
        rows.put_entries(turn, [changed(entry, outcome=None) for entry in again])
        real(tx, rows, turn, fence, outcomes, intents)

    monkeypatch.setattr(driving, "journal", overwritten)
    breaks("changed after it was recorded", small(drivers=1, duplicates=1, inputs=1, stops=1))


def test_a_turn_that_stays_open_after_its_commit_is_found(monkeypatch: Patch):
    real = MemoryRuntimeRows.put_session

    def put(self: MemoryRuntimeRows, session: Any) -> None:
        before = self.session(session.id)
        kept = before.open_turn if before is not None and session.open_turn is None else None
        real(self, changed(session, open_turn=session.open_turn or kept))

    monkeypatch.setattr(MemoryRuntimeRows, "put_session", put)
    breaks("the session says turn-w1", small())


def test_a_second_turn_beside_an_open_one_is_found(monkeypatch: Patch):
    real = MemoryRuntimeRows.session

    def forgetful(rows: MemoryRuntimeRows, session: str) -> Any:
        found = real(rows, session)
        return None if found is None else changed(found, open_turn=None)

    monkeypatch.setattr(driving, "present", forgetful)
    breaks("are open, the session says", small(asked=(FIRST, LATER), lapses=1))


def test_input_that_a_repeated_commit_leaves_out_is_found(monkeypatch: Patch):
    def without_a_look_at_what_was_taken_in(
        self: SessionStore,
        asked: CommitRequest,
        outcomes: Sequence[tuple[str, Outcome]] = (),
        boundary: Effect | None = None,
    ) -> TurnResult | Outcome:
        with self._writing("commit") as tx:
            rows = self._rows(tx)
            turn, fence = rows.turn(asked.turn), asked.fence
            assert turn is not None
            assert fence is not None
            if not turn.over and driving._holds(tx, fence) and boundary is not None:
                outcome = driving.accept(tx, rows, turn.id, fence, outcomes, boundary)
                if outcome.value:
                    return outcome
            return commit.commit(tx, rows, asked, self._clock.now().wall_ns)

    monkeypatch.setattr(SessionStore, "commit", without_a_look_at_what_was_taken_in)
    breaks("went from accepted to pending", small(lapses=1, losses=1, inputs=1))
