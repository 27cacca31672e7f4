"""The exhaustive search finds nothing in the kernel, and finds every guard that is taken away."""

from collections.abc import Callable, Iterable

import msgspec
import pytest

from tenure.kernel import lease, ledger
from tenure.kernel.attempt import AttemptRecord, BindRequest, Outcome
from tenure.kernel.clock import Instant
from tenure.kernel.errors import HoldEnded, HoldLost, NotLicensed, RevisionConflict, TenureError
from tenure.kernel.fence import Fence
from tenure.kernel.ledger import Liveness
from tenure.kernel.store import Transaction
from tenure.kernel.stores.memory import MemoryAttempts, MemoryTransaction
from tenure.kernel.takeover import Licence, Takeover
from tenure.testing.search import __main__ as command
from tenure.testing.search.explorer import Explorer, Label, Step, TooLarge
from tenure.testing.search.protocol import Runs
from tenure.testing.search.scenarios import EVERY_TIME, Scenario
from tenure.testing.search.world import PROOFS, RECEIPTS, Run, Troubles, World, ended

Patch = pytest.MonkeyPatch
changed = msgspec.structs.replace


# ── The kernel as it is ──────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("scenario", EVERY_TIME, ids=lambda scenario: scenario.name)
def test_no_interleaving_of_runs_breaks_a_law(scenario: Scenario):
    report = scenario.search()
    print(f"{report.states} states, {report.steps} steps, {report.ends} ends: {report.taken}")
    assert report.fault is None, str(report.fault)
    assert report.states > 30_000


def test_the_search_takes_every_kind_of_step():
    report = small(lapses=1, crashes=1, losses=1, failures=1, cancels=1).search()
    assert report.fault is None, str(report.fault)
    assert set(report.taken) == {
        *("finds no proof", "finds a proof", "finds no rival", "finds a rival", "scans"),
        *("retires", "retires, reply lost", "binds", "binds, reply lost"),
        *("publishes", "publishes, reply lost", "fails", "renews", "renews, reply lost"),
        *("settles", "settles, reply lost", "sees a licence", "sees no verdict", "adopts"),
        *("is asked to stop", "obeys", "dies", "dies unseen", "jumps", "goes on"),
    }


def test_two_runs_without_trouble_end_in_seven_ways():
    # The first is the one that looked first. Either of the two may bind first, and then the
    # other adopts its proof, having seen it before it bound (1) or joined (2), or binds only
    # after the settlement and passes too (3); and the second may look so late that there is
    # a proof already (1 more).
    report = small().search()
    assert report.fault is None
    assert report.ends == 2 * 3 + 1


def small(*, subjects: str = "ss", jobs: int = 1, **troubles: int) -> Scenario:
    """A model that takes milliseconds."""
    return Scenario(name="small", subjects=subjects, jobs=jobs, troubles=Troubles(**troubles))


