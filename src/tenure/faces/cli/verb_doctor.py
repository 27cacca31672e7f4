"""`tenure doctor`: check whether this place is fit for a gate, and say what is not."""

import argparse
import os
from collections.abc import Callable

from tenure.faces.cli.session import Session
from tenure.faces.cli.sizes import told_usage
from tenure.faces.embed import open_gate_store
from tenure.gate.disk import usage
from tenure.gate.filesystem import require_local, require_writable
from tenure.gate.kind import DONE
from tenure.gate.machine import slots_directory
from tenure.gate.permits import in_use
from tenure.gate.place import Place
from tenure.gate.reading import has_policy, read_now
from tenure.gate.recovery import stale
from tenure.gate.situation import Question
from tenure.gate.worktree import Snapshot, start_read
from tenure.kernel.errors import TenureError
from tenure.kernel.mounts import mount_of


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Check everything that `done` relies on, one line each; exit 3 if something is wrong."""
    if chosen.inputs is not None:
        from tenure.faces.cli.trying import try_inputs

        return try_inputs(session, chosen)
    cwd = session.directory(chosen.cwd)
    snapshot = start_read(cwd).finish()
    place = session.place(cwd)
    findings: list[dict[str, object]] = []

    def check(name: str, look: Callable[[], str]) -> None:
        try:
            ok, said = True, look()
        except TenureError as error:
            ok, said = False, str(error)
        before = next((each for each in findings if not ok and each["says"] == said), None)
        if before is not None:
            said = f"not looked at, because of the {before['check']}"
        findings.append({"check": name, "ok": ok, "says": said})
        mark = "ok " if ok else "BAD" if before is None else "-- "
        session.say(f"{mark}  {name}: {said}")

    check("repository", lambda: _repository(snapshot))
    check("store", lambda: _store(place))
    check("policy", lambda: _policy(session, cwd))
    check("runs", lambda: _runs(session, cwd))
    check("slots", lambda: _slots(place))
    session.result(findings=findings)
    return 0 if all(finding["ok"] for finding in findings) else 3


def _repository(snapshot: Snapshot) -> str:
    shallow = ", shallow" if snapshot.repo.shallow else ""
    where = snapshot.branch or "detached"
    return f"{snapshot.repo.top} at {snapshot.head[:12]} ({where}{shallow})"


def _store(place: Place) -> str:
    root = place.root
    require_local(root)
    require_writable(root)
    mount = mount_of(root)
    kind = f" on {mount[0]}" if mount else ""
    return f"{root}{kind}, writable, takes {told_usage(usage(place))}"


def _policy(session: Session, cwd: str) -> str:
    has_policy(cwd, DONE)  # which tells one that is not committed from one that is not there
    place = session.place(cwd)
    place.prepare()
    store = open_gate_store(place, session.clock)
    try:
        found = read_now(cwd, Question(), store, dict(os.environ))
    finally:
        store.close()
    missing = [
        f"{name} ({part.partition(':')[2]})"
        for name, identity in found.identities.items()
        for part, value in identity.parts.items()
        if value == "absent"
    ]
    judged = f"{len(found.identities)} requirements, judged by {found.candidate.judging.value}"
    trunk = f", trunk {found.candidate.trunk or 'none'}"
    absent = f"; NOT FOUND: {', '.join(missing)}" if missing else ""
    objections = "".join(f"; {o.name}: {o.detail}" for o in found.required.objections)
    return judged + trunk + absent + objections


def _runs(session: Session, cwd: str) -> str:
    store = session.existing_store(session.place(cwd))
    if store is None:
        return "none yet"
    try:
        open_runs = store.open_runs()
        left = stale(store, session.clock.now().boot)
    finally:
        store.close()
    dead = (
        f", {len(left)} of them dead: the next run or `tenure recover` buries them" if left else ""
    )
    return f"{len(open_runs)} under way{dead}"


def _slots(place: Place) -> str:
    environ = dict(os.environ)
    had = in_use(place, environ)
    told = [f"{name} by {', '.join(map(str, holders))}" for name, holders in had.items()]
    return f"in {slots_directory(environ)}; in use: {'; '.join(told) or 'none'}"
