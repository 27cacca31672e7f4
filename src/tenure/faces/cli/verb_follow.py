"""`tenure follow`: follow a run until it ends."""

import argparse

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.choosing import choose_run, no_store
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
    report, heard = _followed(session, place, run, signals)
    while report.outcome == "joined" and report.other is not None and heard is None:
        store = session.existing_store(place)
        other = store.run(report.other) if store is not None else None
        if store is not None:
            store.close()
        if other is None:
            break
        session.say(f"run {run.id} followed run {other.id}, and so do we")
        run = other
        report, heard = _followed(session, place, run, signals)
    if heard is not None:
        session.result(run=run.id, outcome="left")
        session.say(f"not yet: run {run.id} goes on")
        return 128 + heard
    session.result(run=run.id, outcome=report.outcome, report=msgspec.to_builtins(report))
    for line in words.report_lines(report, None):
        session.say(line)
    session.verdict(f"{report.outcome}: run {run.id}", good=report.exit_code == 0)
    return report.exit_code


def _followed(
    session: Session, place: Place, run: RunRecord, signals: Signals
) -> tuple[Report, int | None]:
    """Follow one run to its end, or to a signal of our own."""
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
            until = session.clock.monotonic() + interval
            ended = follower.follow(session.show, until, session.clock.monotonic)
            if isinstance(ended, Report) or ended == "vanished":
                told = ended if isinstance(ended, Report) else _GONE
                return _recorded(session, place, run.id, told), None
            if ended == "timeout":
                # A run that is stopped does not say that it was retired; the record does.
                told = _recorded(session, place, run.id, SILENT)
                if told is not SILENT:
                    return told, None
                continue
            heard = signals.drain()
            if heard:
                return SILENT, heard[0]
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
