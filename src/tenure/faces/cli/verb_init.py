"""`tenure init`: propose a policy for this repository."""

import argparse
import os

from tenure.faces.cli.session import Session
from tenure.gate.courts import POLICY_FILES
from tenure.gate.errors import UsageError
from tenure.gate.objects import check_ignored
from tenure.gate.proposal import READ, propose
from tenure.gate.worktree import start_read

#: What tools leave in a checkout, by the file that tells of the tool.
_LITTER = {b"__pycache__/": "pyproject.toml", b"node_modules/": "package.json"}


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Write a proposed `tenure.toml` for its reader to change and commit. Never over a file."""
    snapshot = start_read(session.directory(chosen.cwd)).finish()
    top = snapshot.repo.top
    path = os.path.join(top, POLICY_FILES[0])
    files = {name: text for name in READ if (text := _read(os.path.join(top, name))) is not None}
    branch = (snapshot.branch or "refs/heads/main").removeprefix("refs/heads/")
    text = propose(files, branch)
    session.result(path=path, policy=text, written=not chosen.print)
    if chosen.print:
        session.say(text.rstrip())
        return 0
    if os.path.lexists(path) or "[tool.tenure" in files.get("pyproject.toml", ""):
        raise UsageError(
            what=f"{top} has a policy already", next="`tenure init --print` shows a proposal"
        )
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)
    session.say(text.rstrip())
    session.say()
    litter = [folder for folder, because in _LITTER.items() if because in files]
    for left in sorted(set(litter) - check_ignored(snapshot.repo, litter)):
        told = left.decode()
        session.say(f"git does not ignore {told}, which jobs will leave: add it to .gitignore")
    session.say(f"written to {path}; read it, change it, commit it, then: tenure done")
    return 0


def _read(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return None
