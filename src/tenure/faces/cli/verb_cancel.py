"""`tenure cancel`: ask a run to end."""

import argparse
import getpass
import os

from tenure.faces.cli.choosing import choose_run, no_store
from tenure.faces.cli.session import Session
from tenure.gate.inquiry import cancel_run


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Record the request and tell the runner. Its jobs are ended, its end is recorded by itself."""
    cwd = session.directory(chosen.cwd)
    store = session.existing_store(session.place(cwd), writable=True)
    if store is None:
        raise no_store()
    try:
        run = choose_run(store, chosen.run, session.repository(cwd), open_only=True)
        boot = session.clock.now().boot
        asked = cancel_run(store, run, f"{_who()} (tenure cancel)", chosen.reason, boot)
    finally:
        store.close()
    session.result(run=run.id, requested=asked)
    session.say(f"run {run.id} was asked to end" if asked else f"run {run.id} has already ended")
    return 0


def _who() -> str:
    """The name of whoever asks; a container may have none for them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"user {os.getuid()}"
