"""The standing of a checkout: the Proof there is of its tree, and whether that is the answer.

That a Proof is of the same tree says little: the policy that judges, what was accepted, tools
and variables may be others by now. Only `tenure done` looks at all of it. What it would say
at once, by its shortcut, can be known without asking; everything else is left to it.
"""

import msgspec

from tenure.faces.cli import words
from tenure.gate.kind import DONE
from tenure.gate.proof import Proof
from tenure.gate.reading import is_gated
from tenure.gate.record import RunRecord
from tenure.gate.shortcut import known
from tenure.gate.store import GateStore
from tenure.gate.worktree import Snapshot
from tenure.kernel.errors import TenureError

#: How many of the newest runs are searched for one of this tree.
_LOOKED_AT = 200

#: How a run ended that yielded no Proof, in words; the others say nothing about the tree.
_ENDS = {
    "failed": "failed",
    "unproven": "could not tell",
    "cancelled": "was cancelled",
    "broken": "broke",
}


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one tree. `answers`: `tenure done` would answer with this Proof now."""

    proof: Proof | None = None
    stands: bool = False
    answers: bool = False
    last: RunRecord | None = None  #: where there is no Proof: the newest `done` of this tree
    gated: bool = True  #: where there is no Proof: whether a policy has a say here


def read_standing(store: GateStore | None, cwd: str, snapshot: Snapshot) -> Standing:
    """The Proof that answers, else the newest of this tree that stands, else the newest."""
    found = [] if store is None else store.proofs_of_tree(snapshot.tree)
    if not found:
        return Standing(last=_last(store, snapshot.tree), gated=_gated(cwd, store))
    answer = _answer(cwd, snapshot) if any(stands for _, stands in found) else None
    proof, stands = max(found, key=lambda one: (one[0].id == answer, one[1]))  # the first of them
    return Standing(proof=proof, stands=stands, answers=proof.id == answer)


def _answer(cwd: str, snapshot: Snapshot) -> str | None:
    """The id of the Proof with which `tenure done` would answer about this commit at once."""
    found = known(lambda: cwd)
    if isinstance(found, tuple):
        return str(found[3]) if found[0] == snapshot.head else None
    if found is not None:
        found.discard()
    return None


def _last(store: GateStore | None, tree: str) -> RunRecord | None:
    runs = [] if store is None else store.recent_runs(_LOOKED_AT)
    return next((run for run in runs if run.tree == tree and run.kind == DONE.name), None)


def _gated(cwd: str, store: GateStore | None) -> bool:
    try:
        return is_gated(cwd, store)
    except TenureError:  # a policy with a fault is one
        return True


def standing_line(found: Standing, snapshot: Snapshot) -> str:
    """What is known, in one line. It says *met* only where `tenure done` would."""
    proof = found.proof
    if proof is None:
        return _none(found, snapshot)
    if not found.stands:
        return words.void_line(proof, snapshot.head, snapshot.branch)
    if found.answers:
        return words.proof_line(proof, snapshot.head, snapshot.branch)
    what = "this tree" if snapshot.clean else "what is committed"
    told = f"there is a Proof {proof.id[:12]} of {what} ({words.proof_count(proof)})"
    if not snapshot.clean:
        return told
    return f"{told}; `tenure done` says whether it answers today's question"


def _none(found: Standing, snapshot: Snapshot) -> str:
    if not found.gated:
        return "no policy has a say here: `tenure init` proposes one"
    last = ""
    run = found.last
    if run is not None and run.report is not None and run.report.outcome in _ENDS:
        blamed = list(dict.fromkeys(words.blamed(failure) for failure in run.report.failures))
        names = f" ({', '.join(blamed)})" if blamed else ""
        last = f"; its last run {run.id} {_ENDS[run.report.outcome]}{names}"
    before = "" if snapshot.clean else "`tenure check`, commit, then "
    return f"no Proof of this tree yet{last}: {before}`tenure done`"
