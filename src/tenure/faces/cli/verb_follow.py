"""`tenure follow`: follow a run until it ends."""

import argparse

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.asking import wait_seconds
from tenure.faces.cli.choosing import choose_run, no_store
from tenure.faces.cli.exits import Exit
from tenure.faces.cli.session import Session
from tenure.gate.follower import Follower, LogWaker
from tenure.gate.inquiry import HEARD, SILENT, recorded_end
from tenure.gate.place import Place
from tenure.gate.record import RunRecord
from tenure.gate.report import Report
from tenure.gate.signals import Signals

_GONE = Report(outcome="unproven", exit_code=3, reason="the run's processes are gone")


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Show the run's log from its start; exit as the run ends. A signal only stops following."""
    wait = wait_seconds(chosen.wait)
    until = None if wait is None else session.clock.monotonic() + wait
    session.events = chosen.events
    cwd = session.directory(chosen.cwd)
    place = session.place(cwd)
    store = session.existing_store(place)
    if store is None:
        raise no_store()
    run = choose_run(store, chosen.run, session.repository(cwd), open_only=False)
    store.close()
    if run.report is not None:
        session.say(f"run {run.id} is over; this is what it said")
    session.watch(place)
    signals = session.signals = Signals.heard_by(HEARD)
    report, left = _followed(session, place, run, signals, until)
    while report.outcome == "joined" and report.other is not None and left is None:
        store = session.existing_store(place)
        other = store.run(report.other) if store is not None else None
        if store is not None:
            store.close()
        if other is None:
            break
        session.say(f"run {run.id} followed run {other.id}, and so do we")
        run = other
        report, left = _followed(session, place, run, signals, until)
    if left is not None:
        session.result(run=run.id, outcome="running" if left == Exit.NOT_YET else "left")
        session.say(f"not yet: run {run.id} goes on")
        return left
    session.result(run=run.id, outcome=report.outcome, report=msgspec.to_builtins(report))
    for line in words.report_lines(report, None):
        session.say(line)
    session.verdict(f"{report.outcome}: run {run.id}", good=report.exit_code == 0)
    return report.exit_code


def _followed(
    session: Session, place: Place, run: RunRecord, signals: Signals, until: float | None
) -> tuple[Report, int | None]:
    """Follow one run to its end; or to a signal of our own or a time, and the exit code for that."""
    store = session.existing_store(place)
    attempt = store.attempt(run.attempt) if store is not None and run.attempt else None
    if store is not None:
        store.close()
    interval = 20.0 if attempt is None else attempt.lease.timings.renew_interval
    directory = place.run(run.id)
    waker = LogWaker(directory, run, session.clock.now().boot)
    follower = Follower(directory, waker, signals.descriptor, session.output)
    try:
        while True:
            look = session.clock.monotonic() + interval
            next_look = look if until is None else min(look, until)
            ended = follower.follow(session.show, next_look, session.clock.monotonic)
            if isinstance(ended, Report) or ended == "vanished":
                told = ended if isinstance(ended, Report) else _GONE
                return _recorded(session, place, run.id, told), None
            if ended == "timeout":
                # A run that is stopped does not say that it was retired; the record does.
                told = _recorded(session, place, run.id, SILENT)
                if told is not SILENT:
                    return told, None
                if until is not None and session.clock.monotonic() >= until:
                    return SILENT, Exit.NOT_YET
                continue
            heard = signals.drain()
            if heard:
                return SILENT, 128 + heard[0]
    finally:
        follower.close()


def _recorded(session: Session, place: Place, run: str, told: Report) -> Report:
    """The end of a run as it is recorded, in place of the one that was told."""
    store = session.existing_store(place)
    if store is None:
        return told
    try:
        return recorded_end(store, run, told)
    finally:
        store.close()
