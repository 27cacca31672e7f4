"""A neighbour: a run under way elsewhere that judges the same tree, and yet is asked otherwise.

Nobody follows it, since its answer would be about something else. Whoever starts a run beside
it is told so, and what the difference is, as far as that shows from outside.
"""

import os

from tenure.gate.record import RunRecord
from tenure.gate.recovery import stale
from tenure.gate.situation import Situation
from tenure.gate.store import GateStore

_VENV = "dists:.venv"  #: the part of an identity that is a checkout's own environment


def told_of_neighbour(store: GateStore, found: Situation, boot: str) -> str | None:
    """What to say of the newest neighbour of a question that proves; None if there is none."""
    runs = [
        run
        for run in store.open_runs()
        if (run.kind, run.tree) == ("done", found.candidate.tree)
        and run.subject != found.subject
        and run.checkout != found.checkout
        and run.cancel is None
    ]
    if not runs:
        return None
    dead = {run.id for run in stale(store, boot)}
    run = next((run for run in runs if run.id not in dead), None)
    if run is None:
        return None
    what = "commit" if run.commit == found.candidate.commit else "tree"
    return (
        f"run {run.id} in {run.worktree} judges the same {what}, but not the same question: "
        f"{_difference(run, found)}"
    )


def _difference(run: RunRecord, found: Situation) -> str:
    if run.candidate == found.candidate_id:
        return "it was asked to run again, or with other policy changes accepted"
    there = os.path.exists(os.path.join(run.worktree, ".venv", "pyvenv.cfg"))
    here = any(_VENV in identity.parts for identity in found.identities.values())
    if there and not here:
        return ".venv is there and not here"
    if here and not there:
        return ".venv is here and not there"
    return "its tools, packages, variables or judging policy are others"
