"""`tenure done`: prove that this commit meets the policy."""

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


def carry_out(session: Session, chosen: Any) -> int:
    """Ask, show what happens, and say what became of it."""
    wait = _wait(chosen.wait)
    if wait is not None and chosen.foreground:
        raise UsageError(
            what="--wait leaves the run to go on, and --foreground ends it with this command",
            next="choose one of them",
        )
    question = Question(accepted=frozenset(chosen.accept_policy_change), rerun=bool(chosen.rerun))
    cwd = session.directory(chosen.cwd)
    place = session.place(cwd)
    if not chosen.ci:
        session.watch(place)
    signals = session.signals = Signals.heard_by(HEARD)
    desk = Desk(
        cwd=cwd,
        place=place,
        open_store=lambda: open_gate_store(place, session.clock),
        clock=session.clock,
        environ=dict(os.environ),
        signals=signals,
        output=session.output,
        show=session.show,
        begun=session.begun,
    )
    inquiry = Inquiry(desk, question, tied=chosen.foreground, wait_seconds=wait)
    if chosen.ci or chosen.summary:
        from tenure.faces.cli.ci import summed_up

        answer = summed_up(session, chosen, inquiry.ask)
    else:
        answer = inquiry.ask()
    say(session, answer)
    return answer.exit_code


def _wait(text: str | None) -> float | None:
    if text is None:
        return None
    from tenure.gate.duration import parse_duration

    try:
        return parse_duration(text)
    except UsageError as error:
        raise UsageError(what=f"--wait: {error}") from error


def say(session: Session, answer: Answer) -> None:
    """Tell people, or the machine, what the answer is."""
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
    if answer.proof is not None:
        asked = found.candidate
        session.verdict(words.proof_line(answer.proof, asked.commit, asked.branch), good=True)
        return
    if answer.outcome in ("running", "left"):
        if answer.run is None:
            session.say("not yet: no run was started")
            return
        session.say(f"not yet: run {answer.run} goes on; {words.left_line(answer.left)}")
        session.say(f"  `tenure follow {answer.run}` follows it, `tenure done` asks again")
        return
    for item in found.required.objections:
        session.say(f"{item.name}: {item.detail}")
    if found.required.objections:
        names = " ".join(f"--accept-policy-change {o.name}" for o in found.required.objections)
        session.say(f"  if that is meant, and whoever reviews it agrees: tenure done {names}")
    if answer.report is not None:
        elsewhere = answer.worktree if answer.worktree != found.top else None
        for line in words.report_lines(answer.report, elsewhere):
            session.say(line)
    failures = () if answer.report is None else answer.report.failures
    because = [o.name for o in found.required.objections] + [words.blamed(f) for f in failures]
    asked = found.candidate
    session.verdict(words.end_line(answer.outcome, asked.commit, asked.branch, because), good=False)
