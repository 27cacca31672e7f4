"""Tries: what a job returned before it was run again, as its definition allows."""

import os

from tenure.gate.jobs.outcome import JobResult
from tenure.gate.jobs.output import compact
from tenure.gate.narration import JobRetried
from tenure.gate.receipt import ReceiptOutcome, Try
from tenure.gate.requirement import Requirement
from tenure.gate.run_state import Run

#: A job's output beyond this is cut to its head and tail when the job is over.
KEPT_OUTPUT = 64 * 1024 * 1024

#: Ends after which another try may say something else.
_TRIED_AGAIN: dict[str, ReceiptOutcome] = {
    "failed": "failed",
    "killed": "killed",
    "timed_out": "timed_out",
}


class Tries:
    """The tries of one run's jobs that did not pass, except each job's last."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._earlier: dict[str, list[Try]] = {}

    def left(self, requirement: Requirement, result: JobResult) -> bool:
        """Whether a job that ended so is to be tried again."""
        tried = len(self.before(requirement.name))
        return result.outcome in _TRIED_AGAIN and tried < requirement.job.retries

    def keep(self, requirement: Requirement, result: JobResult) -> None:
        """Keep what a try returned and printed, before the next one starts."""
        run, name = self._run, requirement.name
        earlier = self._earlier.setdefault(name, [])
        kept = run.order.place.earlier_log(run.record.id, name, len(earlier) + 1)
        os.rename(result.output, kept)
        if result.output_size > KEPT_OUTPUT:
            compact(kept)
        seconds, detail = result.ended - result.started, result.sentence or told(result)
        earlier.append(
            Try(
                outcome=_TRIED_AGAIN[result.outcome],
                code=result.code,
                signal=result.signal,
                seconds=seconds,
                log=os.path.relpath(kept, run.order.place.root),
                detail=detail,
            )
        )
        run.say(
            JobRetried(
                requirement=name,
                outcome=result.outcome,
                seconds=seconds,
                detail=detail,
                number=len(earlier) + 1,
                of=requirement.job.retries + 1,
            )
        )

    def before(self, name: str) -> tuple[Try, ...]:
        """The tries of a job before its last one."""
        return tuple(self._earlier.get(name, ()))

    def seconds(self, name: str, result: JobResult) -> float:
        """How long a job ran whose last try is `result`, all of them together."""
        return sum(one.seconds for one in self.before(name)) + result.ended - result.started

    def detail(self, name: str, result: JobResult, outcome: str, detail: str) -> str:
        """What is said of a job's end, with its tries if there were several."""
        count = len(self.before(name)) + 1
        if count == 1 or outcome in ("cancelled", "inputs_moved"):
            return detail
        if outcome == "passed":
            return f"flaky: it passed at try {count}"
        return f"{detail or told(result)}; none of {count} tries passed"


def told(result: JobResult) -> str:
    """How a job ended, in words."""
    if result.outcome == "failed":
        return f"it exited with {result.code}"
    if result.outcome == "killed":
        return f"it was killed by signal {result.signal}"
    return f"it {result.outcome.replace('_', ' ')}"
