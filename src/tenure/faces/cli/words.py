"""How events, runs and Proofs read in a terminal. Plain lines; nothing here decides anything."""

from collections.abc import Callable, Collection, Iterable, Sequence

from tenure.faces.cli.cells import aligned
from tenure.faces.cli.lines import Whole
from tenure.gate.measurement import shortly
from tenure.gate.measurement import told as measurement_told
from tenure.gate.narration import (
    AnyEvent,
    Began,
    Bound,
    Ended,
    JobBegan,
    JobEnded,
    JobRetried,
    JobWaiting,
    Measured,
    Noted,
    Planned,
    Recovered,
    Waiting,
)
from tenure.gate.proof import Proof
from tenure.gate.record import RunRecord
from tenure.gate.report import Failure, Report

#: How many reasons for a miss are told; `--json` and the run's log have all of them.
_REASONS = 3

_MARKS = {"passed": "ok", "unrun": "--", "cancelled": "--", "inputs_moved": "??"}


def event_lines(event: AnyEvent) -> list[str]:
    """The lines of one event of a run's log."""
    match event:
        case Began():
            where = f" on {branch_name(event.branch)}" if event.branch else ""
            what = "run" if event.kind == "done" else event.kind
            return [f"{what} {event.run}: {event.commit[:12]}{where} in {event.worktree}"]
        case Waiting():
            return [f"  waiting: {event.reason}"]
        case Recovered():
            killed = f"; killed {', '.join(event.killed)}" if event.killed else ""
            return [f"  retired run {event.run} ({event.evidence}){killed}"]
        case Planned():
            return _plan_lines(event)
        case JobWaiting():
            having = "; ".join(event.holders)
            return [f"  wait    {event.requirement}  {event.wanted} is in use: {having}"]
        case JobBegan():
            return [f"  start   {event.requirement}"]
        case JobRetried():
            how = f"{event.outcome.replace('_', ' ')} in {seconds(event.seconds)}  {event.detail}"
            again = f"; try {event.number} of {event.of}"
            return [f"  again   {event.requirement}  {how}{again}"]
        case JobEnded():
            mark = _MARKS.get(event.outcome, "XX")
            detail = f"  {event.detail}" if event.detail else ""
            told = event.outcome.replace("_", " ")
            if event.outcome != "unrun":
                told += f" in {seconds(event.seconds)}"
            return [f"  {mark:<7} {event.requirement}  {told}{detail}"]
        case Measured(measurement=found):
            mark = {"met": "ok", "unrun": "--"}.get(found.verdict, "XX")
            judged = measurement_told(found) if found.verdict == "met" else shortly(found)
            return [f"  {mark:<7} {found.standard}  {judged}"]
        case Noted():
            return [f"  note: {event.text}"]
        case Bound() | Ended():
            return []


def _plan_lines(event: Planned) -> list[str]:
    lines = [f"  reuse   {name}  (run {run})" for name, run in event.reused.items()]
    for name, reasons in event.execute.items():
        about = (
            f", took {seconds(event.estimate[name])} last time" if name in event.estimate else ""
        )
        more = [f"{len(reasons) - _REASONS} more"] if len(reasons) > _REASONS + 1 else []
        told = "; ".join([*(reasons[:_REASONS] if more else reasons), *more])
        lines.append(f"  run     {name}  ({told}{about})")
    return lines


def report_lines(report: Report, worktree: str | None) -> list[str]:
    """Why a run did not pass."""
    lines: list[str] = []
    for failure in report.failures:
        lines += failure_lines(failure)
    if report.reason:
        lines.append(report.reason)
    if worktree:
        lines.append(f"(this ran in {worktree})")
    return lines


def failure_lines(failure: Failure) -> list[str]:
    """One failure: what, which tests, the last lines, where the rest is, how to see it again."""
    lines = [f"{blamed(failure)}: {failure.detail}"]
    lines += [f"    failed: {name}" for name in failure.failing_tests]
    if (more := failure.failing_count - len(failure.failing_tests)) > 0:
        lines.append(f"    and {more} more")
    lines += [f"    | {line}" for line in failure.tail.splitlines()]
    if failure.log and failure.tail:  # else the log is empty
        lines.append(f"    log: {failure.log}")
    if failure.reproduce:
        lines.append(Whole(f"    reproduce: {failure.reproduce}"))
    return lines


