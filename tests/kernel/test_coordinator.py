"""The keeper of a hold: in step with the work, patient with doubt, certain about loss."""

import pickle
from collections.abc import Callable

import pytest

from tenure.kernel.coordinator import Coordinator
from tenure.kernel.errors import (
    FenceMismatch,
    HoldEnded,
    HoldLost,
    RecordMissing,
    RecordUnreadable,
    ReplyLost,
    RevisionConflict,
    SettlementUnknown,
    StoreBusy,
    StoreNewer,
    StoreUnavailable,
)
from tenure.kernel.lease import LeaseTimings

LOSS = HoldLost(record="attempt a", by="bob-run", evidence="lapsed: silent for 30 s")
BUSY = StoreBusy(store="s")

DOUBTS = [
    BUSY,
    RevisionConflict(record="attempt a", expected=1),
    RecordMissing(record="attempt a"),
    RecordUnreadable(record="attempt a", reason="torn"),
    StoreUnavailable(store="s", reason="the disk is full", hint="free some"),
    StoreNewer(store="s", line="kernel", found=9, known=1),
    ReplyLost(call="renew"),
]


class Store:
    """Answers calls as scripted; the last answer stays."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return str(answer)


class Loop:
    """A loop's clock: sleeping is moving it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def keeper(renew: Callable[[], object], jitter: float = 0.0) -> Coordinator[str]:
    timings = LeaseTimings(ttl=30.0, renew_interval=10.0)
    return Coordinator(renew=renew, timings=timings, started=0.0, jitter=lambda: jitter)


def settle(keeper: Coordinator[str], store: Store, loop: Loop) -> str:
    return keeper.settle(store, record="attempt a", monotonic=loop.monotonic, sleep=loop.sleep)


def test_it_renews_when_due_and_not_before():
    store = Store("renewed")
    one = keeper(store)
    assert one.deadline == 10.0
    one.tick(9.99)
    assert store.calls == 0
    one.tick(10.0)
    assert (store.calls, one.deadline) == (1, 20.0)


def test_nothing_is_renewed_unless_the_loop_ticks():
    """A run that makes no progress stops renewing: there is nobody else to do it."""
    store = Store("renewed")
    one = keeper(store)
    one.tick(1000.0)
    assert (store.calls, one.deadline) == (1, 1010.0)


def test_a_check_renews_whether_due_or_not():
    store = Store("renewed")
    one = keeper(store)
    one.check(3.0)
    assert (store.calls, one.deadline) == (1, 13.0)


@pytest.mark.parametrize("doubt", DOUBTS, ids=lambda doubt: type(doubt).__name__)
def test_doubt_is_not_loss_however_long_it_lasts(doubt):
    store = Store(doubt)
    one = keeper(store)
    for step in range(1000):
        one.tick(10.0 + 2.5 * step)
        assert one.lost is None
        assert one.doubt is doubt
    assert store.calls == 1000


def test_doubt_ends_with_the_next_renewal():
    one = keeper(Store(BUSY, "renewed"))
    one.tick(10.0)
    one.tick(12.5)
    assert one.doubt is None
    assert one.deadline == 22.5


@pytest.mark.parametrize(("jitter", "pause"), [(0.0, 2.5), (0.5, 2.1875), (0.999999, 1.875)])
def test_doubt_is_retried_after_a_quarter_of_the_interval_jittered_down(jitter, pause):
    one = keeper(Store(BUSY), jitter)
    one.tick(10.0)
    assert one.deadline == pytest.approx(10.0 + pause, abs=1e-5)


def test_holders_in_doubt_do_not_ask_in_step():
    deadlines = set()
    for number in range(100):
        one = keeper(Store(BUSY), jitter=number / 100)
        one.tick(10.0)
        deadlines.add(round(one.deadline, 4))
    assert len(deadlines) == 100
    assert max(deadlines) - min(deadlines) > 0.6


def test_a_store_that_answers_just_before_the_ttl_is_asked_in_time():
    """Two renewals are missed and the third is made before anybody may take over."""
    back = 27.0
    renewals = []
    clock = Loop()

    def renew() -> None:
        if clock.now < back:
            raise BUSY
        renewals.append(clock.now)

    one = keeper(renew)
    while not renewals:
        clock.now = one.deadline
        one.tick(clock.now)
    assert renewals[0] < 30.0


def test_proven_loss_ends_the_renewals():
    store = Store(LOSS)
    one = keeper(store)
    one.tick(10.0)
    assert one.lost is LOSS
    one.tick(100.0)
    assert store.calls == 1


@pytest.mark.parametrize(
    "defect",
    [HoldEnded(record="attempt a", outcome="passed"), FenceMismatch(record="attempt a")],
    ids=lambda error: type(error).__name__,
)
def test_a_refusal_that_proves_no_loss_is_raised_and_not_taken_for_one(defect):
    one = keeper(Store(defect))
    with pytest.raises(type(defect)):
        one.tick(10.0)
    assert one.lost is None


def test_the_longest_gap_between_renewals_is_reported():
    one = keeper(Store("renewed", BUSY, "renewed"))
    one.tick(10.0)
    one.tick(20.0)
    assert one.longest_gap == 10.0
    one.tick(27.0)
    one.tick(37.0)
    assert one.longest_gap == 17.0


def test_a_settlement_is_written_once_and_remembered():
    store, loop = Store("passed"), Loop()
    one = keeper(Store("renewed"))
    assert settle(one, store, loop) == "passed"
    assert settle(one, store, loop) == "passed"
    assert store.calls == 1


def test_a_refused_settlement_is_remembered():
    store, loop = Store(LOSS), Loop()
    one = keeper(Store("renewed"))
    for _ in range(2):
        with pytest.raises(HoldLost):
            settle(one, store, loop)
    assert store.calls == 1
    assert one.lost is LOSS


def test_a_settlement_of_another_outcome_is_refused_and_remembered():
    store, loop = Store(HoldEnded(record="attempt a", outcome="failed")), Loop()
    one = keeper(Store("renewed"))
    for _ in range(2):
        with pytest.raises(HoldEnded):
            settle(one, store, loop)
    assert store.calls == 1
    assert one.lost is None


def test_a_lost_hold_is_not_settled():
    store, loop = Store("passed"), Loop()
    one = keeper(Store(LOSS))
    one.tick(10.0)
    with pytest.raises(HoldLost):
        settle(one, store, loop)
    assert store.calls == 0


@pytest.mark.parametrize("doubt", DOUBTS, ids=lambda doubt: type(doubt).__name__)
def test_a_settlement_in_doubt_is_asked_again(doubt):
    store, loop = Store(doubt, doubt, "passed"), Loop()
    assert settle(keeper(Store("renewed")), store, loop) == "passed"
    assert loop.slept == [2.5, 2.5]


def test_a_settlement_is_unknown_after_one_ttl_and_may_be_asked_again():
    store, loop = Store(BUSY), Loop()
    one = keeper(Store("renewed"))
    with pytest.raises(SettlementUnknown) as unknown:
        settle(one, store, loop)
    assert unknown.value.__cause__ is BUSY
    assert loop.now == 30.0
    assert store.calls == 13
    store.answers = ["passed"]
    assert settle(one, store, loop) == "passed"


def test_an_unknown_settlement_survives_pickling():
    error = SettlementUnknown(record="attempt a", last="busy")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.fields) == (SettlementUnknown, str(error), error.fields)
