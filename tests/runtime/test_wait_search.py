"""The exhaustive search finds nothing in turns that wait, and finds every guard that is taken away."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from tenure.kernel import ledger
from tenure.kernel.fence import Fence
from tenure.kernel.lane import LaneRecord
from tenure.kernel.store import Transaction
from tenure.runtime import commit, driving, suspending, wait_store, waits
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.turn import TurnRecord
from tenure.runtime.model.wait import Answered, Resolution, WaitRow
from tenure.runtime.store import RuntimeRows
from tenure.runtime.stores.memory import MemoryRuntimeRows
from tenure.testing.search.session_world import FIRST, Troubles
from tenure.testing.search.wait_scenarios import ASKED, SHORT, WAITS, WaitScenario
from tenure.testing.search.waiting import Question

Patch = pytest.MonkeyPatch
changed = msgspec.structs.replace


# ── The store as it is ───────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("scenario", WAITS, ids=lambda scenario: scenario.name)
def test_no_interleaving_of_drivers_and_answers_breaks_a_law(scenario: WaitScenario):
    report = scenario.search()
    print(f"{report.states} states, {report.steps} steps, {report.ends} ends: {report.taken}")
    assert report.fault is None, str(report.fault)
    assert report.states > 5_000


def test_the_search_takes_every_kind_of_step():
    searched = (
        small(lapses=1),
        small(crashes=1),
        small(drivers=1, losses=1, stops=1),
        small(drivers=1, duplicates=1, stops=1),
        small(drivers=1, levers=1, cancels=1),
        small(SHORT, answers=1, ticks=1, revokes=1),
    )
    reports = [scenario.search() for scenario in searched]
    assert [report.fault for report in reports] == [None] * len(reports)
    taken = {step for report in reports for step in report.taken}
    own = ("enters", "is assigned", "intends", "opens", "suspends", "records", "commits", "lets go")
    assert taken == {
        *("finds work", "sees it over", "sees it wait", "goes home", "gives way", "leaves"),
        *own,
        *(f"{call}, reply lost" for call in own),
        *(f"{call}, and once more later" for call in own),
        *("jumps", "goes on", "renews in time", "dies", "is asked to stop", "delivers"),
        *("hands back", "asks for the end", "hears of its end", "answers", "revokes"),
    }


def test_one_driver_hears_its_answer_early_or_late():
    report = small(drivers=1).search()
    assert (report.states, report.steps, report.ends) == (21, 20, 2)


def test_one_driver_hears_that_its_time_is_up():
    report = small(SHORT, drivers=1).search()
    assert (report.states, report.steps, report.ends) == (15, 14, 1)


def small(
    *questions: Question, drivers: int = 2, asked: tuple[str, ...] = (FIRST,), **troubles: int
) -> WaitScenario:
    """A model that takes a second or two."""
    return WaitScenario(
        name="small",
        drivers=drivers,
        inputs=asked,
        questions=questions or (ASKED,),
        troubles=Troubles(**troubles),
    )


# ── The store with one guard taken away ──────────────────────────────────────────────────


def breaks(law: str, scenario: WaitScenario) -> None:
    fault = scenario.search().fault
    assert fault is not None, "nothing was found"
    print(fault)
    assert law in fault.law


def without_a_look(
    tx: Transaction,
    rows: RuntimeRows,
    turn_id: str,
    claim: str,
    fence: Fence,
    outcomes: Sequence[tuple[str, Outcome]],
    on: Sequence[str],
    now: int,
) -> list[WaitRow]:
    """As `suspend`, but what is waited for is not looked at, nor whether the end is wanted."""
    turn = rows.turn(turn_id)
    assert turn is not None
    if turn.waits:
        return []
    ledger.hold_lane(tx, fence)
    driving.journal(tx, rows, turn_id, fence, outcomes, ())
    for wait in map(rows.wait, on):
        assert wait is not None
        rows.put_wait(changed(wait, blocking=True))
    ledger.abandon_claim(tx, claim)
    rows.put_turn(changed(turn, claim=None, waits=True))
    driving.let_go(tx, fence)
    return []


def test_an_answer_between_the_look_and_the_wait_that_is_lost_is_found(monkeypatch: Patch):
    monkeypatch.setattr(wait_store, "suspend", without_a_look)
    breaks("begins to wait for approval, which has ended", small())


def test_a_timeout_between_the_look_and_the_wait_that_is_lost_is_found(monkeypatch: Patch):
    monkeypatch.setattr(wait_store, "suspend", without_a_look)
    breaks("begins to wait for short, which has ended", small(SHORT, ticks=1))


def test_a_wish_for_the_end_that_is_slept_through_is_found(monkeypatch: Patch):
    monkeypatch.setattr(wait_store, "suspend", without_a_look)
    breaks("waits though its end was asked for", small(SHORT, cancels=1))


def test_a_wish_for_the_end_that_wakes_nobody_is_found(monkeypatch: Patch):
    monkeypatch.setattr(waits, "go_on", lambda rows, turn, now: turn)
    breaks("waits though its end was asked for", small(cancels=1))


def test_an_answer_that_wakes_nobody_is_found(monkeypatch: Patch):
    real = MemoryRuntimeRows.sessions_to_drive

    def those_that_do_not_wait(self: MemoryRuntimeRows, *asked: Any) -> list[tuple[str, int]]:
        found = self.session("chat")
        turn = None if found is None else self.turn(found.open_turn or "")
        return [] if turn is not None and turn.waits else real(self, *asked)

    monkeypatch.setattr(MemoryRuntimeRows, "sessions_to_drive", those_that_do_not_wait)
    breaks("has ended, and who looks is not told", small())


def test_a_timeout_that_is_not_looked_for_is_found(monkeypatch: Patch):
    monkeypatch.setattr(WaitRow, "ended", lambda self, now: self.resolution is not None)
    breaks("has ended, and who looks is not told", small(SHORT))


def test_a_turn_that_is_offered_while_it_waits_is_found(monkeypatch: Patch):
    real = MemoryRuntimeRows.sessions_to_drive

    def every_open_turn(self: MemoryRuntimeRows, *asked: Any) -> list[tuple[str, int]]:
        found = self.session("chat")
        opened = found is not None and found.open_turn is not None
        return [("chat", 1)] if opened else real(self, *asked)

    monkeypatch.setattr(MemoryRuntimeRows, "sessions_to_drive", every_open_turn)
    breaks("offered though nothing that it waits for has ended", small(SHORT))


def test_a_turn_that_is_picked_up_while_it_waits_is_found(monkeypatch: Patch):
    monkeypatch.setattr(driving, "may_go_on", lambda rows, turn, now: True)
    monkeypatch.setattr(wait_store.WaitStore, "rests", lambda self, session: False)
    breaks("goes on though nothing that it waits for has ended", small(lapses=1))


def test_a_wait_that_is_waited_for_when_its_turn_goes_on_is_found(monkeypatch: Patch):
    def go_on(rows: RuntimeRows, turn: TurnRecord, now: int) -> TurnRecord:
        going = changed(turn, waits=False)
        rows.put_turn(going)
        return going

    monkeypatch.setattr(driving, "go_on", go_on)
    breaks("does not wait, and a wait of it is waited for", small())


def test_a_turn_that_waits_and_keeps_its_lane_is_found(monkeypatch: Patch):
    monkeypatch.setattr(suspending, "let_go", lambda tx, fence: None)
    breaks("waits and keeps the lane", small())


def test_a_turn_that_waits_and_keeps_its_claim_is_found(monkeypatch: Patch):
    monkeypatch.setattr(ledger, "abandon_claim", lambda tx, claim: [])
    breaks("waits and is claimed", small())


def test_a_fence_that_is_not_checked_is_found(monkeypatch: Patch):
    def hold_nothing(tx: Transaction, fence: Fence) -> LaneRecord | None:
        return tx.lanes.read(fence.record)

    monkeypatch.setattr(ledger, "hold_lane", hold_nothing)
    breaks("under a fence that does not hold the lane", small(lapses=1))


def test_a_fence_that_is_not_checked_when_a_wait_is_opened_is_found(monkeypatch: Patch):
    real = waits.open_wait

    def by_anybody(
        tx: Transaction, rows: RuntimeRows, fence: Fence, wait: WaitRow, now: int
    ) -> WaitRow:
        if rows.wait(wait.id) is not None:
            return real(tx, rows, fence, wait, now)
        rows.add_wait(wait)
        return wait

    monkeypatch.setattr(waits, "open_wait", by_anybody)
    breaks("was opened under a fence that does not hold the lane", small(lapses=1))


def answered(rows: RuntimeRows, wait: str, answer: Resolution, now: int) -> Answered:
    """Answers whatever was said before."""
    known = rows.wait(wait)
    assert known is not None
    rows.put_wait(changed(known, resolution=answer, resolved_wall_ns=now))
    return Answered(resolution=answer, first=True, turn=known.turn)


def test_a_second_answer_is_found(monkeypatch: Patch):
    monkeypatch.setattr(waits, "resolve", answered)
    breaks("a second answer counts", small(answers=1))


def test_an_answer_after_the_time_was_up_is_found(monkeypatch: Patch):
    monkeypatch.setattr(waits, "resolve", answered)
    breaks("its time was up: True", small(SHORT, answers=1, ticks=1))


def test_a_loser_that_is_told_its_own_answer_is_found(monkeypatch: Patch):
    real = waits.resolve

    def flattered(rows: RuntimeRows, wait: str, answer: Resolution, now: int) -> Answered:
        return changed(real(rows, wait, answer, now), resolution=answer)

    monkeypatch.setattr(waits, "resolve", flattered)
    breaks("who answers approval is told", small(answers=1))


def test_two_that_are_told_to_be_first_are_found(monkeypatch: Patch):
    real = waits.resolve

    def first(rows: RuntimeRows, wait: str, answer: Resolution, now: int) -> Answered:
        return changed(real(rows, wait, answer, now), first=True)

    monkeypatch.setattr(waits, "resolve", first)
    breaks("told to be first: True, and it had ended", small(answers=1))


def test_an_answer_that_touches_the_turn_is_found(monkeypatch: Patch):
    real = waits.resolve

    def woken(rows: RuntimeRows, wait: str, answer: Resolution, now: int) -> Answered:
        got = real(rows, wait, answer, now)
        turn = rows.turn(got.turn)
        if turn is not None and turn.waits:
            waits.go_on(rows, turn, now)
        return got

    monkeypatch.setattr(waits, "resolve", woken)
    breaks("an answer changed", small())


def test_a_revocation_of_what_was_answered_is_found(monkeypatch: Patch):
    def everything(
        rows: RuntimeRows, found: Sequence[WaitRow], reason: str, now: int
    ) -> list[WaitRow]:
        said = Resolution(word="cancelled", value=reason)
        for wait in rows.waits_of_turn("turn-w1"):
            rows.put_wait(changed(wait, resolution=said, resolved_wall_ns=now))
        return list(found)

    monkeypatch.setattr(waits, "revoke", everything)
    breaks("a second answer counts", small(ASKED, SHORT, revokes=1))


def test_a_wait_that_outlives_its_turn_is_found(monkeypatch: Patch):
    monkeypatch.setattr(commit, "revoke", lambda rows, found, reason, now: [])
    breaks("is over and a wait of it is open", small(cancels=1))


def test_a_changed_answer_at_the_second_pick_up_is_found(monkeypatch: Patch):
    real = waits.open_wait

    def told_anew(
        tx: Transaction, rows: RuntimeRows, fence: Fence, wait: WaitRow, now: int
    ) -> WaitRow:
        got = real(tx, rows, fence, wait, now)
        if got.resolution is None or got.resolution.word != "timeout":
            return got
        return changed(got, resolution=Resolution(word="value", value=None))

    monkeypatch.setattr(waits, "open_wait", told_anew)
    breaks("and its waits ended by ['timeout']", small(SHORT))
