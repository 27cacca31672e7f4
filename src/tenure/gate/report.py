"""Reports: how a run ended, for the store, the followers and the exit code."""

from typing import Literal

import msgspec

from tenure.gate.measurement import Measurement

#: passed, failed, cancelled, joined: as the attempt. unproven: it could not be told.
#: again: the question changed before anything was bound, ask anew. broken: our own fault.
RunOutcome = Literal["passed", "failed", "cancelled", "joined", "unproven", "again", "broken"]

FailureKind = Literal[
    "failed",  # its exit code
    "killed",
    "timed_out",
    "not_found",
    "unrun",  # something it needs failed
    "cancelled",
    "inputs_moved",
    "fixed",  # a fix job changed tracked files
    "left_files",
    "unsettled",  # fix jobs change files back and forth
    "no_output",  # a declared output was not written
    "setup",  # the checkout could not be prepared for its jobs
    "unkept",  # a declared output was written and could not be kept
    "missed",  # a standard's number does not keep its limit
    "unmeasured",  # a standard's number is not where it should be
]

#: What is about the candidate itself, so that another worktree with the same candidate would fail alike.
_VERDICTS = frozenset({"failed", "unrun", "no_output", "missed", "unmeasured"})
#: What says nothing either way.
_DOUBTS = frozenset({"inputs_moved", "cancelled", "unkept", "setup"})


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why one requirement, or the run as a whole (`requirement` empty), is not met."""

    requirement: str
    kind: FailureKind
    detail: str
    paths: tuple[str, ...] = ()
    failing_tests: tuple[str, ...] = ()  #: the first of them, where the job wrote a JUnit report
    failing_count: int = 0  #: how many there are
    tail: str = ""  #: last lines of the job's output
    log: str = ""  #: absolute path of the whole output
    reproduce: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    outcome: RunOutcome
    exit_code: int
    failures: tuple[Failure, ...] = ()
    reason: str = ""  #: one sentence, for every outcome but passed and failed
    other: str | None = None  #: the run that retired, cancelled or is followed instead
    proof: str | None = None
    executed: tuple[str, ...] = ()
    reused: tuple[str, ...] = ()
    standards: tuple[Measurement, ...] = ()
    fixed: tuple[str, ...] = ()  #: paths that `tenure fix` changed
    seconds: float = 0.0
    longest_gap: float = 0.0  #: seconds between renewals at their worst


def retirement(by: str, evidence: str, note: str = "") -> Report:
    """The end of a run whose attempt somebody else ended: cancelled, by whom, on what evidence."""
    reason = f"retired by run {by} ({evidence})" + (f"; {note}" if note else "")
    return Report(outcome="cancelled", exit_code=4, reason=reason, other=by)


def adoptable(report: Report) -> bool:
    """Whether a follower of the same subject may take this failure for its own.

    Only if every failure is a job's own verdict; a kill, a time-out or a moved input may
    be about the place where it ran.
    """
    return (
        report.outcome == "failed"
        and bool(report.failures)
        and all(failure.kind in _VERDICTS for failure in report.failures)
    )


def failed(failures: tuple[Failure, ...]) -> tuple[RunOutcome, int]:
    """The outcome and exit code of these failures: not met, or could not tell.

    What did not run tells no more than what kept it from running, which is among them.
    """
    if all(failure.kind in _DOUBTS or failure.kind == "unrun" for failure in failures):
        return "unproven", 3
    return "failed", 1
