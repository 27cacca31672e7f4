"""What must hold in every state and across every step of the model, said without the ledger's help."""

from collections.abc import Iterator, Mapping
from typing import Any

from tenure.kernel.attempt import AttemptRecord
from tenure.testing.search.world import (
    CANCELS,
    OPERATOR,
    PROOFS,
    RECEIPTS,
    TIMINGS,
    Run,
    Troubles,
    World,
    attempt_of,
    name,
    receipt_of,
)


def of_state(world: World, jobs: int, at_first: Troubles) -> str:
    """The first law that the state breaks, or ""."""
    return next(_of_state(world, jobs, at_first), "")


def of_step(before: World, after: World) -> str:
    """The first law that the step breaks, or ""."""
    if before.contents is after.contents:
        return ""
    return next(_of_step(before, after), "")


def _of_state(world: World, jobs: int, at_first: Troubles) -> Iterator[str]:
    attempts = world.contents.attempts
    yield from _of_attempts(attempts)
    yield from _of_proofs(world, jobs)
    for index, run in enumerate(world.runs):
        yield from _of_run(world, index, run)
    calm = (world.troubles.lapses, world.troubles.crashes) == (at_first.lapses, at_first.crashes)
    if calm and any(row.retired for row in attempts.values()):
        yield "an attempt was retired though nobody stalled or died"


def _of_attempts(attempts: Mapping[str, AttemptRecord]) -> Iterator[str]:
    bound = [(row.repository, row.subject) for row in attempts.values() if row.outcome is None]
    if len(set(bound)) != len(bound):
        yield "two attempts of one subject are bound"
    sequences = sorted(row.sequence for row in attempts.values())
    if sequences != list(range(1, len(attempts) + 1)):
        yield f"the sequences are not dense: {sequences}"
    for row in attempts.values():
        endings = (row.settled_at is not None) + (row.retired is not None)
        if endings != (row.outcome is not None):
            yield f"{row.id} is {row.outcome} with {endings} endings"
        if row.retired is not None and row.outcome != "cancelled":
            yield f"{row.id} was retired as {row.outcome}"


def _of_proofs(world: World, jobs: int) -> Iterator[str]:
    attempts, proofs = world.contents.attempts, world.contents.table(PROOFS)
    receipts = world.contents.table(RECEIPTS)
    passed = {row.id for row in attempts.values() if row.outcome == "passed"}
    for attempt in proofs.keys() - passed:
        yield f"{attempt} has a proof and did not pass"
    for attempt in passed - proofs.keys():
        yield f"{attempt} passed without a proof"
    for attempt in proofs:
        if any(receipt_of(attempt, job) not in receipts for job in range(jobs)):
            yield f"the proof of {attempt} lacks a receipt"


def _of_run(world: World, index: int, run: Run) -> Iterator[str]:
    """The run reports what became of its last attempt, and its earlier ones held nothing."""
    attempts = world.contents.attempts
    for number in range(1, run.bindings):
        if attempts[attempt_of(index, number)].outcome != "joined":
            yield f"{name(index)} left {attempt_of(index, number)} behind and it is no join"
    if run.report is not None:
        expected = _truth(world, index, run)
        if run.report not in expected:
            yield f"{name(index)} reports {run.report}, and the truth is {expected}"


def _truth(world: World, index: int, run: Run) -> list[tuple[str, str]]:
    """What the run may report, by the records."""
    attempts, proofs = world.contents.attempts, world.contents.table(PROOFS)
    asked = [("cancelled", OPERATOR)] if name(index) in world.contents.table(CANCELS) else []
    own = attempts[attempt_of(index, run.bindings)] if run.bindings else None
    if own is None or own.outcome == "joined":
        rivals = [row for row in attempts.values() if row.run != name(index)]
        if own is not None:
            rivals = [row for row in rivals if row.id == own.joined]
        met = [] if own else [("met", row.id) for row in rivals if row.id in proofs]
        passed = [("adopted", row.id) for row in rivals if row.id in proofs]
        failed = [("adopted failure", row.id) for row in rivals if row.outcome == "failed"]
        return met + passed + failed + asked
    if own.retired is not None:
        return [("cancelled", own.retired.by)]
    if own.outcome == "cancelled":
        return asked
    return [(own.outcome or "nothing yet", own.id)]


def _of_step(before: World, after: World) -> Iterator[str]:
    was, now = before.contents.attempts, after.contents.attempts
    for attempt, row in was.items():
        if attempt not in now:
            yield f"{attempt} is no longer stored"
        elif now[attempt] != row:
            yield from _of_change(before, row, now[attempt])
    for table in (RECEIPTS, PROOFS, CANCELS):
        yield from _of_table(table, before.contents.table(table), after.contents.table(table))
    for receipt in after.contents.table(RECEIPTS).keys() - before.contents.table(RECEIPTS).keys():
        attempt = receipt.partition("/")[0]
        if was[attempt].outcome is not None or now[attempt].outcome is not None:
            yield f"{receipt} was published after the end of its attempt"


def _of_change(before: World, was: AttemptRecord, now: AttemptRecord) -> Iterator[str]:
    if was.outcome is not None:
        yield f"{was.id} was {was.outcome} already and changed"
    if now.revision != was.revision + 1:
        yield f"{was.id} went from revision {was.revision} to {now.revision}"
    if _of_birth(was) != _of_birth(now):
        yield f"{was.id} changed what it was born with"
    if now.retired is not None:
        dead = before.runs[was.evidence.pid].place == "dead"
        lapsed = was.lease.renewed.boot_ns + TIMINGS.ttl_ns <= before.epoch * TIMINGS.ttl_ns
        if not dead and not lapsed:
            yield f"{was.id} was retired, neither lapsed nor gone"
        if now.retired.by == was.run:
            yield f"{was.run} retired itself"


def _of_birth(row: AttemptRecord) -> tuple[object, ...]:
    lease = (row.lease.acquired, row.lease.timings)
    return (row.sequence, row.run, row.subject, row.owner, row.evidence, row.token, lease)


def _of_table(table: str, was: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for key, row in was.items():
        if now.get(key) != row:
            yield f"{key} in {table} changed"
