"""`tenure recover`: retire what lapsed or died, and kill what the dead left behind."""

import argparse

from tenure.faces.cli.session import Session
from tenure.gate.recovery import recover
from tenure.kernel.identity import new_id


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Do now what the next run would do first. Live runs are not touched."""
    place = session.place(session.directory(chosen.cwd))
    store = session.existing_store(place, writable=True)
    retired = []
    if store is not None:
        by = f"recover-{new_id()[:8]}"
        try:
            retired = recover(store, by, session.clock.now().boot)
        finally:
            store.close()
    for done in retired:
        place.remove_lock(done.attempt.id)
        killed = f"; killed {', '.join(done.killed)}" if done.killed else ""
        session.say(f"retired run {done.attempt.run} ({done.licence.evidence}){killed}")
    if not retired:
        session.say("nothing to recover")
    session.result(
        retired=[
            {
                "run": d.attempt.run,
                "attempt": d.attempt.id,
                "evidence": d.licence.evidence,
                "killed": list(d.killed),
            }
            for d in retired
        ]
    )
    return 0