def test_the_command_prints_counts_and_fails_on_a_fault(
    monkeypatch: Patch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(command, "EVERY_TIME", (small(lapses=1),))
    monkeypatch.setattr(command, "SESSIONS", ())
    assert command.main([]) == 0
    assert "  small\n" in capsys.readouterr().out
    monkeypatch.setattr(ledger, "hold", hold_nothing)
    assert command.main([]) == 1
    assert "BROKEN: r1.1/0 was published after the end" in capsys.readouterr().out


# ── The kernel with one guard taken away ─────────────────────────────────────────────────


def retire_what_is_there(
    tx: Transaction, seen: AttemptRecord, by: str, ground: Licence, now: Instant
) -> AttemptRecord:
    """A retirement that does not care about the revision that was read."""
    row = tx.attempts.read(seen.id)
    assert row is not None
    gone = changed(
        row,
        revision=row.revision + 1,
        outcome="cancelled",
        settled_at=None,
        retired=Takeover(by=by, at=now, licence=ground),
    )
    tx.attempts.replace(gone, expected=row.revision)
    return gone


def retire_what_is_lapsed(
    tx: Transaction, seen: AttemptRecord, by: str, ground: Licence, now: Instant
) -> AttemptRecord:
    """A retirement that looks at the lease again, and at nothing else."""
    row = tx.attempts.read(seen.id)
    if row is None or not lease.lapsed(row.lease, now):
        raise NotLicensed(record=seen.id, holder=str(seen.owner))
    return retire_what_is_there(tx, seen, by, ground, now)


def retire_what_is_bound(
    tx: Transaction, seen: AttemptRecord, by: str, ground: Licence, now: Instant
) -> AttemptRecord:
    """A retirement that overlooks a renewal, and nothing else."""
    row = tx.attempts.read(seen.id)
    if row is None or not row.bound:
        raise RevisionConflict(record=seen.id, expected=seen.revision)
    return retire_what_is_there(tx, seen, by, ground, now)


def settle_even_if_retired(
    tx: Transaction, fence: Fence, outcome: Outcome, now: Instant
) -> AttemptRecord:
    """A settlement that checks the token alone."""
    row = tx.attempts.read(fence.record)
    assert row is not None
    if row.settled_at is not None:
        return row
    done = changed(row, revision=row.revision + 1, outcome=outcome, settled_at=now, retired=None)
    tx.attempts.replace(done, expected=row.revision)
    return done


def renew_even_if_finished(tx: Transaction, fence: Fence, now: Instant) -> AttemptRecord:
    """A renewal that checks nothing."""
    row = tx.attempts.read(fence.record)
    assert row is not None
    again = changed(row, revision=row.revision + 1, lease=lease.renew(row.lease, now))
    tx.attempts.replace(again, expected=row.revision)
    return again


def settle_only_in_time(real: Callable[..., AttemptRecord]) -> Callable[..., AttemptRecord]:
    """A settlement that takes a lapse for a loss."""

    def settle(tx: Transaction, fence: Fence, outcome: Outcome, now: Instant) -> AttemptRecord:
        row = tx.attempts.read(fence.record)
        if row is not None and row.bound and lease.lapsed(row.lease, now):
            raise HoldLost(record=row.id, by="nobody", evidence="too late")
        return real(tx, fence, outcome, now)

    return settle


def settle_once(real: Callable[..., AttemptRecord]) -> Callable[..., AttemptRecord]:
    """A settlement that refuses to be asked again."""

    def settle(tx: Transaction, fence: Fence, outcome: Outcome, now: Instant) -> AttemptRecord:
        row = tx.attempts.read(fence.record)
        if row is not None and row.settled_at is not None:
            raise HoldEnded(record=row.id, outcome=row.outcome)
        return real(tx, fence, outcome, now)

    return settle


def bind_once(known: AttemptRecord, request: BindRequest) -> AttemptRecord:
    """A reservation that refuses to be asked again."""
    raise RevisionConflict(record=known.id, expected=0)


def no_rival(
    tx: Transaction, request: BindRequest, liveness: Liveness, now: Instant
) -> AttemptRecord | None:
    """A reservation that looks for no rival."""
    return None


def licensed_by_doubt(row: AttemptRecord, liveness: Liveness, now: Instant) -> Licence | None:
    """A licence for whoever cannot be seen to run."""
    state = liveness(row.evidence).state
    return None if state == "running" else Licence(ground="gone", evidence="not seen")


def licensed_always(row: AttemptRecord, liveness: Liveness, now: Instant) -> Licence | None:
    """A licence for everybody."""
    return Licence(ground="gone", evidence="said so")


def hold_nothing(tx: Transaction, fence: Fence) -> AttemptRecord:
    """A fence that lets everybody through."""
    row = tx.attempts.read(fence.record)
    assert row is not None
    return row


def skip_a_number(rows: MemoryAttempts, repository: str) -> int:
    """A sequence with gaps."""
    return 2 * len(rows.unfinished(repository)) + 1


class NeverLooksAgain(Runs):
    """Followers that wait for the end of what they follow and for nothing else."""

    def takeover(self, world: World, row: AttemptRecord) -> bool:
        return False


class PublishesUnfenced(Runs):
    """Receipts that are stored without asking who holds the attempt."""

    def publish(self, tx: MemoryTransaction, fence: Fence, receipt: str) -> None:
        tx.table(RECEIPTS)[receipt] = "passed"


class ProvesTooEarly(Runs):
    """A proof that is stored in the transaction before the settlement's."""

    def publish(self, tx: MemoryTransaction, fence: Fence, receipt: str) -> None:
        super().publish(tx, fence, receipt)
        tx.table(PROOFS)[fence.record] = "s"


class ForgetsTheProof(Runs):
    """A settlement that leaves the proof to a later transaction."""

    def settle(
        self, tx: MemoryTransaction, fence: Fence, outcome: Outcome, subject: str, now: Instant
    ) -> None:
        ledger.settle(tx, fence, outcome, now)


class BlamesItself(Runs):
    """Runs that report a retirement as a failure of their own."""

    def refused(self, run: Run, error: TenureError) -> Run | None:
        if isinstance(error, HoldLost):
            return ended(run, "failed", "r1.1")
        return super().refused(run, error)


class FightsBack(Runs):
    """Retired runs that begin again instead of ending."""

    def refused(self, run: Run, error: TenureError) -> Run | None:
        if isinstance(error, HoldLost):
            return changed(run, place="scan", job=0)
        return super().refused(run, error)


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A guard taken away, and the law that the search must find broken."""

    law: str
    troubles: dict[str, int] = {}
    subjects: str = "ss"
    model: type[Runs] = Runs
    take_away: Callable[[Patch], None] = lambda patch: None


def put(owner: object, name: str, value: object) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(owner, name, value)


def wrap(name: str, wrapper: Callable[..., object]) -> Callable[[Patch], None]:
    return lambda patch: patch.setattr(ledger, name, wrapper(getattr(ledger, name)))


def allow_two_bound(patch: Patch) -> None:
    patch.setattr(ledger, "_living_rival", no_rival)
    patch.setattr(MemoryAttempts, "_rivals", lambda rows, record: False)


FAULTS = {
    "a retirement that ignores the revision": Fault(
        law="r1.1 was retired, neither lapsed nor gone",
        troubles={"lapses": 1},
        take_away=put(ledger, "retire", retire_what_is_there),
    ),
    "a retirement that overlooks a settlement": Fault(
        law="r1.1 was passed already and changed",
        troubles={"lapses": 1},
        take_away=put(ledger, "retire", retire_what_is_lapsed),
    ),
    "a retirement that overlooks a renewal": Fault(
        law="r1.1 was retired, neither lapsed nor gone",
        troubles={"lapses": 1},
        take_away=put(ledger, "retire", retire_what_is_bound),
    ),
    "a settlement that ignores the retirement": Fault(
        law="r1.1 was cancelled already and changed",
        troubles={"lapses": 1},
        take_away=put(ledger, "settle", settle_even_if_retired),
    ),
    "a renewal that ignores the retirement": Fault(
        law="r1.1 was cancelled already and changed",
        troubles={"lapses": 1},
        take_away=put(ledger, "renew", renew_even_if_finished),
    ),
    "a settlement that takes a lapse for a loss": Fault(
        law="r1 reports ('cancelled', 'nobody'), and the truth is [('nothing yet', 'r1.1')]",
        troubles={"lapses": 1},
        take_away=wrap("settle", settle_only_in_time),
    ),
    "a settlement that cannot be asked again": Fault(
        law="r1 settles passed: r1.1 was already ended by its own holder as passed; "
        "use that outcome",
        troubles={"losses": 1},
        take_away=wrap("settle", settle_once),
    ),
    "a reservation that cannot be asked again": Fault(
        law="somebody waits for ever",
        troubles={"losses": 1},
        take_away=put(ledger, "_repeated", bind_once),
    ),
    "a reservation that looks for no rival": Fault(
        law="somebody waits for ever",
        troubles={"crashes": 1},
        take_away=put(ledger, "_living_rival", no_rival),
    ),
    "two reservations of one subject": Fault(
        law="two attempts of one subject are bound",
        take_away=allow_two_bound,
    ),
    "a licence by doubt": Fault(
        law="r1.1 was retired, neither lapsed nor gone",
        troubles={"crashes": 1},
        take_away=put(ledger, "licence", licensed_by_doubt),
    ),
    "a licence for everybody": Fault(
        law="r1.1 was retired, neither lapsed nor gone",
        take_away=put(ledger, "licence", licensed_always),
    ),
    "sequences with gaps": Fault(
        law="the sequences are not dense: [1, 3]",
        take_away=put(MemoryAttempts, "next_sequence", skip_a_number),
    ),
    "a fence that lets everybody through": Fault(
        law="r1.1/0 was published after the end of its attempt",
        troubles={"lapses": 1},
        take_away=put(ledger, "hold", hold_nothing),
    ),
    "a receipt that is published unfenced": Fault(
        law="r1.1/0 was published after the end of its attempt",
        troubles={"lapses": 1},
        model=PublishesUnfenced,
    ),
    "a follower that never looks again": Fault(
        law="somebody waits for ever",
        troubles={"crashes": 1},
        model=NeverLooksAgain,
    ),
    "a proof before its settlement": Fault(
        law="r1.1 has a proof and did not pass",
        model=ProvesTooEarly,
    ),
    "a settlement without its proof": Fault(
        law="r1.1 passed without a proof",
        model=ForgetsTheProof,
    ),
    "a retirement reported as a failure": Fault(
        law="r1 reports ('failed', 'r1.1'), and the truth is [('cancelled', 'r2')]",
        troubles={"lapses": 1},
        model=BlamesItself,
    ),
    "a retired run that begins again": Fault(
        law="r1 left r1.1 behind and it is no join",
        troubles={"lapses": 1},
        model=FightsBack,
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_guard_that_is_taken_away_is_missed(name: str, monkeypatch: Patch):
    fault = FAULTS[name]
    scenario = Scenario(
        name=name, subjects=fault.subjects, troubles=Troubles(**fault.troubles), jobs=1
    )
    assert scenario.search().fault is None, "the kernel itself must be sound"
    fault.take_away(monkeypatch)
    found = scenario.search(fault.model).fault
    print(found)
    assert found is not None
    assert found.law == fault.law
    assert len(found.lines) == len(found.trace) + 1


# ── The explorer ─────────────────────────────────────────────────────────────────────────


class Graph:
    """A model that is given as a graph. `adverse` edges are written with a question mark."""

    def __init__(self, edges: dict[str, str], done: str) -> None:
        self._edges = edges
        self._done = done

    def initial(self) -> str:
        return "a"

    def steps(self, state: str) -> Iterable[Step[str]]:
        for target in self._edges.get(state, "").split():
            label: Label = ("", f"to {target[0]}", "")
            yield Step(label, target[0], adverse=target.endswith("?"))

    def key(self, state: str) -> str:
        return state

    def broken(self, state: str) -> str:
        return "x is forbidden" if state == "x" else ""

    def done(self, state: str) -> bool:
        return state in self._done

    def describe(self, state: str) -> str:
        return state


def test_the_explorer_counts_states_steps_and_ends():
    report = Explorer(Graph({"a": "b c", "b": "d", "c": "d"}, done="d")).run()
    assert (report.states, report.steps, report.ends, report.depth) == (4, 4, 1, 2)
    assert report.taken == {"to b": 1, "to c": 1, "to d": 2}
    assert report.fault is None


def test_the_explorer_shows_the_shortest_way_to_a_broken_state():
    fault = Explorer(Graph({"a": "b c", "b": "d", "d": "x", "c": "x"}, done="")).run().fault
    assert fault is not None
    assert fault.law == "x is forbidden"
    assert fault.lines == ("      start: a", "    1 to c: c", "    2 to x: x")


def test_the_explorer_finds_who_waits_for_ever():
    fault = Explorer(Graph({"a": "b", "b": "c?"}, done="c")).run().fault
    assert fault is not None
    assert (fault.law, fault.lines[-1]) == ("somebody waits for ever", "    1 to b: b")


def test_the_explorer_finds_what_goes_round_in_circles():
    fault = Explorer(Graph({"a": "b", "b": "c", "c": "b d", "d": "e"}, done="e")).run().fault
    assert fault is not None
    assert fault.law == "this state can come back: nothing ends"
    assert fault.lines[-1][-1] in "bc"


def test_the_explorer_gives_up_on_too_many_states():
    with pytest.raises(TooLarge):
        Explorer(Graph({"a": "b", "b": "c"}, done="c"), limit=2).run()
