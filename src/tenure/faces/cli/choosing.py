"""Choosing one run, Proof or receipt by what was typed."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from tenure.gate.candidate import checkout_id
from tenure.gate.errors import UsageError
from tenure.gate.proof import Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import RunRecord
from tenure.gate.store import GateStore
from tenure.gate.worktree import Repository

_LOOKED_AT = 10_000

Chosen = TypeVar("Chosen")


def choose_run(
    store: GateStore, typed: str | None, repo: Repository, *, open_only: bool
) -> RunRecord:
    """The run whose id begins with `typed`; without it the open one of this checkout.

    Raises:
        UsageError: there is none, or more than one.
    """
    if typed is None:
        here = checkout_id(repo.git_dir)
        runs = [run for run in store.open_runs() if run.checkout == here]
        if not runs and not open_only:
            runs = [run for run in store.recent_runs(_LOOKED_AT) if run.checkout == here]
        if not runs:
            raise UsageError(
                what="no run is under way in this checkout", next="`tenure runs` lists all"
            )
        return runs[0]
    known = store.run(typed)
    if known is not None:
        return known
    matching = [run for run in store.recent_runs(_LOOKED_AT) if run.id.startswith(typed)]
    if len(matching) == 1:
        return matching[0]
    what = (
        f"no run's id begins with {typed!r}"
        if not matching
        else (f"{typed!r} begins the ids of {', '.join(run.id for run in matching[:5])}")
    )
    raise UsageError(what=what, next="`tenure runs` lists all")


def choose_proof(store: GateStore, typed: str) -> tuple[Proof, bool]:
    """The Proof whose id begins with what was typed, and whether it stands.

    Raises:
        UsageError: there is none, or more than one.
    """
    return _only(
        store.proof_like(typed),
        lambda found: found[0].id,
        what=f"no Proof's id begins with {typed!r}",
        where="`tenure proof` shows the one of this tree",
        typed=typed,
    )


def choose_receipt(store: GateStore, typed: str) -> Receipt:
    """The receipt whose id begins with what was typed.

    Raises:
        UsageError: there is none, or more than one.
    """
    return _only(
        store.receipt_like(typed),
        lambda found: found.id,
        what=f"no receipt's id begins with {typed!r}",
        where="`tenure proof --json` names the receipts of a Proof",
        typed=typed,
    )


def _only(
    known: Sequence[Chosen], name: Callable[[Chosen], str], *, what: str, where: str, typed: str
) -> Chosen:
    """The one that is known, where `what` is said if there is none, and `where` to look."""
    if not known:
        raise UsageError(what=what, next=where)
    if len(known) > 1:
        ids = " and ".join(map(name, known))
        raise UsageError(what=f"{typed!r} begins the ids of {ids}", next="type more of it")
    return known[0]


def no_store() -> UsageError:
    """What is said where nothing was ever recorded."""
    return UsageError(
        what="nothing has been recorded for this repository", next="run `tenure done`"
    )
