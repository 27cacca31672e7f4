"""Setup: preparing a checkout for its jobs, once for everything that decides how.

It runs under the checkout's lock and under no attempt, because what it makes, a virtual
environment perhaps, is part of what the jobs are identified by. So what fails here says
nothing about the candidate.
"""

import os

from tenure.gate.diagnosis import listed, shown
from tenure.gate.digest import digest, keyed
from tenure.gate.errors import CannotTell
from tenure.gate.fingerprint import stat_of
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import JobResult
from tenure.gate.jobs.output import tail
from tenure.gate.jobs.reproduce import reproduce
from tenure.gate.jobs.spawn import start
from tenure.gate.narration import JobBegan, JobEnded, Noted
from tenure.gate.pattern import without_match
from tenure.gate.policy import definition_digest
from tenure.gate.preparation import changes
from tenure.gate.record import SetupRecord
from tenure.gate.report import Failure, Report
from tenure.gate.requirement import Requirement, RequirementSet
from tenure.gate.run_state import Over, Run
from tenure.gate.situation import environment_of, inputs_of
from tenure.gate.tries import told
from tenure.gate.worktree import read_again
from tenure.kernel.points import point


def set_up(run: Run) -> bool:
    """Run what prepares the checkout, unless that was done for exactly this; whether it ran.

    It is done again where a program is missing that a job runs.

    Raises:
        Over: it failed, or left the checkout other than the commit.
    """
    setups = run.situation.required.setups
    wanted = _depends_on(run, setups)
    known = run.store.setup(run.situation.checkout)
    if known is not None and known.digest == wanted and not _misses_a_program(run):
        return False
    run.store.begin_setup(run.record)
    failures = _perform(run, setups)
    run.raise_if_stopping()
    failures += [] if failures else _changed(run)
    if failures:
        reason = "this checkout could not be set up, so nothing was judged"
        raise Over(Report(outcome="unproven", exit_code=3, failures=tuple(failures), reason=reason))
    point("setup.done")
    run.store.end_setup(
        SetupRecord(
            repository=run.store.repository,
            checkout=run.situation.checkout,
            digest=wanted,
            run=run.record.id,
            worktree=run.situation.top,
            wall_ns=run.order.clock.now().wall_ns,
        )
    )
    return True


def _perform(run: Run, setups: tuple[Requirement, ...]) -> list[Failure]:
    """Run the setups one after the other, up to the first that fails."""
    failures: list[Failure] = []

    def begin(setup: Requirement) -> RunningJob | JobResult:
        job = setup.job
        run.say(JobBegan(requirement=setup.name))
        return start(
            job.argv,
            cwd=os.path.join(run.situation.top, job.cwd),
            environment=environment_of(
                run.situation, setup, run.order.environ, runs=[run.record.id]
            ),
            output=run.order.place.job_log(run.record.id, setup.name),
            now=run.order.clock.monotonic(),
            timeout=job.timeout_seconds,
            pass_fds=(run.checkout,),
        )

    def finish(setup: Requirement, result: JobResult) -> bool:
        point(f"run.finish:{setup.name}")
        seconds, passed = result.ended - result.started, result.outcome == "passed"
        detail = "" if passed else result.sentence or told(result)
        run.say(
            JobEnded(requirement=setup.name, outcome=result.outcome, seconds=seconds, detail=detail)
        )
        left = "; ".join(f"{one.pid} {one.command}" for one in result.survivors)
        if left:
            run.say(Noted(text=f"{setup.name} left processes behind, killed: {left}"))
        if not passed and result.outcome != "cancelled":
            failures.append(_failure(run, setup, result, detail))
        return passed

    def unrun(setup: Requirement, because: str) -> None:
        pass  # what it needs has failed, which is told

    workshop = run.workshop(RequirementSet(requirements=setups))
    workshop.perform(setups, begin, finish, unrun, serial=True)
    return failures


def _failure(run: Run, setup: Requirement, result: JobResult, detail: str) -> Failure:
    job = setup.job
    changes: dict[str, str | None] = {**job.set_env}
    cwd = os.path.normpath(os.path.join(run.situation.top, job.cwd))
    return Failure(
        requirement=setup.name,
        kind="setup",
        detail=detail,
        tail=tail(result.output, lines=30),
        log=result.output,
        reproduce=reproduce(job.argv, cwd=cwd, changes=changes),
    )


def _changed(run: Run) -> list[Failure]:
    """What the setup did to files that are judged: none of that may be left."""
    known = run.situation.snapshot
    paths = [path for _, path in changes(known, read_again(known).finish())]
    if not paths:
        return []
    detail = f"after it, other files are here than are judged: {listed(paths)}; commit them, or have git ignore them"
    names = tuple(shown(path) for path in paths)
    return [Failure(requirement="setup", kind="setup", detail=detail, paths=names)]


def _misses_a_program(run: Run) -> bool:
    identities = run.situation.identities.values()
    return any("absent" in identity.parts.values() for identity in identities)


def _depends_on(run: Run, setups: tuple[Requirement, ...]) -> str:
    """The digest of everything that decides whether a checkout has to be set up anew."""
    parts = [_parts(run, setup) for setup in setups]
    return digest("setup", (_incarnation(run.situation.snapshot.repo.git_dir), parts))


def _parts(run: Run, setup: Requirement) -> dict[str, str]:
    found, job = run.situation, setup.job
    patterns = job.inputs
    if patterns is not None:
        paths = [path for _, _, path in found.entries]
        if len(without_match(patterns, paths)) == len(patterns):
            raise CannotTell(
                what=f"no file matches the inputs of {setup.name}, so it would never run again",
                next="correct the patterns, or leave `inputs` out to mean the whole tree",
            )
    _, inputs = inputs_of(patterns, found.snapshot.tree, found.entries, found.links)
    parts = {
        "definition": definition_digest(job),
        "inputs": inputs,
    }
    secret = run.store.secret().encode()
    for name in job.env:
        parts[f"env:{name}"] = keyed(secret, name, run.order.environ.get(name))
    return parts


def _incarnation(git_dir: str) -> tuple[object, ...]:
    """What tells a checkout from an earlier one at the same place, which had other files."""
    made = os.stat(git_dir)
    linked = stat_of(os.path.join(git_dir, "commondir"))  # written when a worktree is added
    return made.st_dev, made.st_ino, linked or ()
