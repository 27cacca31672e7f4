"""`tenure fix`: run the fix jobs again and again, until they change nothing any more."""

import argparse

from tenure.faces.cli.session import Session
from tenure.faces.cli.verb_check import ask_as
from tenure.gate.kind import FIX


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Ask, show what happens, and say what was changed."""
    return ask_as(session, chosen, FIX)
