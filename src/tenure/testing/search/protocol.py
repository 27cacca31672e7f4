"""The model of runs that want a proof: their steps, and everything that may befall them.

Each store call is a step of its own and goes through the kernel's real ledger, on a store
in memory that is restored to the state at hand. Between two steps anything may happen: a
rival acts, a lease lapses, the run dies, the reply of a call that was executed gets lost.

The model is finite, and no state comes back. A run goes forward from place to place, except
that a follower asks for another attempt when the one it follows lapsed, or ended without a
verdict; each of these needs a lapse, a death, a retirement or a cancellation. A retirement
ends its run for good and is licensed by a lapse or a death; lapses, deaths, cancellations
and lost replies are counted. A lease is renewed once per lapse, since one renewed in the
present epoch is as fresh as it gets.

What is left out, and why nothing is lost:

- A run dies only while the store has it bound. Dead at another moment it cannot be told
  from a run that is not scheduled any more.
- Runs of one subject take their first step in the order of their names. They differ by
  nothing else, so the other orders are these with the names exchanged.
- Stalls need no step: a stalled run is one that others overtake.
"""

from collections.abc import Hashable

import msgspec

from tenure.kernel import ledger
from tenure.kernel.attempt import GENERATION, AttemptRecord, Outcome
from tenure.kernel.clock import Instant
from tenure.kernel.errors import Doubt, HoldLost, NotLicensed, TenureError
from tenure.kernel.fence import Fence
from tenure.kernel.stores.memory import Contents, MemoryDatabase, MemoryTables, MemoryTransaction
from tenure.kernel.takeover import Licence
from tenure.testing.search import laws, trouble
from tenure.testing.search.action import Steps, calls, moves
from tenure.testing.search.explorer import Step
from tenure.testing.search.world import (
    CANCELS,
    OPERATOR,
    PROOFS,
    RECEIPTS,
    REPOSITORY,
    Run,
    Troubles,
    World,
    attempt_of,
    describe,
    ended,
    instant,
    judging,
    name,
    receipt_of,
    request,
    token_of,
)

_with = msgspec.structs.replace


