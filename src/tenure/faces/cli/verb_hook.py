"""`tenure hook`: answer the hook of a tool in the form the tool expects."""

import argparse
import os

from tenure.faces.cli.application import PlainDone
from tenure.faces.cli.exits import Exit
from tenure.faces.cli.hook_session import AgentSession, PushSession
from tenure.faces.cli.session import Session
from tenure.faces.hooks.shortcut import listen
from tenure.faces.hooks.stop import (
    EVENTS,
    PLANNING,
    TURN_COMPLETE,
    Stop,
    misplaced,
    read_notice,
)
from tenure.gate.errors import UsageError
from tenure.gate.shortcut import known
from tenure.gate.worktree import Reading
from tenure.kernel.errors import TenureError

#: Agents' hooks are ended after ten minutes unless their settings say otherwise.
_WAIT = "5m"

#: Long enough to begin a run, which then goes on.
_AT_ONCE = "1ms"


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Ask whether the work is proven, and answer whoever called; a run goes on if it takes longer."""
    if chosen.json:
        raise UsageError(
            what="a hook is answered in the form its tool expects, which --json is not",
            next="take it away",
        )
    if chosen.blocks < 1:
        raise UsageError(what="--blocks has to be at least 1")
    if isinstance(session, AgentSession):
        return _notified(session, chosen) if chosen.given else _stop(session, chosen)
    assert isinstance(session, PushSession)
    from tenure.faces.cli.push import judge_push

    return judge_push(session, chosen)


def _notified(session: AgentSession, chosen: argparse.Namespace) -> int:
    """Codex says that a turn is complete, and takes no answer: begin what will be asked for."""
    session.notice = True
    notice = read_notice(os.fsencode(chosen.given[0]))
    if notice.type == TURN_COMPLETE and os.path.isdir(notice.cwd):
        _asked_in(session, notice.cwd, None, _AT_ONCE)
    return Exit.MET


def _stop(session: AgentSession, chosen: argparse.Namespace) -> int:
    """The verdict about the checkout an agent worked in."""
    session.blocks = chosen.blocks
    heard = session.heard or listen()
    if not isinstance(heard.stop, Stop):
        raise heard.stop
    stop = session.stop = heard.stop
    if stop.hook_event_name not in EVENTS:
        session.ending = misplaced(session.tool, stop.hook_event_name)
        return Exit.USAGE
    if stop.permission_mode == PLANNING:
        return Exit.MET
    for directory in _directories(stop, heard.here, chosen):
        code = _asked_in(session, directory, heard.take_begun(), chosen.wait or _WAIT)
        if code is not None:
            return code
    return Exit.MET  # there is no policy, so nothing has to be proven


def _directories(stop: Stop, here: str, chosen: argparse.Namespace) -> list[str]:
    """Where the work may be: an agent may have gone elsewhere in the end."""
    if chosen.cwd is not None:
        return [chosen.cwd]
    project = os.environ.get("CLAUDE_PROJECT_DIR", "") if chosen.tool == "claude-code" else ""
    there = [path for path in (stop.cwd, project, here) if os.path.isdir(path)]
    return list(dict.fromkeys(there))


def _asked_in(
    session: AgentSession, directory: str, begun: Reading | None, wait: str
) -> int | None:
    """Ask in a directory; None if no policy has a say there."""
    os.chdir(directory)
    session.anew()
    if begun is None:
        found = known(os.getcwd)
        if isinstance(found, tuple):
            return Exit.MET
        begun = found
    session.begun = begun
    from tenure.faces.cli import verb_done

    done = PlainDone(())
    done.wait = wait
    try:
        return verb_done.carry_out(session, done)
    except TenureError:
        if not _is_gated(session):
            return None
        raise


def _is_gated(session: Session) -> bool:
    """Whether a policy has a say here. Doubt is a yes."""
    from tenure.gate.reading import is_gated

    here = os.getcwd()
    try:
        store = session.existing_store(session.place(here))
    except TenureError:
        store = None
    try:
        return is_gated(here, store)
    except TenureError:
        return True
    finally:
        if store is not None:
            store.close()
