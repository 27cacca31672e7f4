"""`tenure doctor --inputs JOB`: whether what a job declares is all that it reads."""

import argparse
import os
import tempfile

import msgspec

from tenure.faces.cli.session import Session
from tenure.faces.embed import open_gate_store
from tenure.gate.inquiry import HEARD
from tenure.gate.kind import CHECK
from tenure.gate.reading import has_policy, read_now
from tenure.gate.signals import Signals
from tenure.gate.situation import Question
from tenure.gate.trial import Trial, conduct_trial


def try_inputs(session: Session, chosen: argparse.Namespace) -> int:
    """Run the job on a copy of its declared inputs; exit 1 if it does not pass there."""
    name: str = chosen.inputs
    cwd = session.directory(chosen.cwd)
    place = session.place(cwd)
    if not os.path.exists(place.database):
        has_policy(cwd, CHECK)
    place.prepare()
    signals = session.signals = Signals.heard_by(HEARD)
    environ = dict(os.environ)
    store = open_gate_store(place, session.clock)
    try:
        question = Question(kind=CHECK, requested=frozenset({name}))
        found = read_now(cwd, question, store, environ)
        deciding = store.deciding(item.digest for item in found.identities.values())
    finally:
        store.close()
    with tempfile.TemporaryDirectory(prefix="tenure-") as directory:
        trial = conduct_trial(
            found,
            name,
            directory,
            kept=place.outputs,
            deciding=deciding,
            environ=environ,
            clock=session.clock,
            signals=signals,
        )
    _say(session, trial, declared=found.required[name].job.inputs is not None)
    heard = signals.drain()
    if heard:
        return 128 + heard[0]
    return 0 if trial.passed else 1


def _say(session: Session, trial: Trial, *, declared: bool) -> None:
    session.result(trial={**msgspec.to_builtins(trial), "passed": trial.passed})
    where = (
        f"on a copy of its {trial.files} declared inputs" if declared else "on a copy of all files"
    )
    if trial.passed:
        session.say(f"ok   {trial.requirement} passes {where}")
        return
    session.say(f"BAD  {trial.requirement} {_SAID.get(trial.outcome, trial.outcome)} {where}")
    for line in trial.tail.splitlines():
        session.say(f"    | {line}")
    if trial.named:
        session.say(f"  not declared, and named in its output: {', '.join(trial.named)}")
    if trial.passed_here:
        session.say("  it passed in the checkout, so something it reads is not among its inputs")
    else:
        session.say(
            f"  whether it passes in the checkout is not known: `tenure check {trial.requirement}`"
        )


_SAID = {
    "failed": "fails",
    "killed": "is killed",
    "timed_out": "takes too long",
    "not_found": "cannot be found",
    "cancelled": "was interrupted",
    "no_output": "does not write its outputs",
}
