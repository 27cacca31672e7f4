"""`tenure done`: prove that this commit meets the policy."""

from typing import Any

from tenure.faces.cli import words
from tenure.faces.cli.asking import ready, say_left, say_why, tell
from tenure.faces.cli.session import Session
from tenure.gate.inquiry import Answer
from tenure.gate.situation import Question


def carry_out(session: Session, chosen: Any) -> int:
    """Ask, show what happens, and say what became of it."""
    question = Question(accepted=frozenset(chosen.accept_policy_change), rerun=bool(chosen.rerun))
    inquiry = ready(session, chosen, question, watch=not chosen.ci)
    if chosen.ci or chosen.summary:
        from tenure.faces.cli.ci import summed_up

        answer = summed_up(session, chosen, inquiry.ask)
    else:
        answer = inquiry.ask()
    say(session, answer)
    return answer.exit_code


def say(session: Session, answer: Answer) -> None:
    """Tell people, or the machine, what the answer is."""
    found = answer.situation
    tell(session, answer)
    if answer.proof is not None:
        asked = found.candidate
        session.verdict(words.proof_line(answer.proof, asked.commit, asked.branch), good=True)
        return
    if say_left(session, answer, "done"):
        return
    for item in found.required.objections:
        session.say(f"{item.name}: {item.detail}")
    if answer.accepting is not None:
        session.say(f"  (Proof {answer.accepting.id[:12]} exists with that accepted)")
    if found.required.objections:
        names = " ".join(f"--accept-policy-change {o.name}" for o in found.required.objections)
        session.advise(f"if that is meant, and whoever reviews it agrees: tenure done {names}")
    because = say_why(session, answer)
    asked = found.candidate
    session.verdict(words.end_line(answer.outcome, asked.commit, asked.branch, because), good=False)
