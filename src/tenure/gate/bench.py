"""The bench: where one requirement's job is set up, started, and judged by what it returned."""

import os

import msgspec

from tenure.gate.captured import CaptureFailed, CaptureLost, OutputMissing
from tenure.gate.diagnosis import listed, shown
from tenure.gate.errors import CannotTell
from tenure.gate.fingerprint import (
    Fingerprint,
    Stat,
    bytecode_would_hide_an_edit,
    moved,
    still_holds,
    take,
)
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import JobResult
from tenure.gate.jobs.output import compact, tail
from tenure.gate.jobs.reproduce import reproduce
from tenure.gate.jobs.spawn import start
from tenure.gate.narration import JobBegan, JobEnded, Noted
from tenure.gate.objects import GITLINK
from tenure.gate.receipt import MetricLine, Output, Receipt, ReceiptOutcome
from tenure.gate.report import Failure, FailureKind
from tenure.gate.requirement import Requirement
from tenure.gate.run_state import Run, head_mark
from tenure.gate.situation import Situation, environment_of
from tenure.gate.tries import KEPT_OUTPUT, Tries, told
from tenure.kernel.identity import new_id
from tenure.kernel.points import point

#: Seconds for which a look at the checkout is good enough to start a job by.
_A_MOMENT = 0.1


