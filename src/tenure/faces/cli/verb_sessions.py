"""`tenure sessions`: look into a runtime's session store."""

import argparse
import os

import msgspec

from tenure.faces.cli.cells import fit, harmless
from tenure.faces.cli.session import Session
from tenure.faces.host import SQLITE, open_access
from tenure.gate.errors import UsageError
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.wait import OpenWait
from tenure.runtime.sessions import SessionStore

#: How much of a question is shown.
_MOST_ASKED = 200


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """List sessions, show one with what is not at rest in it, or ask for a turn's end."""
    if chosen.limit < 1:
        raise UsageError(what="--limit has to be at least 1")
    path = chosen.store.removeprefix(SQLITE)
    if path == chosen.store or not os.path.exists(path):
        raise UsageError(
            what=f"there is no session store at {chosen.store!r}",
            next=f"give the address the runtime has, as {SQLITE}agents.db",
        )
    access = open_access(chosen.store, session.clock)
    try:
        with access.here() as store:
            return _ACTIONS[chosen.action](session, store, chosen)
    finally:
        access.close()


def _list(session: Session, store: SessionStore, chosen: argparse.Namespace) -> int:
    found = store.sessions(chosen.after, chosen.limit)
    session.result(sessions=[msgspec.to_builtins(each) for each in found])
    for each in found:
        session.say(_line(each))
    if not found:
        session.say("no sessions")
    return 0


def _show(session: Session, store: SessionStore, chosen: argparse.Namespace) -> int:
    found = store.session(_named(chosen, "a session"))
    lane = store.lane(found.id)
    turn, journal = store.turn(found.open_turn) if found.open_turn else (None, [])
    waiting = store.waiting(found.id)
    waits = store.open_waits(found.id, "", chosen.limit)
    session.result(
        session=msgspec.to_builtins(found),
        lane=None if lane is None else msgspec.to_builtins(lane),
        open_turn=None if turn is None else msgspec.to_builtins(turn),
        effects=[msgspec.to_builtins(entry) for entry in journal],
        waiting=[msgspec.to_builtins(row) for row in waiting],
        waits=[_without_key(wait) for wait in waits],
    )
    session.say(_line(found))
    if lane is not None and lane.held:
        session.say(f"  its lane is held by {lane.executor}, generation {lane.generation}")
    if turn is not None:
        moved = sum(entry.counts for entry in journal) > turn.recorded
        times = 0 if moved else turn.drives
        session.say(f"  open turn {turn.id}, picked up {times} times since it last moved")
    for entry in journal:
        if entry.key.startswith("waiting:"):
            continue  # a note that it waited; for what, is said below
        state = "started, outcome unknown" if entry.outcome is None else entry.outcome.status
        session.say(f"    {entry.key}: {state}")
    for wait in waits:
        session.say(
            f"  unanswered: {_asked(wait)}  (wait {wait.name}; `Runtime.waits` has its key, "
            "`Runtime.resolve` answers)"
        )
    for row in waiting:
        session.say(f"  waiting: {row.kind} {row.id}")
    return 0


def _asked(wait: OpenWait) -> str:
    """The question in one line."""
    asked = wait.asked if isinstance(wait.asked, str) else msgspec.json.encode(wait.asked).decode()
    return fit(harmless(asked), _MOST_ASKED)


def _without_key(wait: OpenWait) -> dict[str, object]:
    """A wait for a machine. Its key is a password, and whoever looks is not who answers."""
    return {
        "id": wait.id,
        "turn": wait.turn,
        "name": wait.name,
        "asked": wait.asked,
        "due_at": wait.due_at,
    }


def _cancel(session: Session, store: SessionStore, chosen: argparse.Namespace) -> int:
    turn = _named(chosen, "a turn")
    counts = store.cancel_turn(turn, chosen.reason)
    session.result(turn=turn, requested=counts is not None)
    unknown = "" if store.turn(turn)[0] is not None else " (no such turn is recorded yet)"
    session.say(f"{turn} was asked to end{unknown}" if counts else f"{turn} is over")
    return 0


def _named(chosen: argparse.Namespace, what: str) -> str:
    if not chosen.id:
        raise UsageError(what=f"`sessions {chosen.action}` needs the id of {what}")
    return str(chosen.id)


def _line(found: SessionRecord) -> str:
    state = "deleted" if found.deleted else f"{found.head} messages"
    turn = f"  open turn {found.open_turn}" if found.open_turn else ""
    return f"{found.id}  {found.agent}  {state}{turn}"


_ACTIONS = {"ls": _list, "show": _show, "cancel": _cancel}
