"""`tenure status`: what is known about this checkout, and which runs are under way."""

import argparse

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.session import Session
from tenure.faces.cli.standing import read_standing, standing_line
from tenure.gate.candidate import checkout_id
from tenure.gate.diagnosis import listed, shown
from tenure.gate.record import RunRecord
from tenure.gate.recovery import stale
from tenure.gate.worktree import Snapshot, start_read


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Say whether there is a Proof for the tree of this commit, and what is running.

    A Proof of the same tree is called met only if it is known to answer today's question, with
    today's policy, environment and toolchain; else that is for `tenure done` to say.
    """
    cwd = session.directory(chosen.cwd)
    snapshot = start_read(cwd).finish()
    place = session.place(cwd)
    store = session.existing_store(place)
    runs, dead = [], set[str]()
    found = read_standing(store, cwd, snapshot)
    if store is not None:
        runs = store.open_runs()
        dead = {run.id for run in stale(store, session.clock.now().boot)}
        store.close()
    changes = [f"{kind} {shown(path)}" for kind, path in snapshot.changes]
    here = checkout_id(snapshot.repo.git_dir)
    session.result(
        commit=snapshot.head,
        tree=snapshot.tree,
        branch=snapshot.branch,
        clean=snapshot.clean,
        changes=changes,
        proof=msgspec.to_builtins(found.proof) if found.stands else None,
        answers=found.answers,
        runs=[msgspec.to_builtins(run) for run in runs],
    )
    where = f" on {words.branch_name(snapshot.branch)}" if snapshot.branch else " (detached)"
    session.say(f"{snapshot.head[:12]}{where}: {_tidiness(snapshot)}")
    session.say(standing_line(found, snapshot))
    now = session.clock.now().wall_ns

    def after(run: RunRecord) -> str:
        mark = "  (here)" if run.checkout == here else ""
        return mark + ("; the next run or `tenure recover` buries it" if run.id in dead else "")

    for line in words.run_lines(runs, now, dead=dead, before="run ", after=after):
        session.say(line)
    return 0


def _tidiness(snapshot: Snapshot) -> str:
    """Whether a checkout is its commit, and what differs."""
    if snapshot.clean:
        return "clean"
    count = len(snapshot.changes)
    names = listed([path for _, path in snapshot.changes])
    return f"{count} uncommitted change{'' if count == 1 else 's'}: {names}"
