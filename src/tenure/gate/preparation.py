"""What a run prepares before its jobs, and looks at again after them: its plan and its files."""

from collections.abc import Sequence

from tenure.gate.baseline import take_baseline, take_working_baseline
from tenure.gate.bench import Bench
from tenure.gate.context import environment_change
from tenure.gate.errors import DirtyTree
from tenure.gate.fingerprint import Fingerprint
from tenure.gate.plan import make_plan
from tenure.gate.report import Failure
from tenure.gate.requirement import Detail
from tenure.gate.run_state import Over, Run
from tenure.gate.store import GateStore
from tenure.gate.worktree import Change, Snapshot
from tenure.kernel.points import point


def plan(run: Run) -> None:
    """Decide what is reused and what runs."""
    point("run.plan")
    found = run.situation
    run.plan = make_plan(
        found.required,
        found.identities,
        run.store.deciding(item.digest for item in found.identities.values()),
        run.store.nearest(found.identities),
        lambda receipt: run.captured.intact(receipt.outputs),
        rerun=run.order.question.rerun,
        detail=detail_of(run.store),
    )
    run.receipts = dict(run.plan.reused)


def detail_of(store: GateStore) -> Detail:
    """What the store remembers of a difference: which packages of an environment changed."""

    def detail(kind: str, then: str, now: str) -> tuple[str, ...]:
        return environment_change(store.contents(), then, now) if kind == "dists" else ()

    return detail


def unfixed(run: Run) -> list[str]:
    """The fix jobs that a check leaves out and that have not passed on exactly these files."""
    beside = run.situation.beside
    decided = run.store.deciding(item.digest for item in beside.values())
    return [
        name
        for name, item in beside.items()
        if item.digest not in decided or not decided[item.digest].passed
    ]


def draw_baseline(run: Run, bench: Bench) -> None:
    """Fingerprint the checkout, and prove that its content is the candidate's tree."""
    point("run.baseline")
    try:
        run.fingerprint = _fingerprint(run)
    except DirtyTree as error:
        detail = f"the checkout changed before its jobs could start: {error}"
        paths = tuple(error.fields.get("paths", ()))
        run.failures.append(
            Failure(requirement="", kind="inputs_moved", detail=detail, paths=paths)
        )
        raise Over(run.verdict()) from error
    bench.publish_late()
    run.raise_if_stopping()


def _fingerprint(run: Run) -> Fingerprint:
    snapshot, clock = run.situation.snapshot, run.order.clock
    if snapshot.working is not None:
        return take_working_baseline(snapshot, lambda: clock.now().wall_ns)
    return take_baseline(
        snapshot.repo,
        snapshot.tree,
        lambda: clock.now().wall_ns,
        entries=run.situation.entries,
        known=snapshot,
    )


def changes(known: Snapshot, now: Snapshot) -> Sequence[Change]:
    """What differs `now` from the candidate that is `known`: from the commit, or the files as they were."""
    if known.working is None:
        return now.changes
    from tenure.gate.working_tree import read_working_tree

    return known.working.changes_to(read_working_tree(now))
