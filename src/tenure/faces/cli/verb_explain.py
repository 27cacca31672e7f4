"""`tenure explain`: whether a job's result would be reused now, and what that depends on."""

import argparse
import os

import msgspec

from tenure.faces.cli import words
from tenure.faces.cli.cells import aligned
from tenure.faces.cli.session import Session
from tenure.faces.embed import open_gate_store
from tenure.gate.captured import Captured
from tenure.gate.explanation import Explanation, explain
from tenure.gate.kind import CHECK
from tenure.gate.place import Place
from tenure.gate.plan import make_plan
from tenure.gate.preparation import detail_of
from tenure.gate.reading import has_policy, read_now
from tenure.gate.situation import Question
from tenure.gate.store import GateStore

_DETAILS = 20


def carry_out(session: Session, chosen: argparse.Namespace) -> int:
    """Explain the jobs that were named, on the files as they are. Nothing is run or kept."""
    cwd = session.directory(chosen.cwd)
    place = session.place(cwd)
    if not os.path.exists(place.database):
        has_policy(cwd, CHECK)
    place.prepare()
    store = open_gate_store(place, session.clock)
    try:
        found = explanations(store, place, cwd, chosen.jobs)
    finally:
        store.close()
    session.result(explanations=[msgspec.to_builtins(each) for each in found])
    now = session.clock.now().wall_ns
    for each in found:
        for line in _lines(each, now):
            session.say(line)
    return 0


def explanations(store: GateStore, place: Place, cwd: str, names: list[str]) -> list[Explanation]:
    """Explain these jobs and their old definitions; without names all that a check would run."""
    question = Question(kind=CHECK, requested=frozenset(names))
    found = read_now(cwd, question, store, dict(os.environ))
    detail = detail_of(store)
    deciding = store.deciding(item.digest for item in found.identities.values())
    nearest = store.nearest(found.identities)
    plan = make_plan(
        found.required,
        found.identities,
        deciding,
        nearest,
        lambda receipt: Captured(place.outputs, found.top).intact(receipt.outputs),
        detail=detail,
    )
    asked = {*names, *(f"{name}@base" for name in names)}
    told = []
    for name, identity in found.identities.items():
        if names and name not in asked:
            continue
        receipt = deciding.get(identity.digest) or nearest.get(name)
        run = None if receipt is None else store.run(receipt.run)
        told.append(explain(found, name, plan, receipt, run, detail))
    return told


def _lines(each: Explanation, now_wall_ns: int) -> list[str]:
    lines = [f"{each.requirement}: {'would be reused' if each.reused else 'would run'}"]
    details = {one.says: one.details for one in each.differences}
    for reason in each.reasons:
        lines.append(f"  {reason}")
        told = details.get(reason, ())
        lines += [f"    {detail}" for detail in told[:_DETAILS]]
        if len(told) > _DETAILS:
            lines.append(f"    and {len(told) - _DETAILS} more")
    origin = each.origin
    if origin is not None:
        ago = words.seconds((now_wall_ns - origin.started_wall_ns) / 1e9)
        lines.append(
            f"  {'' if each.reused else 'nearest: '}receipt {origin.receipt[:12]}, "
            f"{origin.outcome.replace('_', ' ')} {ago} ago in {words.seconds(origin.seconds)}, "
            f"{origin.kind} {origin.run} in {origin.worktree}"
        )
    lines.append("  it depends on")
    lines += aligned([(f"    {one.name}", f"{one.says}{_value(one.value)}") for one in each.parts])
    return lines


def _value(value: str | None) -> str:
    if value is None:
        return ""
    digest = len(value) == 64 and value.isalnum()
    return f"  ({value[:12] if digest else value})"
