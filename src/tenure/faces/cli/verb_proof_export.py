"""`tenure proof export`: write a Proof as a bundle that can be carried anywhere."""

import argparse

from tenure.faces.cli.choosing import choose_proof, no_store
from tenure.faces.cli.files import write_whole
from tenure.faces.cli.session import Session
from tenure.gate.attestation import attested
from tenure.gate.bundle import sha256
from tenure.gate.proof import Proof
from tenure.gate.store import GateStore
from tenure.gate.worktree import start_read


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Export the Proof of this tree, or the one asked for; exit 1 if there is none that stands."""
    cwd = session.directory(chosen.cwd)
    snapshot = start_read(cwd).finish()
    store = session.existing_store(session.place(cwd))
    if store is None:
        raise no_store()
    try:
        proof = _proof(store, snapshot.tree, chosen.proof)
        receipts = None if proof is None else store.evidence(proof)
    finally:
        store.close()
    if proof is None or receipts is None:
        session.result(proof=None, sha256=None, output=None, bundle=None)
        what = f"no Proof of tree {snapshot.tree[:12]} that stands"
        if proof is not None:
            what = f"Proof {proof.id[:12]} is void: it proves nothing any more"
        session.complain(f"{what}: `tenure done`")
        return 1
    data = attested(proof, receipts)
    digest = sha256(data)
    text = None
    if chosen.output == "-":
        text = data.decode()
        session.write(text)
    else:
        write_whole(chosen.output, data)
        session.say(f"{chosen.output}: Proof {proof.id[:12]} of tree {proof.tree}")
        session.say(f"  sha256 {digest}")
    session.result(proof=proof.id, sha256=digest, output=chosen.output, bundle=text)
    return 0


def _proof(store: GateStore, tree: str, typed: str | None) -> Proof | None:
    if typed is not None:
        return choose_proof(store, typed)[0]
    return next((proof for proof, stands in store.proofs_of_tree(tree) if stands), None)
