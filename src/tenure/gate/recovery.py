"""Recovery: retiring what lapsed or died, and burying what the dead left behind."""

import os
import signal

import msgspec

from tenure.gate.jobs.reap import kill_run
from tenure.gate.processes import open_marked, reachable, send
from tenure.gate.record import ProcessMark, RunRecord
from tenure.gate.report import Report, retirement
from tenure.gate.store import GateStore
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.errors import Doubt, Refused, StoreBusy
from tenure.kernel.points import point
from tenure.kernel.takeover import Licence


class Retired(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that was retired, and the processes of its run that were killed."""

    attempt: AttemptRecord
    licence: Licence
    killed: tuple[str, ...]


def recover(store: GateStore, by: str, boot: str) -> list[Retired]:
    """Retire every unfinished attempt whose lease lapsed or whose owner is gone.

    A write that is refused or in doubt is left to the next run: whoever got there first has
    done it. Processes are killed only where the owner is gone, or keeps everybody out of the
    store; any other stalled owner will find the retirement by itself.
    """
    retired = []
    for seen in store.unfinished():
        licence = store.licence(seen)
        if licence is None or seen.run == by:
            continue
        point("recover.seen")
        try:
            end = _retire(store, seen, by, licence, boot)
        except (Doubt, Refused):
            continue
        point("recover.retired")
        run = store.run(seen.run)
        killed = bury(store, run, boot, end) if run is not None and end is not None else ()
        retired.append(Retired(attempt=seen, licence=licence, killed=killed))
    for run in stale(store, boot):
        if run.id != by and not _bound(store, run):
            bury(store, run, boot, died("its processes were gone"))
    return retired


def _retire(
    store: GateStore, seen: AttemptRecord, by: str, licence: Licence, boot: str
) -> Report | None:
    """Retire one attempt; the end of its run, where the run is dead or had to be killed."""
    try:
        store.retire(seen, by, licence)
    except StoreBusy as busy:
        if not _let_in(seen, busy, boot):
            raise
        store.retire(seen, by, licence)
        evidence = f"{licence.ground}: {licence.evidence}"
        why = "it was stopped inside a transaction, and killed for the store"
        return retirement(by, evidence, why)
    if licence.ground == "gone":
        return died(f"its runner was gone ({licence.evidence})")
    return None


def _let_in(seen: AttemptRecord, busy: StoreBusy, boot: str) -> bool:
    """Kill the owner of a lapsed attempt if it is stopped inside a transaction of the store.

    Its lease is up, and nobody could write that down. What it was writing is rolled back, as
    if it had been stopped a moment before.
    """
    owner = seen.evidence
    if busy.fields.get("writer") != owner.pid or not busy.fields.get("stopped"):
        return False
    known = ProcessMark(
        pid=owner.pid,
        start_ticks=owner.start_ticks,
        boot=owner.boot,
        pid_namespace=owner.pid_namespace,
    )
    return send(known, boot, signal.SIGKILL)


def stale(store: GateStore, boot: str) -> list[RunRecord]:
    """Runs without a recorded end whose processes are gone, as far as this machine can tell."""
    return [run for run in store.open_runs() if _dead(run, boot)]


def died(why: str) -> Report:
    """The end of a run that could not record its own."""
    return Report(outcome="unproven", exit_code=3, reason=f"the run died: {why}")


def bury(store: GateStore, run: RunRecord, boot: str, report: Report) -> tuple[str, ...]:
    """Kill what is left of a run on this machine and record its end; who was killed."""
    killed: tuple[str, ...] = ()
    for mark in (run.supervisor, run.runner):  # forked, so they carry no marker
        send(mark, boot, signal.SIGKILL)
    if reachable(run.runner, boot):
        killed = tuple(f"{left.pid} {left.command}" for left in kill_run(run.id, clean_looks=2))
    try:
        store.end_run(run.id, report)
    except Doubt:
        pass  # the next run finds it again
    return killed


def _dead(run: RunRecord, boot: str) -> bool:
    """Whether neither process of a run is there any more, as far as this machine can tell."""
    if run.runner.boot != boot:
        return True
    if not reachable(run.runner, boot):
        return False
    for known in (run.runner, run.supervisor):
        pidfd = open_marked(known, boot)
        if pidfd is not None:
            os.close(pidfd)
            return False
    return True


def _bound(store: GateStore, run: RunRecord) -> bool:
    """Whether the run's attempt still stands, so that only a retirement may end it."""
    attempt = store.attempt(run.attempt) if run.attempt else None
    return attempt is not None and attempt.bound
