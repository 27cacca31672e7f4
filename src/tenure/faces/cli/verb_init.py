"""`tenure init`: propose a policy for this repository."""

import argparse
import os
import stat

from tenure.faces.cli.session import Session
from tenure.faces.cli.snippets import SNIPPETS
from tenure.gate.courts import POLICY_FILES
from tenure.gate.errors import UsageError
from tenure.gate.objects import check_ignored
from tenure.gate.proposal import READ, WORKFLOWS, propose
from tenure.gate.trunk import proposed_trunk
from tenure.gate.worktree import start_read

#: What tools leave in a checkout, by the file that tells of the tool.
_LITTER = {b"__pycache__/": "pyproject.toml", b"node_modules/": "package.json"}

_MOST_BYTES = 256 * 1024
_MOST_WORKFLOWS = 30


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Write a proposed `tenure.toml` for its reader to change and commit. Never over a file."""
    snapshot = start_read(session.directory(chosen.cwd)).finish()
    top = snapshot.repo.top
    path = os.path.join(top, POLICY_FILES[0])
    files = _files(top)
    text = propose(files, *proposed_trunk(snapshot.repo, snapshot.branch))
    snippets = {one.name: {"where": one.where, "text": one.text} for one in SNIPPETS}
    session.result(path=path, policy=text, written=not chosen.print, snippets=snippets)
    if chosen.print:
        session.write(text.rstrip() + "\n")
        return 0
    if os.path.lexists(path) or "[tool.tenure" in files.get("pyproject.toml", ""):
        raise UsageError(
            what=f"{top} has a policy already", next="`tenure init --print` shows a proposal"
        )
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)
    session.write(text.rstrip() + "\n\n")
    for one in SNIPPETS:
        session.say(f"{one.where}:")
        for line in one.text.splitlines():
            session.write(f"    {line}\n")
    session.say()
    litter = [folder for folder, because in _LITTER.items() if because in files]
    for left in sorted(set(litter) - check_ignored(snapshot.repo, litter)):
        told = left.decode()
        session.say(f"git does not ignore {told}, which jobs will leave: add it to .gitignore")
    fixing = "tenure fix, commit what it changed, then: " if 'stage = "fix"' in text else ""
    session.say(f"written to {path}; read it, change it, commit it, then: {fixing}tenure done")
    session.say("nothing else was changed: what is shown above is yours to install")
    return 0


def _files(top: str) -> dict[str, str]:
    """What is there to judge by, by its path from the root."""
    names = list(READ)
    try:
        workflows = sorted(os.listdir(os.path.join(top, WORKFLOWS)))
    except OSError:
        workflows = []
    workflows = [name for name in workflows if name.endswith((".yml", ".yaml"))]
    names += [WORKFLOWS + name for name in workflows[:_MOST_WORKFLOWS]]
    found = {name: _content(os.path.join(top, name)) for name in names}
    return {name: content for name, content in found.items() if content is not None}


def _content(path: str) -> str | None:
    """A file's text, the beginning of one that is too long; None if there is no such file."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
