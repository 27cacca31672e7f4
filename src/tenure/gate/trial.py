"""A trial: one job on a private copy that holds only what it declares.

It shows which inputs a job forgot to declare, before a reused result does. Nothing is
published, and the checkout is only read.
"""

import os
import select
import shutil
from collections.abc import Callable, Mapping

import msgspec

from tenure.gate.baseline import parts_of
from tenure.gate.captured import Captured, CaptureLost
from tenure.gate.diagnosis import shown
from tenure.gate.errors import CannotTell
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import JobResult
from tenure.gate.jobs.output import tail
from tenure.gate.jobs.spawn import start
from tenure.gate.receipt import Receipt
from tenure.gate.signals import Signals
from tenure.gate.situation import Situation, environment_of
from tenure.kernel.clock import Clock
from tenure.kernel.identity import new_id

#: Where a job's tools live in a checkout without being part of it, besides where they were found.
_TOOLS = (".venv", "venv", "node_modules")

_READ = 1 << 20  #: how much of a job's output is searched for the names of files


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a job on its copy."""

    requirement: str
    outcome: str  #: as of any job, or no_output
    files: int  #: how many inputs it was given
    tail: str  #: last lines of its output
    named: tuple[str, ...]  #: files that it did not declare and that its output names
    passed_here: bool  #: whether it has passed in the checkout, on exactly these files

    @property
    def passed(self) -> bool:
        """Whether what it declares was enough."""
        return self.outcome == "passed"


def conduct_trial(
    found: Situation,
    name: str,
    directory: str,
    *,
    kept: str,
    deciding: Mapping[str, Receipt],
    environ: Mapping[str, str],
    clock: Clock,
    signals: Signals,
) -> Trial:
    """Run the requirement `name` in `directory`, which is empty, and say what came of it.

    `kept` is where captured outputs are, and `deciding` has the newest receipt by identity:
    what the job needs is taken from there.

    Raises:
        CannotTell: something that it needs has no result that could be taken, or a file went
            away meanwhile.
    """
    copy = os.path.join(directory, "copy")
    os.mkdir(copy)
    given, others = _copy_inputs(found, name, copy)
    _link_tools(found, copy)
    for need in found.required.only([name]).requirements:
        if need.name != name:
            _restore(need.name, deciding.get(found.identities[need.name].digest), kept, copy)
    job = found.required[name].job
    cwd = os.path.join(copy, job.cwd)
    os.makedirs(cwd, exist_ok=True)
    output = os.path.join(directory, "out")
    started = start(
        job.argv,
        cwd=cwd,
        environment=environment_of(found, found.required[name], environ, runs=[new_id()]),
        output=output,
        now=clock.monotonic(),
        timeout=job.timeout_seconds,
    )
    result = _awaited(started, clock, signals) if isinstance(started, RunningJob) else started
    outcome: str = result.outcome
    if outcome == "passed" and not all(os.path.lexists(f"{copy}/{o}") for o in job.outputs):
        outcome = "no_output"
    receipt = deciding.get(found.identities[name].digest)
    return Trial(
        requirement=name,
        outcome=outcome,
        files=given,
        tail=tail(output, lines=30),
        named=_named(output, others),
        passed_here=receipt is not None and receipt.passed,
    )


def _copy_inputs(found: Situation, name: str, copy: str) -> tuple[int, list[str]]:
    """Copy the declared inputs; how many there are, and the paths of what is no input."""
    matches: Callable[[bytes], bool] = found.inputs[name] or (lambda _: True)
    given, others = 0, []
    for part in parts_of(found.top, found.snapshot.tree, found.entries):
        for inner in part.files:
            path = part.prefix + inner
            if matches(path):
                _copy(found.top, os.fsdecode(path), copy)
                given += 1
            else:
                others.append(shown(path))
    return given, others


def _copy(top: str, path: str, copy: str) -> None:
    target = os.path.join(copy, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        shutil.copy2(os.path.join(top, path), target, follow_symlinks=False)
    except OSError as error:
        raise CannotTell(
            what=f"{path} cannot be copied: {error.strerror}",
            next="ask again when nobody edits it",
        ) from error


def _link_tools(found: Situation, copy: str) -> None:
    """Have what the job runs with at hand, which its identity knows besides its inputs."""
    inside = os.path.join(found.top, "")
    tracked = {os.fsdecode(path) for _, _, path in found.entries}
    watched = [
        path.removeprefix(inside)
        for path, seen in ((os.path.normpath(p), s) for p, s in found.watched.items())
        if seen is not None and path.startswith(inside)
    ]
    for path in watched:
        if path in tracked:
            _copy(found.top, path, copy)
    for name in dict.fromkeys([*_TOOLS, *(p.partition("/")[0] for p in watched)]):
        real, target = os.path.join(found.top, name), os.path.join(copy, name)
        ours = any(path == name or path.startswith(f"{name}/") for path in tracked)
        if os.path.exists(real) and not ours and not os.path.lexists(target):
            os.symlink(real, target)


def _restore(need: str, receipt: Receipt | None, kept: str, copy: str) -> None:
    if receipt is None or not receipt.passed:
        raise CannotTell(
            what=f"{need}, which it needs, has not passed on these files",
            next=f"run `tenure check {need.removesuffix('@base')}` first",
        )
    try:
        Captured(kept, copy).restore(receipt.outputs)
    except CaptureLost as error:
        raise CannotTell(
            what=f"what {need} wrote is lost: {error}",
            next=f"run `tenure check --rerun {need.removesuffix('@base')}` first",
        ) from error


def _awaited(job: RunningJob, clock: Clock, signals: Signals) -> JobResult:
    """Wait for the end of a job. A signal of our own ends it."""
    poll = select.poll()
    poll.register(job.fileno(), select.POLLIN)
    poll.register(signals.descriptor, select.POLLIN)
    while True:
        now = clock.monotonic()
        ready = {fd for fd, _ in poll.poll(max(0.0, job.deadline(now) - now) * 1000)}
        if signals.descriptor in ready:
            poll.unregister(signals.descriptor)
            job.cancel(clock.monotonic())
        result = job.tick(clock.monotonic())
        if result is not None:
            return result


def _named(output: str, others: list[str]) -> tuple[str, ...]:
    """Those of `others` that stand in what the job wrote."""
    with open(output, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _READ))
        text = file.read().decode("utf-8", "replace")
    return tuple(path for path in others if path in text)
