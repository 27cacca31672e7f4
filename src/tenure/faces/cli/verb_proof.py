"""`tenure proof`: show the Proof of this commit."""

import argparse

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.choosing import choose_proof, no_store
from tenure.faces.cli.session import Session
from tenure.faces.cli.standing import read_standing, standing_line
from tenure.gate.proof import Proof
from tenure.gate.worktree import start_read


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Show the Proof there is of this tree, or the one asked for; exit 1 if there is none that stands."""
    return _of_this_tree(session, chosen) if chosen.proof is None else _by_id(session, chosen)


def _of_this_tree(session: Session, chosen: argparse.Namespace) -> int:
    cwd = session.directory(chosen.cwd)
    snapshot = start_read(cwd).finish()
    store = session.existing_store(session.place(cwd))
    try:
        found = read_standing(store, cwd, snapshot)
    finally:
        if store is not None:
            store.close()
    first = standing_line(found, snapshot)
    if found.proof is None:
        session.result(proof=None, stands=False, answers=False)
        session.say(first)
        return 1
    return _shown(session, found.proof, first, snapshot.head, found.stands, found.answers)


def _by_id(session: Session, chosen: argparse.Namespace) -> int:
    store = session.existing_store(session.place(session.directory(chosen.cwd)))
    if store is None:
        raise no_store()
    try:
        proof, stands = choose_proof(store, chosen.proof)
    finally:
        store.close()
    first = words.proof_line(proof) if stands else words.void_line(proof)
    return _shown(session, proof, first, "", stands, False)


def _shown(
    session: Session, proof: Proof, first: str, commit: str, stands: bool, answers: bool
) -> int:
    session.result(proof=msgspec.to_builtins(proof), stands=stands, answers=answers)
    for line in words.proof_lines(proof, first, commit):
        session.say(line)
    return 0 if stands else 1