class Runs:
    """Some runs in one repository; a `Model` for the explorer.

    `subjects` names the subject of each run, `jobs` is how many receipts a proof needs, and
    `troubles` says how much may go wrong.
    """

    def __init__(self, subjects: tuple[str, ...], troubles: Troubles, *, jobs: int = 1) -> None:
        self._subjects = subjects
        self._troubles = troubles
        self._jobs = jobs
        self._known: dict[Hashable, int] = {}

    # ── What the explorer asks ───────────────────────────────────────────────────────────

    def initial(self) -> World:
        """Nothing is stored and nobody has started."""
        return World(Contents(), 0, self._troubles, (Run(),) * len(self._subjects))

    def steps(self, world: World) -> Steps:
        """Every step that anybody may take."""
        waiting: set[str] = set()
        for index, run in enumerate(world.runs):
            if run.alive and self._subjects[index] not in waiting:
                yield from self._of_run(world, index, run)
            if run.place == "look":
                waiting.add(self._subjects[index])
        yield from trouble.befalls(world)

    def key(self, world: World) -> Hashable:
        """The state as a few numbers."""
        known = self._known
        parts = (world.contents, world.troubles, *world.runs)
        return (world.epoch, *[known.setdefault(part, len(known)) for part in parts])

    def broken(self, world: World) -> str:
        """Which law the state breaks."""
        return laws.of_state(world, self._jobs, self._troubles)

    def done(self, world: World) -> bool:
        """Whether every run reported or died."""
        return not any(run.alive for run in world.runs)

    def describe(self, world: World) -> str:
        """The runs and the records, on one line."""
        return describe(world)

    # ── What a run does, in its order ────────────────────────────────────────────────────

    def _of_run(self, world: World, index: int, run: Run) -> Steps:
        match run.place:
            case "look":
                yield self._look(world, index, run)
            case "rival":
                yield self._find_rival(world, index, run)
            case "scan":
                yield self._scan(world, index, run)
            case "retire":
                yield from self._retire(world, index, run)
            case "bind":
                yield from self._bind(world, index, run)
            case "job":
                yield from self._do_job(world, index, run)
                yield from self._renew(world, index, run)
                yield from self._obey(world, index, run)
            case "settle":
                yield from self._settle(world, index, run)
                yield from self._renew(world, index, run)
            case "follow":
                yield from self._follow(world, index, run)
                yield from self._obey(world, index, run)
            case _:
                raise AssertionError(run.place)

    def _look(self, world: World, index: int, run: Run) -> Step[World]:
        """Is it proven already?"""
        proofs = world.contents.table(PROOFS).items()
        proven = [attempt for attempt, subject in proofs if subject == self._subjects[index]]
        after = ended(run, "met", min(proven)) if proven else _with(run, place="rival")
        return moves(world, index, "finds a proof" if proven else "finds no proof", after)

    def _find_rival(self, world: World, index: int, run: Run) -> Step[World]:
        """Is somebody at it whom nothing licenses us to retire?"""
        for row in _unfinished(world):
            if row.subject == self._subjects[index] and not self.takeover(world, row):
                after = _with(run, place="follow", rival=row.id)
                return moves(world, index, "finds a rival", after, row.id)
        return moves(world, index, "finds no rival", _with(run, place="scan"))

    def _scan(self, world: World, index: int, run: Run) -> Step[World]:
        """Recover, first half: read who may be retired. The second half writes on what was read."""
        licensed = [(row, _licence(world, row)) for row in _unfinished(world)]
        found = tuple((row, licence) for row, licence in licensed if licence is not None)
        after = _with(run, place="retire" if found else "bind", found=found)
        return moves(world, index, "scans", after, f"and finds {len(found)}")

    def _retire(self, world: World, index: int, run: Run) -> Steps:
        """Recover, second half. A write that fails is left to the next run."""
        (seen, licence), *others = run.found
        after = _with(run, place="retire" if others else "bind", found=tuple(others))

        def refused(run: Run, error: TenureError) -> Run | None:
            return after if isinstance(error, Doubt | NotLicensed) else self.refused(run, error)

        yield from calls(
            world,
            index,
            "retires",
            lambda tx: ledger.retire(tx, seen, name(index), licence, instant(world.epoch)),
            which=seen.id,
            then=lambda _: after,
            refused=refused,
        )

    def _bind(self, world: World, index: int, run: Run) -> Steps:
        asked = request(index, run.bindings + 1, self._subjects[index])
        liveness, now = judging(world), instant(world.epoch)

        def then(record: AttemptRecord) -> Run:
            mine = Run(place="job", bindings=run.bindings + 1)
            if record.retired is not None:
                return ended(mine, "cancelled", record.retired.by)
            if record.joined is not None:
                return _with(mine, place="follow", rival=record.joined)
            assert record.bound, f"{record.id} was settled before anybody knew it"
            return mine

        yield from calls(
            world,
            index,
            "binds",
            lambda tx: ledger.bind(tx, asked, liveness, now),
            then=then,
            refused=self.refused,
        )

    def _do_job(self, world: World, index: int, run: Run) -> Steps:
        """Run a job and publish its receipt at once, or see it fail."""
        receipt = receipt_of(attempt_of(index, run.bindings), run.job)
        last = run.job + 1 == self._jobs
        yield from calls(
            world,
            index,
            "publishes",
            lambda tx: self.publish(tx, _fence(index, run), receipt),
            which=receipt,
            then=lambda _: _with(run, place="settle" if last else "job", job=run.job + 1),
            refused=self.refused,
        )
        if world.troubles.failures and receipt not in world.contents.table(RECEIPTS):
            failed = _with(run, place="settle", outcome="failed")
            yield moves(world.spending("failures"), index, "fails", failed, receipt, adverse=True)

    def _renew(self, world: World, index: int, run: Run) -> Steps:
        """At any moment, once it is of use: or find out that the attempt is lost."""
        row = world.contents.attempts[attempt_of(index, run.bindings)]
        if row.settled_at is not None or row.lease.renewed == instant(world.epoch):
            return
        now = instant(world.epoch)
        yield from calls(
            world,
            index,
            "renews",
            lambda tx: ledger.renew(tx, _fence(index, run), now),
            then=lambda _: run,
            refused=self.refused,
        )

    def _settle(self, world: World, index: int, run: Run) -> Steps:
        now, subject = instant(world.epoch), self._subjects[index]
        by = OPERATOR if run.outcome == "cancelled" else attempt_of(index, run.bindings)
        yield from calls(
            world,
            index,
            "settles",
            lambda tx: self.settle(tx, _fence(index, run), run.outcome, subject, now),
            which=run.outcome,
            then=lambda _: ended(run, run.outcome, by),
            refused=self.refused,
        )

    def _follow(self, world: World, index: int, run: Run) -> Steps:
        """Hold nothing; wait for the other's end, or for what licenses a takeover."""
        row = world.contents.attempts[run.rival]
        again = _with(run, place="scan", rival="")
        if row.bound:
            if self.takeover(world, row):
                yield moves(world, index, "sees a licence", again)
        elif row.outcome == "passed":
            yield moves(world, index, "adopts", ended(run, "adopted", row.id), "the proof")
        elif row.outcome == "failed":
            yield moves(
                world, index, "adopts", ended(run, "adopted failure", row.id), "the failure"
            )
        else:
            yield moves(world, index, "sees no verdict", again, row.id)

    def _obey(self, world: World, index: int, run: Run) -> Steps:
        """A run that was asked to stop does, unless its settlement is on its way already."""
        if name(index) in world.contents.table(CANCELS):
            after = _with(run, place="settle", outcome="cancelled")
            if run.place == "follow":
                after = ended(run, "cancelled", OPERATOR)
            yield moves(world, index, "obeys", after)

    # ── The guards of the protocol, one by one, so that a test can take one away ─────────

    def takeover(self, world: World, row: AttemptRecord) -> bool:
        """Whether somebody who waits for this attempt may stop waiting."""
        return _licence(world, row) is not None

    def publish(self, tx: MemoryTransaction, fence: Fence, receipt: str) -> None:
        """Store a receipt if the fence holds, in one transaction."""
        ledger.hold(tx, fence)
        tx.table(RECEIPTS)[receipt] = "passed"

    def settle(
        self, tx: MemoryTransaction, fence: Fence, outcome: Outcome, subject: str, now: Instant
    ) -> None:
        """Finish the attempt, and store the proof if it passed, in one transaction."""
        ledger.settle(tx, fence, outcome, now)
        if outcome == "passed":
            tx.table(PROOFS)[fence.record] = subject

    def refused(self, run: Run, error: TenureError) -> Run | None:
        """Where a run goes after a refusal; None is nowhere, it asks again."""
        if isinstance(error, HoldLost):
            return ended(run, "cancelled", error.by)
        if isinstance(error, Doubt):
            return None
        raise error


def _unfinished(world: World) -> list[AttemptRecord]:
    """What a scan of the store shows."""
    with MemoryDatabase(MemoryTables(world.contents)).read() as tx:
        return tx.attempts.unfinished(REPOSITORY)


def _licence(world: World, row: AttemptRecord) -> Licence | None:
    """What licenses a takeover of this attempt in this state."""
    return ledger.licence(row, judging(world), instant(world.epoch))


def _fence(index: int, run: Run) -> Fence:
    """What the run presents, as it remembers it."""
    return Fence(
        record=attempt_of(index, run.bindings),
        generation=GENERATION,
        token=token_of(index, run.bindings),
    )