def end_line(
    outcome: str,
    commit: str,
    branch: str | None,
    because: Iterable[str],
    *,
    verb: str = "done",
    remark: str = "",
) -> str:
    """The last line of an answer that is no Proof, which is all that some callers show.

    `remark` is about what was judged, and `because` names what is to blame.
    """
    where = f" on {branch_name(branch)}" if branch else ""
    what = f"{commit[:12]}{where}, {remark}" if remark else f"{commit[:12]}{where}"
    names = ", ".join(dict.fromkeys(because))
    after = f"; `tenure {verb}` asks again" if outcome == "cancelled" else ""
    return f"{outcome}: {what}" + (f" ({names})" if names else "") + after


def passed_line(report: Report, *, objected: bool) -> str:
    """The last line of a check or of fix jobs that passed; `objected`: `done` will not."""
    run, reused = len(report.executed), len(report.reused)
    count = run + reused
    how = f"{run} run, {reused} reused" if reused else f"{run} run"
    after = "objects to it" if objected else "proves it once it is committed"
    return f"passed: {count} job{'' if count == 1 else 's'} ({how}); `tenure done` {after}"


def blamed(failure: Failure) -> str:
    """What a failure is called in one or two words."""
    return failure.requirement or failure.kind.replace("_", " ")


def proof_line(proof: Proof, commit: str = "", branch: str | None = None) -> str:
    """A Proof in one line: that of `commit`, which was asked about, or of its own commit.

    They differ where two commits have the same tree.
    """
    if not commit:
        commit, branch = proof.commit, proof.branch
    where = f" on {branch_name(branch)}" if branch else ""
    return f"met: {commit[:12]}{where} has Proof {proof.id[:12]} ({proof_count(proof)})"


def void_line(proof: Proof, commit: str = "", branch: str | None = None) -> str:
    """The same of one that does not stand."""
    told = proof_line(proof, commit, branch).removeprefix("met: ")
    return f"void: {told}; a receipt was dropped, or a newer run of its job did not pass"


def proof_count(proof: Proof) -> str:
    """How many requirements a Proof met and how, and what has to be known with it."""
    count = len(proof.evidence)
    reused = count - proof.executed
    how = f"{proof.executed} run, {reused} reused" if reused else f"{proof.executed} run"
    bootstrap = (
        "; judged by its own policy, there was none before it" if proof.judged_by == "own" else ""
    )
    accepted = f"; accepted: {', '.join(proof.accepted)}" if proof.accepted else ""
    flaky = f"; flaky: {', '.join(proof.flaky)}" if proof.flaky else ""
    return f"{count} requirement{'' if count == 1 else 's'}: {how}{bootstrap}{flaky}{accepted}"


def proof_lines(proof: Proof, first: str, commit: str = "") -> list[str]:
    """Everything a Proof says, after its `first` line; `commit` is the one that was asked about."""
    lines = [first]
    if commit and commit != proof.commit:
        lines.append(f"  settled for commit {proof.commit}, which has the same tree")
    lines.append(f"  tree {proof.tree}  base {proof.base or 'none'}  judged by {proof.judged_by}")
    rows = [
        (
            f"  {item.source}",
            item.requirement,
            seconds(item.seconds),
            f"run {item.run} in {item.worktree}",
        )
        for item in proof.evidence
    ]
    met = [("  met", one.standard, measurement_told(one)) for one in proof.standards]
    lines += aligned([*rows, *met])
    lines.append(f"  recorded in {proof.store}")
    return lines


def run_lines(
    runs: Sequence[RunRecord],
    now_wall_ns: int,
    *,
    dead: Collection[str],
    before: str = "",
    after: Callable[[RunRecord], str] = lambda _: "",
) -> list[str]:
    """A line for each run. `dead`: those without a recorded end whose processes are gone."""
    return aligned(
        [
            (
                f"{before}{run.id}",
                run.kind,
                _state(run, dead),
                run.commit[:12],
                f"{seconds((now_wall_ns - run.started_wall_ns) / 1e9)} ago",
                f"{run.worktree}{after(run)}",
            )
            for run in runs
        ]
    )


def _state(run: RunRecord, dead: Collection[str]) -> str:
    if run.report is not None:
        return run.report.outcome
    if run.id in dead:
        return "dead"
    return "running" if run.cancel is None else "ending"


def left_line(left: dict[str, float | None]) -> str:
    """What a run still has to do, and about how long that takes."""
    if not left:
        return "it has not said yet what is left to do"
    known = [value for value in left.values() if value is not None]
    about = f", which took {seconds(sum(known))} last time" if len(known) == len(left) else ""
    return f"left: {', '.join(left)}{about}"


def branch_name(ref: str) -> str:
    """A branch without its prefix."""
    return ref.removeprefix("refs/heads/")


def seconds(value: float) -> str:
    """A length of time, as people say it."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    if value < 7200:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.0f} h"


def joined(lines: Iterable[str]) -> str:
    """Lines as one text."""
    return "".join(f"{line}\n" for line in lines)
