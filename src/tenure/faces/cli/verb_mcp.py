"""`tenure mcp`: serve the gate to an agent over standard input and output."""

import argparse

from tenure.faces.cli import words
from tenure.faces.cli.session import Session
from tenure.gate.errors import UsageError


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Serve until standard input ends. Tools are commands of their own, and end no run with it."""
    if session.json:
        raise UsageError(
            what="standard output carries the protocol, and --json has no room beside it",
            next="take it away",
        )
    try:
        from tenure.faces.mcp.server import serve
    except ModuleNotFoundError as error:
        raise UsageError(
            what=f"serving agents needs the official SDK, mcp, and there is no module {error.name}",
            next="pip install 'tenure[mcp]' (in a clone: pip install '.[mcp]')",
        ) from error
    if chosen.cwd is not None:
        import os

        os.chdir(session.directory(chosen.cwd))
    return serve(words.event_lines)
