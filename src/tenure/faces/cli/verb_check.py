"""`tenure check`: run jobs on the files as they are, committed or not."""

import argparse

from tenure.faces.cli import words
from tenure.faces.cli.asking import ready, say_left, tell
from tenure.faces.cli.session import Session
from tenure.gate.inquiry import Answer
from tenure.gate.kind import CHECK, Kind
from tenure.gate.situation import Question


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Ask, show what happens, and say what became of it. Nothing is proven."""
    return ask_as(session, chosen, CHECK)


def ask_as(session: Session, chosen: argparse.Namespace, kind: Kind) -> int:
    """The same for another kind of run on files as they are."""
    question = Question(
        kind=kind,
        accepted=frozenset(chosen.accept_policy_change),
        requested=frozenset(chosen.jobs),
        rerun=bool(chosen.rerun),
    )
    answer = ready(session, chosen, question).ask()
    tell(session, answer)
    if not say_left(session, answer, kind.name):
        _say(session, answer, kind)
    return answer.exit_code


def _say(session: Session, answer: Answer, kind: Kind) -> None:
    report, asked = answer.report, answer.situation.candidate
    assert report is not None, "a check is always a run of one's own"
    for line in words.report_lines(report, None):
        session.say(line)
    if report.fixed:
        session.say(f"changed: {', '.join(report.fixed)}; look at it before you commit")
    objections = answer.situation.required.objections
    if report.outcome == "passed":
        session.verdict(words.passed_line(report, objected=bool(objections)), good=True)
        return
    because = [words.blamed(failure) for failure in report.failures]
    line = words.end_line(answer.outcome, asked.commit, asked.branch, because, verb=kind.name)
    session.verdict(line, good=False)
