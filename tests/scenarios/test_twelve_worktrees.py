"""Twelve worktrees of a real package, twelve commits, all asked at once; two runs are killed."""

import os
from collections import Counter
from pathlib import Path

from tenure.gate.narration import JobWaiting, LogReader
from tenure.gate.permits import in_use
from tests.scenarios.caller import Caller
from tests.scenarios.packages import SHARING, sortedcontainers
from tests.scenarios.stage import HOUR, Stage
from tests.waiting import until

LIMITS = {"heavy": 2, "db": 1}
TREES = [f"tree-{number}" for number in range(1, 13)]


def test_twelve_at_once_share_what_there_is_and_all_are_proven(tmp_path: Path) -> None:
    stage = Stage(tmp_path, lease=HOUR, jobs={}, extra=SHARING, files=sortedcontainers())
    sides = {name: stage.side(name, change=True) for name in TREES}
    stage.hold("tree-3-sortedlist", "tree-7-sorteddict")
    callers = {name: stage.done(cwd=side) for name, side in sides.items()}
    until(lambda: began(stage, "heavy", "tree-3"), "tree 3 has its heavy place")
    until(lambda: began(stage, "db", "tree-7"), "tree 7 has the database")
    kill_everybody(stage, callers["tree-3"])
    kill_the_runner(stage, callers["tree-7"])
    stage.let_go("tree-3-sortedlist", "tree-7-sorteddict")
    for name, caller in callers.items():
        caller.expect(3 if name in ("tree-3", "tree-7") else 0)
    for name in ("tree-3", "tree-7"):
        stage.done(cwd=sides[name]).expect(0)

    most = replayed(log_of(stage))
    assert most == LIMITS, "as many as there are places, and never one more"
    commits = {row["body"]["commit"] for row in stage.check().proofs}
    assert len(commits) == len(TREES), "twelve commits, each with its own Proof"
    waited = [event for run in stage.run_ids() for event in waits(stage, run)]
    assert {event.wanted for event in waited} == {"slot heavy", "hold db"}
    assert set().union(*(event.runs for event in waited)) <= set(stage.run_ids())
    assert in_use(stage.place, os.environ) == {}
    stage.everybody_is_gone()


def kill_everybody(stage: Stage, caller: Caller) -> None:
    """Supervisor, runner and jobs. Whatever the jobs had is free as soon as they are gone."""
    run = run_of(stage, caller)
    supervisor, runner = caller.supervisor(), caller.runner()
    jobs = stage.jobs_of(run)
    assert jobs
    assert run in holding(stage)
    supervisor.kill()
    runner.kill()
    for job in jobs:
        job.kill()
    until(lambda: not stage.jobs_of(run), "the jobs are gone")
    assert run not in holding(stage)


def kill_the_runner(stage: Stage, caller: Caller) -> None:
    """The runner alone: its supervisor ends the jobs."""
    run = run_of(stage, caller)
    assert run in holding(stage)
    caller.runner().kill()
    until(lambda: not stage.jobs_of(run), "the jobs are ended")
    assert run not in holding(stage)


def run_of(stage: Stage, caller: Caller) -> str:
    """The run whose runner a caller started."""
    runner = caller.runner()
    (run,) = [one.id for one in stage.recorded() if one.runner.pid == runner.pid]
    return run


def holding(stage: Stage) -> set[str]:
    return {one.run for having in in_use(stage.place, os.environ).values() for one in having}


def waits(stage: Stage, run: str) -> list[JobWaiting]:
    events = LogReader(stage.place.run(run)).events()
    return [event for event in events if isinstance(event, JobWaiting)]


def log_of(stage: Stage) -> list[tuple[str, str, str, str]]:
    path = stage.story / "log"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [(said, kind, pid, tree) for said, kind, pid, tree in map(str.split, lines)]


def began(stage: Stage, kind: str, tree: str) -> bool:
    return any(line[:2] == ("start", kind) and line[3] == tree for line in log_of(stage))


def replayed(lines: list[tuple[str, str, str, str]]) -> dict[str, int]:
    """The most that had each thing at a time, by what the jobs themselves said."""
    there: set[tuple[str, str]] = set()
    most: Counter[str] = Counter()
    for said, kind, pid, _ in lines:
        if said == "start":
            there.add((kind, pid))
        else:
            there.remove((kind, pid))
        most[kind] = max(most[kind], sum(1 for one, _ in there if one == kind))
    return dict(most)
