"""`tenure status`: what is known about this checkout, and which runs are under way."""

import argparse

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.session import Session
from tenure.gate.candidate import checkout_id
from tenure.gate.diagnosis import listed, shown
from tenure.gate.recovery import stale
from tenure.gate.worktree import Snapshot, start_read


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Say whether there is a Proof for the tree of this commit, and what is running.

    The Proof shown is one of the same tree; whether it answers today's policy, environment
    and toolchain is for `tenure done` to say.
    """
    cwd = session.directory(chosen.cwd)
    snapshot = start_read(cwd).finish()
    place = session.place(cwd)
    store = session.existing_store(place)
    proofs, runs, dead = [], [], set()
    if store is not None:
        with_standing = store.proofs_of_tree(snapshot.tree)
        proofs = [proof for proof, stands in with_standing if stands]
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
        proof=msgspec.to_builtins(proofs[0]) if proofs else None,
        runs=[msgspec.to_builtins(run) for run in runs],
    )
    where = f" on {words.branch_name(snapshot.branch)}" if snapshot.branch else " (detached)"
    session.say(f"{snapshot.head[:12]}{where}: {_tidiness(snapshot)}")
    session.say(
        words.proof_line(proofs[0], snapshot.head, snapshot.branch)
        if proofs
        else f"no Proof of this tree yet: {'' if snapshot.clean else '`tenure check`, commit, then '}`tenure done`"
    )
    now = session.clock.now().wall_ns
    for run in runs:
        mark = "  (here)" if run.checkout == here else ""
        line = words.run_line(run, now, dead=run.id in dead)
        after = "; the next run or `tenure recover` buries it" if run.id in dead else ""
        session.say(f"run {line}{mark}{after}")
    return 0


def _tidiness(snapshot: Snapshot) -> str:
    """Whether a checkout is its commit, and what differs."""
    if snapshot.clean:
        return "clean"
    count = len(snapshot.changes)
    names = listed([path for _, path in snapshot.changes])
    return f"{count} uncommitted change{'' if count == 1 else 's'}: {names}"
