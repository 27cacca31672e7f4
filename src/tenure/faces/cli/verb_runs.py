"""`tenure runs`: list runs, newest first."""

import argparse

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.session import Session
from tenure.gate.errors import UsageError
from tenure.gate.recovery import stale


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """List the runs of the repository, all its worktrees together."""
    if chosen.limit < 1:
        raise UsageError(what="--limit has to be at least 1")
    store = session.existing_store(session.place(session.directory(chosen.cwd)))
    runs, dead = [], set[str]()
    if store is not None:
        runs = store.recent_runs(chosen.limit)
        dead = {run.id for run in stale(store, session.clock.now().boot)}
        store.close()
    session.result(runs=[msgspec.to_builtins(run) for run in runs])
    now = session.clock.now().wall_ns
    for line in words.run_lines(runs, now, dead=dead):
        session.say(line)
    if not runs:
        session.say("no runs yet")
    return 0
