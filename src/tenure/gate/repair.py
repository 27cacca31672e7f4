"""Repair: the fix jobs one after the other, again and again until none of them changes a file.

The round in which nothing changed is the one that counts: what passed in it, passed on the
files as they are now, and has its receipt. What went before is told and forgotten.
"""

import msgspec

from tenure.gate.bench import Bench
from tenure.gate.diagnosis import listed, shown
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import JobResult
from tenure.gate.narration import Noted, Planned
from tenure.gate.preparation import draw_baseline, plan
from tenure.gate.report import Failure, Report
from tenure.gate.requirement import Requirement
from tenure.gate.run_state import Over, Run
from tenure.gate.settlement import unproven
from tenure.gate.working_tree import read_working_tree
from tenure.gate.worktree import WorkingTree, read_again
from tenure.kernel.errors import TenureError
from tenure.kernel.points import point

#: Tools that agree need two; one more for each that undoes a little of the one before.
ROUNDS = 10

#: Failures that another round may well not have: a fixer says so by its exit code that it fixed.
_PASSING = frozenset({"failed", "unrun"})


class Round:
    """One round: what it began with, and which job changed which paths."""

    def __init__(self, before: WorkingTree) -> None:
        self.before = before
        self.now = before
        self.changed: dict[str, list[bytes]] = {}

    def take(self, job: str, now: WorkingTree) -> None:
        """Take note of what the files are after a job."""
        paths = [path for _, path in self.now.changes_to(now)]
        self.now = now
        if paths:
            self.changed[job] = paths


def repair(run: Run) -> Report:
    """Run rounds until one changes nothing; passed if every job of that one did."""
    rounds: list[Round] = []
    fixed: dict[str, None] = {}
    while True:
        bench = Bench(run)
        now = _round(run, bench)
        rounds.append(now)
        fixed.update(dict.fromkeys(shown(p) for paths in now.changed.values() for p in paths))
        if not now.changed:
            break
        told = "; ".join(f"{job} changed {listed(paths)}" for job, paths in now.changed.items())
        run.say(Noted(text=f"round {len(rounds)}: {told}"))
        if any(failure.kind not in _PASSING for failure in run.failures):
            raise Over(_with(run.verdict(), fixed))
        unsettled = _unsettled(rounds)
        if unsettled is not None:
            run.failures[:] = [unsettled]
            raise Over(_with(run.verdict(), fixed))
        _look_again(run)
    bench.judge_rewritten()
    draw_baseline(run, bench)
    return _with(run.verdict(), fixed)


def _round(run: Run, bench: Bench) -> Round:
    point("repair.round")
    workshop = run.workshop()
    workshop.count_as_passed(run.plan.reused)
    working = run.situation.snapshot.working
    assert working is not None, "fix jobs work on files as they are"
    now = Round(working)

    def finish(requirement: Requirement, result: JobResult) -> bool | RunningJob:
        passed = bench.finish(requirement, result)
        if not isinstance(passed, RunningJob):  # else it is not over yet
            now.take(requirement.name, _files(run))
        return passed

    wanted = [one for one in run.situation.required.requirements if one.name in run.plan.execute]
    workshop.perform(wanted, bench.begin, finish, bench.unrun, serial=True)
    run.raise_if_stopping()
    return now


def _files(run: Run) -> WorkingTree:
    return read_working_tree(read_again(run.situation.snapshot).finish())


def _look_again(run: Run) -> None:
    """Identify everything anew: the jobs changed what they are judged by."""
    run.failures.clear()
    try:
        run.situation = run.order.read_again(run.store)
    except TenureError as error:
        raise Over(unproven(f"after the fix jobs: {error}")) from error
    plan(run)
    reused = {name: receipt.run for name, receipt in run.plan.reused.items()}
    run.say(Planned(reused=reused, execute=run.plan.execute, estimate=run.plan.estimate))


def _unsettled(rounds: list[Round]) -> Failure | None:
    """Why another round would be no use: these files were here before, or it has been tried enough."""
    last = rounds[-1]
    since = next((i for i, one in enumerate(rounds) if one.before.tree == last.now.tree), None)
    turned: dict[str, set[bytes]] = {}
    for one in rounds[-1 if since is None else since :]:
        for job, paths in one.changed.items():
            turned.setdefault(job, set()).update(paths)
    jobs, paths = " and ".join(turned), sorted(set[bytes]().union(*turned.values()))
    if since is not None:
        what = f"{jobs} change{'s' if len(turned) == 1 else ''} {listed(paths)} back and forth"
    elif len(rounds) >= ROUNDS:
        what = f"after {len(rounds)} rounds {jobs} still change{'s' if len(turned) == 1 else ''} {listed(paths)}"
    else:
        return None
    return Failure(
        requirement="",
        kind="unsettled",
        detail=f"{what}; have them agree, or leave one of them out",
        paths=tuple(shown(path) for path in paths),
    )


def _with(report: Report, fixed: dict[str, None]) -> Report:
    return msgspec.structs.replace(report, fixed=tuple(fixed))