class Bench:
    """Begins and finishes jobs of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._began: dict[str, int] = {}  #: wall time in nanoseconds, for people
        self._tries = Tries(run)
        self._late: list[Receipt] = []
        self._inputs: dict[str, list[bytes] | None] = {}  #: paths by requirement; None: all
        self._looked = float("-inf")  #: when every path was last seen unmoved
        self._tools = _tools(run.situation)
        self._before_fix: dict[str, Fingerprint] = {}
        self._rewritten: dict[str, list[bytes]] = {}  #: by fix jobs, or by others meanwhile

    def begin(self, requirement: Requirement) -> RunningJob | JobResult | None:
        """Start a job, unless the run has lost its hold or the job's inputs were touched."""
        run, name = self._run, requirement.name
        point(f"run.begin:{name}")
        run.check_hold()
        if run.stopping() or (not self._just_looked() and self._moved(requirement)):
            return None
        self._restore_needs(requirement)
        if run.fingerprint is None:
            paths = [path for mode, _, path in run.situation.entries if mode != GITLINK]
            self._before_fix[name] = take(run.situation.top, paths)
        run.say(JobBegan(requirement=name))
        self._began[name] = run.order.clock.now().wall_ns
        return self._start(requirement)

    def _start(self, requirement: Requirement) -> RunningJob | JobResult:
        """Start a job, without what it left when it was started before."""
        run, name, job = self._run, requirement.name, requirement.job
        self._clear(requirement)
        looked = run.fingerprint or self._before_fix[name]
        environment = environment_of(
            run.situation, requirement, run.order.environ, runs=[run.record.id]
        )
        if bytecode_would_hide_an_edit(looked, run.order.clock.now().wall_ns):
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return start(
            job.argv,
            cwd=os.path.join(run.situation.top, job.cwd),
            environment=environment,
            output=self._log_of(requirement),
            now=run.order.clock.monotonic(),
            timeout=job.timeout_seconds,
            pass_fds=(run.checkout, *run.permits.descriptors(name)),
        )

    def finish(self, requirement: Requirement, result: JobResult) -> bool | RunningJob:
        """Judge what a job returned and publish its receipt; whether it passed.

        A job that is to be tried once more is not judged, but started again and returned.
        """
        run, name = self._run, requirement.name
        point(f"run.finish:{name}")
        detail = result.sentence
        outcome: str = result.outcome
        outputs: tuple[Output, ...] = ()
        if result.outcome == "cancelled":
            run.cut_short.append(name)
        elif self._moved(requirement, result.over):
            outcome = "inputs_moved"
        elif self._tries.left(requirement, result):
            again = self._again(requirement, result)
            if again is not None:
                return again
            outcome = "cancelled"  # what another try would have said is not known
            run.cut_short.append(name)
        elif result.outcome == "passed":
            try:
                outputs = run.captured.capture(requirement.job.outputs)
            except OutputMissing as missing:
                outcome, detail = "no_output", str(missing)
            except CaptureFailed as failed:
                outcome, detail = "unkept", str(failed)
        detail = self._tries.detail(name, result, outcome, detail)
        seconds = self._tries.seconds(name, result)
        survivors = tuple(f"{left.pid} {left.command}" for left in result.survivors)
        run.say(JobEnded(requirement=name, outcome=outcome, seconds=seconds, detail=detail))
        if survivors:
            run.say(Noted(text=f"{name} left processes behind, killed: {'; '.join(survivors)}"))
        if result.output_size > KEPT_OUTPUT:
            compact(result.output)
        if outcome in ("cancelled", "inputs_moved"):
            return False
        if outcome != "passed":
            self._fail(requirement, result, outcome, detail)
        if outcome == "unkept":
            return False
        self._write_down(requirement, result, outcome, detail, outputs, survivors)
        return outcome == "passed"

    def _again(self, requirement: Requirement, result: JobResult) -> bool | RunningJob | None:
        """Start the next try of a job; None if the run has to end instead."""
        self._run.check_hold()
        if self._run.stopping():
            return None
        self._tries.keep(requirement, result)
        started = self._start(requirement)
        return started if isinstance(started, RunningJob) else self.finish(requirement, started)

    def unrun(self, requirement: Requirement, because: str) -> None:
        """Report a requirement that could not run because of what it needs."""
        run, name = self._run, requirement.name
        why = f"{because}, which it needs, did not pass"
        run.say(JobEnded(requirement=name, outcome="unrun", seconds=0.0, detail=why))
        run.failures.append(
            Failure(requirement=name, kind="unrun", detail=f"it did not run: {why}")
        )

    def publish_late(self) -> None:
        """Publish what waited for the baseline: receipts of jobs that may write to the tree."""
        for receipt in self._late:
            self._run.publish(receipt)
        self._late.clear()

    def leave_own_outputs(self) -> None:
        """Leave the candidate's own outputs in the tree, where an old definition wrote last."""
        required = self._run.situation.required.requirements
        if not any(requirement.origin == "base" for requirement in required):
            return
        for requirement in required:
            receipt = self._run.receipts.get(requirement.name)
            if requirement.origin == "candidate" and receipt is not None:
                self._restore(receipt)

    def _clear(self, requirement: Requirement) -> None:
        try:
            self._run.captured.clear(requirement.job.outputs)
        except OSError as error:
            raise CannotTell(
                what=f"an output of {requirement.name} cannot be deleted ({error})",
                next="delete it, then ask again",
            ) from error

    def _restore(self, receipt: Receipt) -> None:
        """Have exactly these outputs in place, and nothing that another job left beside them."""
        self._clear(self._run.situation.required[receipt.requirement])
        try:
            self._run.captured.restore(receipt.outputs)
        except CaptureLost as error:
            raise CannotTell(
                what=f"the outputs of {receipt.requirement} cannot be put back: {error}",
                next="ask again with --rerun",
            ) from error

    def _just_looked(self) -> bool:
        """Whether the whole checkout was unmoved a moment ago, as after the job before this one.

        A look before a job only spares the job. The look after it is the one that proves.
        """
        return self._run.order.clock.monotonic() - self._looked < _A_MOMENT

    def _moved(self, requirement: Requirement, since: float | None = None) -> bool:
        """Whether the inputs were touched since the baseline; if so, that is the failure.

        One look at every path serves all the jobs that were over, at `since`, before it began.
        """
        run, name = self._run, requirement.name
        if run.fingerprint is None:
            touched = moved(self._before_fix[name]) if name in self._before_fix else []
            if touched:
                self._rewritten[name] = touched
            return False
        if self._elsewhere(requirement):
            return True
        if since is not None and since < self._looked:
            return False
        inputs = self._inputs_of(requirement.name, run.fingerprint)
        looked = run.order.clock.monotonic()
        paths = moved(run.fingerprint, inputs)
        if not paths:
            self._looked = looked if inputs is None else self._looked
            return False
        names = tuple(shown(path) for path in paths)
        detail = f"its inputs were edited while the run judged them: {listed(paths)}"
        failure = Failure(
            requirement=requirement.name, kind="inputs_moved", detail=detail, paths=names
        )
        run.failures.append(failure)
        return True

    def _elsewhere(self, requirement: Requirement) -> bool:
        """Whether HEAD was moved, or a tool replaced, since they were identified."""
        run = self._run
        changed = [path for path, seen in self._tools if not still_holds([(path, seen)])]
        if run.head_mark != head_mark(run.situation.snapshot.repo.git_dir):
            detail = "another commit was checked out while the run judged this one"
        elif changed:
            detail = f"what it runs with was changed meanwhile: {', '.join(changed[:3])}"
        else:
            return False
        run.failures.append(
            Failure(requirement=requirement.name, kind="inputs_moved", detail=detail)
        )
        return True

    def judge_rewritten(self) -> None:
        """A fix job whose files were rewritten and are as they were proves nothing of them.

        Either the job writes what it does not change, or somebody edited and put it back.
        """
        for name, paths in self._rewritten.items():
            detail = f"files were rewritten while it ran, and are as they were: {listed(paths)}"
            names = tuple(shown(path) for path in paths)
            self._run.failures.append(
                Failure(requirement=name, kind="inputs_moved", detail=detail, paths=names)
            )
        self._late = [one for one in self._late if one.requirement not in self._rewritten]

    def void_all(self, detail: str) -> None:
        """Take back every pass of this run: a newer receipt of each says that it does not count."""
        run = self._run
        for receipt in list(run.receipts.values()):
            if receipt.attempt == run.attempt.id and receipt.passed:
                run.in_doubt.append(
                    msgspec.structs.replace(
                        receipt, id=new_id(), outcome="failed", detail=detail, outputs=()
                    )
                )

    def _inputs_of(self, name: str, known: Fingerprint) -> list[bytes] | None:
        if name not in self._inputs:
            matches = self._run.situation.inputs[name]
            self._inputs[name] = [p for p in known.marks if matches(p)] if matches else None
        return self._inputs[name]

    def _restore_needs(self, requirement: Requirement) -> None:
        """Put the outputs it needs in place, where another requirement writes the same paths."""
        run = self._run
        wanted = run.situation.required.footprint(requirement.name)
        for writer in dict.fromkeys(wanted.values()):
            receipt = run.receipts.get(writer)
            if writer == requirement.name or receipt is None:
                continue
            self._restore(receipt)

    def _fail(self, requirement: Requirement, result: JobResult, kind: str, detail: str) -> None:
        from tenure.gate.junit import failing_tests

        run, job = self._run, requirement.job
        changes: dict[str, str | None] = {**job.set_env}
        cwd = os.path.normpath(os.path.join(run.situation.top, job.cwd))
        began = self._began[requirement.name]
        failing = failing_tests(job.argv, cwd, job.outputs, run.situation.top, began)
        failure = Failure(
            requirement=requirement.name,
            kind=_KINDS[kind],
            detail=detail or told(result),
            failing_tests=failing.names,
            failing_count=failing.count,
            tail=tail(result.output, lines=30),
            log=result.output,
            reproduce=reproduce(job.argv, cwd=cwd, changes=changes),
        )
        run.failures.append(failure)

    def _write_down(
        self,
        requirement: Requirement,
        result: JobResult,
        outcome: str,
        detail: str,
        outputs: tuple[Output, ...],
        survivors: tuple[str, ...],
    ) -> None:
        run, identity = self._run, self._run.situation.identities[requirement.name]
        receipt = Receipt(
            id=new_id(),
            repository=run.store.repository,
            requirement=requirement.name,
            identity=identity.digest,
            parts=identity.parts,
            outcome=_RECEIPTS.get(outcome, "failed"),
            code=result.code,
            signal=result.signal,
            attempt=run.attempt.id,
            run=run.record.id,
            worktree=run.situation.top,
            started_wall_ns=self._began[requirement.name],
            seconds=self._tries.seconds(requirement.name, result),
            earlier=self._tries.before(requirement.name),
            log=os.path.relpath(result.output, run.order.place.root),
            outputs=outputs,
            metrics=_metrics(result) if outcome == "passed" else (),
            survivors=survivors,
            detail=detail,
        )
        if run.fingerprint is None:
            self._late.append(receipt)
        else:
            run.publish(receipt)

    def _log_of(self, requirement: Requirement) -> str:
        return self._run.order.place.job_log(self._run.record.id, requirement.name)


def _tools(found: Situation) -> list[tuple[str, Stat]]:
    """The programs and files outside the checkout by which its jobs were identified.

    What lies inside is either tracked, and watched as such, or made by jobs as they go.
    """
    inside = os.path.join(found.top, "")
    return [
        (path, seen)
        for path, seen in found.watched.items()
        if seen is not None and not path.startswith(inside) and not os.path.isdir(path)
    ]


_RECEIPTS: dict[str, ReceiptOutcome] = {
    "passed": "passed",
    "killed": "killed",
    "timed_out": "timed_out",
    "not_found": "not_found",
}
_KINDS: dict[str, FailureKind] = {
    "failed": "failed",
    "killed": "killed",
    "timed_out": "timed_out",
    "not_found": "not_found",
    "no_output": "no_output",
    "unkept": "unkept",
}


def _metrics(result: JobResult) -> tuple[MetricLine, ...]:
    """The metrics that a job printed, kept in its receipt: what it printed may be cut or cleared away."""
    if not result.output_size:
        return ()
    from tenure.gate.metric import metric_lines

    return metric_lines(result.output)
