"""`tenure standards`: measure the standards of this commit."""

import argparse
import os

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.asking import ready, say_left, say_why, tell
from tenure.faces.cli.session import Session
from tenure.gate.candidate import checkout_id
from tenure.gate.errors import UsageError
from tenure.gate.inquiry import Answer
from tenure.gate.kind import STANDARDS, UNCOMMITTED, Kind
from tenure.gate.measurement import Measurement
from tenure.gate.pin import Pin, pins, write_pins
from tenure.gate.situation import Question
from tenure.gate.worktree import Snapshot, require_clean, start_read


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Ask, show what happens, say what became of it, and pin if that was asked for.

    A clean checkout is measured as its commit; one with changes as it is, which records no
    measurement of any commit.
    """
    snapshot = start_read(session.directory(chosen.cwd)).finish()
    question = Question(
        kind=STANDARDS if snapshot.clean or chosen.onto is not None else UNCOMMITTED,
        accepted=frozenset(chosen.accept_policy_change),
        requested=frozenset(chosen.names),
        rerun=bool(chosen.rerun),
    )
    if chosen.onto is None:
        answer = ready(session, chosen, question).ask()
        tell(session, answer)
        session.result(onto=None)
    else:
        answer = _ask_onto(session, chosen, question, snapshot)
    measured = () if answer.report is None else answer.report.standards
    session.result(
        committed=question.kind.committed,
        standards=[msgspec.to_builtins(each) for each in measured],
        pinned=[],
    )
    if say_left(session, answer, "standards"):
        return answer.exit_code
    _say(session, answer, question.kind, measured, chosen.onto)
    if chosen.pin:
        _pin(session, answer, measured)
    return answer.exit_code


def _ask_onto(
    session: Session, chosen: argparse.Namespace, question: Question, snapshot: Snapshot
) -> Answer:
    """Ask about this commit merged onto another, in a checkout that is gone with the answer."""
    if chosen.pin or chosen.wait is not None:
        option = "--pin" if chosen.pin else "--wait"
        raise UsageError(
            what=f"{option} is about this checkout, and --onto measures a merged tree",
            next="merge or rebase first, or leave one of them out",
        )
    import tempfile

    from tenure.gate.merge_checkout import ONTO, check_out_merged
    from tenure.gate.revision import find_commit

    require_clean(snapshot)
    onto = find_commit(snapshot.repo, chosen.onto)
    chosen.foreground = True  # what it works on is ours, and goes with us
    question = msgspec.structs.replace(question, against=ONTO)
    with tempfile.TemporaryDirectory(prefix="tenure-", ignore_cleanup_errors=True) as place:
        top = os.path.realpath(place)
        tree = check_out_merged(snapshot.repo, onto, snapshot.head, top)
        session.say(f"{snapshot.head[:12]} merged onto {chosen.onto}: tree {tree[:12]}")
        try:
            answer = ready(session, chosen, question, elsewhere=top).ask()
        finally:
            session.place(snapshot.repo.top).forget(checkout_id(os.path.join(top, ".git")))
    tell(session, answer)
    session.result(commit=snapshot.head, branch=snapshot.branch)  # the merge itself is nowhere
    session.result(onto={"ref": chosen.onto, "commit": onto})
    return answer


def _say(
    session: Session,
    answer: Answer,
    kind: Kind,
    measured: tuple[Measurement, ...],
    onto: str | None,
) -> None:
    found = answer.situation
    for item in found.required.objections:
        session.say(f"{item.name}: {item.detail}")
    if found.required.objections:
        session.advise("--accept-policy-change NAME measures it all the same")
    because = say_why(session, answer)
    if answer.outcome == "met":
        because = [f"{len(measured)} standard{'' if len(measured) == 1 else 's'}"]
    remark = "" if kind.committed else "with what is not committed"
    if onto is not None:
        remark = f"merged onto {onto}"
    commit = found.candidate.commit if onto is None else found.snapshot.parents[-1]
    branch = found.candidate.branch if onto is None else None
    line = words.end_line(answer.outcome, commit, branch, because, verb="standards", remark=remark)
    session.verdict(line, good=answer.outcome == "met")


def _pin(session: Session, answer: Answer, measured: tuple[Measurement, ...]) -> None:
    """Tighten what was measured and met; nothing is pinned unless everything asked about was."""
    if answer.outcome != "met":
        session.say("nothing is pinned: not everything was measured and met")
        return
    policy = answer.situation.policy
    wanted = pins(policy, {each.standard: each for each in measured})
    if not wanted:
        session.say("nothing is pinned: no limit can be tighter")
        return
    path = write_pins(answer.situation.top, policy, wanted)
    session.result(pinned=[msgspec.to_builtins(each) for each in wanted])
    for each in wanted:
        session.say(_pinned_line(each))
    session.say(f"written to {path}; commit it")


def _pinned_line(pin: Pin) -> str:
    return f"pinned: {pin.standard}  {pin.before} → {pin.after}"
