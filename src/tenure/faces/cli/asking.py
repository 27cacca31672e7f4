"""Asking a question from a terminal: what the verbs that start runs have in common."""

import os
from typing import Any

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.session import Session
from tenure.faces.embed import open_gate_store
from tenure.gate.errors import UsageError
from tenure.gate.inquiry import HEARD, Answer, Desk, Inquiry
from tenure.gate.signals import Signals
from tenure.gate.situation import Question


def ready(
    session: Session,
    chosen: Any,
    question: Question,
    *,
    watch: bool = True,
    elsewhere: str | None = None,
) -> Inquiry:
    """An inquiry that shows what happens while it is asked; with `watch` as it goes, on a terminal.

    `elsewhere` is a checkout to ask about in place of the one where the command acts, whose
    records it uses.
    """
    wait = wait_seconds(chosen.wait)
    if wait is not None and chosen.foreground:
        raise UsageError(
            what="--wait leaves the run to go on, and --foreground ends it with this command",
            next="choose one of them",
        )
    cwd = session.directory(chosen.cwd)
    place = session.place(cwd)
    if watch:
        session.watch(place)
    session.events = chosen.events
    signals = session.signals = Signals.heard_by(HEARD)
    desk = Desk(
        cwd=elsewhere or cwd,
        place=place,
        open_store=lambda: open_gate_store(place, session.clock),
        clock=session.clock,
        environ=dict(os.environ),
        signals=signals,
        output=session.output,
        show=session.show,
        begun=session.begun,
    )
    return Inquiry(desk, question, tied=chosen.foreground, wait_seconds=wait)


def wait_seconds(text: str | None) -> float | None:
    """How long `--wait` says to wait; None: to the end.

    Raises:
        UsageError: it is no length of time.
    """
    if text is None:
        return None
    from tenure.gate.duration import parse_duration

    try:
        return parse_duration(text)
    except UsageError as error:
        raise UsageError(what=f"--wait: {error}") from error


def tell(session: Session, answer: Answer) -> None:
    """What a machine gets of any answer."""
    found = answer.situation
    session.result(
        outcome=answer.outcome,
        commit=found.candidate.commit,
        tree=found.candidate.tree,
        branch=found.candidate.branch,
        candidate=found.candidate_id,
        run=answer.run,
        worktree=answer.worktree,
        proof=None if answer.proof is None else msgspec.to_builtins(answer.proof),
        report=None if answer.report is None else msgspec.to_builtins(answer.report),
        objections=[msgspec.to_builtins(item) for item in found.required.objections],
        left=answer.left,
    )


def say_left(session: Session, answer: Answer, verb: str) -> bool:
    """Say that there is no answer yet, if there is none; whether that was so."""
    if answer.outcome not in ("running", "left"):
        return False
    if answer.run is None:
        session.say("not yet: no run was started")
        return True
    session.say(f"not yet: run {answer.run} goes on; {words.left_line(answer.left)}")
    session.say(f"  `tenure follow {answer.run}` follows it, `tenure {verb}` asks again")
    return True


def say_why(session: Session, answer: Answer) -> list[str]:
    """Say what a run found to be wrong; what is to blame for the answer, by name."""
    found, report = answer.situation, answer.report
    objections = [objection.name for objection in found.required.objections]
    if report is None:
        return objections
    for line in words.report_lines(
        report, answer.worktree if answer.worktree != found.top else None
    ):
        session.say(line)
    return objections + [words.blamed(failure) for failure in report.failures]
