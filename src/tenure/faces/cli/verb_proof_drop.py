"""`tenure proof drop`: take back what one execution of a job said."""

import argparse

import msgspec

from tenure.faces.cli.choosing import choose_receipt, no_store
from tenure.faces.cli.session import Session
from tenure.gate.errors import UsageError


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Drop one receipt for good, and name the Proofs that are void because of it."""
    if not chosen.reason.strip():
        raise UsageError(what="--reason is empty", next="say why, or leave it out")
    place = session.place(session.directory(chosen.cwd))
    store = session.existing_store(place, writable=True)
    if store is None:
        raise no_store()
    try:
        receipt, void = store.drop(choose_receipt(store, chosen.receipt).id, chosen.reason)
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
