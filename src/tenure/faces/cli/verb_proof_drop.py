"""`tenure proof drop`: take back what one execution of a job said."""

import argparse

import msgspec

from tenure.faces.cli.choosing import no_store
from tenure.faces.cli.session import Session
from tenure.gate.errors import UsageError
from tenure.gate.receipt import Receipt
from tenure.gate.store import GateStore


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Drop one receipt for good, and name the Proofs that are void because of it."""
    if not chosen.reason.strip():
        raise UsageError(what="--reason is empty", next="say why, or leave it out")
    place = session.place(session.directory(chosen.cwd))
    store = session.existing_store(place, writable=True)
    if store is None:
        raise no_store()
    try:
        receipt, void = store.drop(_chosen(store, chosen.receipt).id, chosen.reason)
    finally:
        store.close()
    session.result(receipt=msgspec.to_builtins(receipt), void=[proof.id for proof in void])
    session.say(
        f"receipt {receipt.id} of {receipt.requirement}, run {receipt.run}, is dropped: "
        f"{receipt.dropped}"
    )
    for proof in void:
        session.say(f"  Proof {proof.id[:12]} of {proof.commit[:12]} rests on it and is void")
    return 0


def _chosen(store: GateStore, typed: str) -> Receipt:
    """The receipt whose id begins with what was typed.

    Raises:
        UsageError: there is none, or more than one.
    """
    known = store.receipt_like(typed)
    if not known:
        raise UsageError(
            what=f"no receipt's id begins with {typed!r}",
            next="`tenure proof --json` names the receipts of a Proof",
        )
    if len(known) > 1:
        ids = " and ".join(receipt.id for receipt in known)
        raise UsageError(what=f"{typed!r} begins the ids of {ids}", next="type more of it")
    return known[0]
