"""`tenure proof`: show the Proof of this commit."""

import argparse

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.choosing import choose_proof, no_store
from tenure.faces.cli.session import Session
from tenure.gate.proof import Proof
from tenure.gate.worktree import start_read


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Show the newest Proof of this tree, or the one asked for; exit 1 if there is none that stands."""
    cwd = session.directory(chosen.cwd)
    snapshot = start_read(cwd).finish()
    store = session.existing_store(session.place(cwd))
    if store is None and chosen.proof is not None:
        raise no_store()
    found: list[tuple[Proof, bool]] = []
    if store is not None:
        try:
            found = (
                store.proofs_of_tree(snapshot.tree)
                if chosen.proof is None
                else [choose_proof(store, chosen.proof)]
            )
        finally:
            store.close()
    standing = [proof for proof, stands in found if stands]
    shown = standing[0] if standing else (found[0][0] if found else None)
    session.result(
        proof=None if shown is None else msgspec.to_builtins(shown), stands=bool(standing)
    )
    if shown is None:
        session.say(f"no Proof of tree {snapshot.tree[:12]} yet: `tenure done`")
        return 1
    asked = (snapshot.head, snapshot.branch) if chosen.proof is None else ("", None)
    for line in words.proof_lines(shown, *asked, stands=bool(standing)):
        session.say(line)
    return 0 if standing else 1
