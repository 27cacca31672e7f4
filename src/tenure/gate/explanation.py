"""Explaining one requirement: whether its result would be reused now, and if not, why not.

Values of environment variables are never in it; what is kept of them is a keyed digest.
"""

import msgspec

from tenure.gate.courts import POLICY_FILES
from tenure.gate.diagnosis import shown
from tenure.gate.errors import GateError
from tenure.gate.kind import RunKind
from tenure.gate.objects import GITLINK, entries_at, read_blobs
from tenure.gate.plan import Plan
from tenure.gate.policy import Job
from tenure.gate.policy_text import choose, parse
from tenure.gate.receipt import Receipt, ReceiptOutcome
from tenure.gate.record import RunRecord
from tenure.gate.requirement import Detail, Requirement, miss_reason
from tenure.gate.situation import Situation

#: What each kind of part is.
PARTS = {
    "definition": "the job as its policy defines it",
    "inputs": "the files that the job reads",
    "env": "the value of {}, or that it is not set; kept as a keyed digest",
    "platform": "operating system, architecture and C library",
    "exec": "the program {}, by content",
    "interpreter": "{}, which runs it, by content",
    "library": "the library {}, by content",
    "dists": "the packages installed in {}, by name and version",
    "lock": "{}, by content",
    "context": "what `{}` prints",
    "need": "the identity of {}, which it needs",
}


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a result depends on."""

    name: str
    says: str
    value: str | None  #: in clear text or as a digest; None where not even that is shown


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A part in which the nearest receipt differs. `then` and `now` are None where it is no part,
    and where they are not shown."""

    name: str
    says: str
    then: str | None
    now: str | None
    details: tuple[str, ...] = ()


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The receipt that answers, or the nearest one, and where it comes from."""

    receipt: str
    outcome: ReceiptOutcome
    run: str
    kind: RunKind
    commit: str | None  #: what was checked out; None if the run is forgotten
    worktree: str
    started_wall_ns: int
    seconds: float


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """What would become of one requirement if it were asked for now."""

    requirement: str
    identity: str
    reused: bool
    reasons: tuple[str, ...]  #: why it would run
    origin: Origin | None  #: of the receipt that is reused, else of the newest one there is
    differences: tuple[Difference, ...]
    parts: tuple[Part, ...]


def explain(
    found: Situation,
    name: str,
    plan: Plan,
    nearest: Receipt | None,
    run: RunRecord | None,
    detail: Detail,
) -> Explanation:
    """Explain the requirement `name` of a situation, given what a run of it would do.

    `nearest` is the receipt that the plan reuses, else the newest of this requirement, and
    `run` the one that published it.
    """
    identity = found.identities[name]
    then = {} if nearest is None else nearest.parts
    differing = sorted(
        part
        for part in {**identity.parts, **then}
        if nearest is not None and identity.parts.get(part) != then.get(part)
    )
    return Explanation(
        requirement=name,
        identity=identity.digest,
        reused=name in plan.reused,
        reasons=plan.execute.get(name, ()),
        origin=None if nearest is None else _origin(nearest, run),
        differences=tuple(
            Difference(
                name=part,
                says=miss_reason(part, identity.parts.get(part), then.get(part), detail),
                then=_told(part, then.get(part)),
                now=_told(part, identity.parts.get(part)),
                details=_details(found, name, part, then, run, detail),
            )
            for part in differing
        ),
        parts=tuple(
            Part(name=part, says=_described(part), value=_told(part, value))
            for part, value in identity.parts.items()
        ),
    )


def _origin(receipt: Receipt, run: RunRecord | None) -> Origin:
    return Origin(
        receipt=receipt.id,
        outcome=receipt.outcome,
        run=receipt.run,
        kind="done" if run is None else run.kind,
        commit=None if run is None else run.commit,
        worktree=receipt.worktree,
        started_wall_ns=receipt.started_wall_ns,
        seconds=receipt.seconds,
    )


def _described(part: str) -> str:
    kind, _, about = part.partition(":")
    return PARTS.get(kind, kind).replace("{}", about)


def _told(part: str, value: str | None) -> str | None:
    return None if part.startswith("env:") else value


def _details(
    found: Situation,
    name: str,
    part: str,
    then: dict[str, str],
    run: RunRecord | None,
    detail: Detail,
) -> tuple[str, ...]:
    """What can be told of a difference besides that there is one."""
    kind, now = part.partition(":")[0], found.identities[name].parts.get(part)
    if part not in then or now is None:
        return ()
    if run is not None and kind in ("inputs", "definition"):
        try:
            if kind == "inputs":
                return _changed_paths(found, name, run.tree)
            return _changed_fields(found, found.required[name], run.tree)
        except GateError:
            return ()  # its files were never committed, or are gone
    return detail(kind, then[part], now)


def _changed_paths(found: Situation, name: str, tree: str) -> tuple[str, ...]:
    """The inputs that differ from those of an earlier tree, if git still has it."""
    matches = found.inputs[name]
    before, now = (
        {
            path: (mode, oid)
            for mode, oid, path in entries
            if matches is None or mode == GITLINK or matches(path)
        }
        for entries in (entries_at(found.top, tree), found.entries)
    )
    return tuple(
        f"{shown(path)} ({'new' if path not in before else 'edited' if path in now else 'gone'})"
        for path in sorted({*before, *now})
        if before.get(path) != now.get(path)
    )


def _changed_fields(found: Situation, requirement: Requirement, tree: str) -> tuple[str, ...]:
    """The keys of a job that differ from its definition in an earlier tree, with both values."""
    if requirement.origin != "candidate":
        return ()  # an earlier tree says nothing about who judged it
    repo = found.snapshot.repo
    blobs = read_blobs(repo, [(tree, file) for file in POLICY_FILES])
    before = parse(*choose(dict(zip(POLICY_FILES, blobs, strict=True)))).jobs.get(requirement.name)
    if before is None:
        return ()
    fields = [
        (field, getattr(before, field), getattr(requirement.job, field))
        for field in Job.__struct_fields__
    ]
    return tuple(
        f"{field.replace('_', '-')}: {_written(then)} → {_written(now)}"
        for field, then, now in fields
        if then != now
    )


def _written(value: object) -> str:
    return msgspec.json.encode(value).decode()
