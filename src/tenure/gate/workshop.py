"""The workshop: runs jobs by stage and in parallel, on one loop that also keeps the hold.

The loop renews while jobs run, because it is the loop: a run that makes no progress stops
renewing. It is woken by a job's end, by a signal, by the next renewal, by a time limit, or when
others let go of what a job waits for.
"""

import select
from collections.abc import Callable, Iterable

from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import JobResult
from tenure.gate.permits import Permits
from tenure.gate.policy import STAGE_RANK
from tenure.gate.requirement import Requirement, RequirementSet
from tenure.kernel.clock import Clock

#: Starts one requirement: running, over at once, or not to be run (whoever says so reports it).
Begin = Callable[[Requirement], RunningJob | JobResult | None]
#: Takes a result; whether those that need it may run, or the same job started once more.
Finish = Callable[[Requirement, JobResult], bool | RunningJob]


class Keeping:
    """What the loop does for the run besides jobs: keeps the hold, listens to signals."""

    def __init__(
        self,
        *,
        deadline: Callable[[], float],
        tick: Callable[[float], None],
        stopping: Callable[[], bool],
        signals: int,
        heard: Callable[[], None],
    ) -> None:
        self.deadline = deadline  #: when `tick` wants to be called next
        self.tick = tick
        self.stopping = stopping  #: whether nothing new may start and what runs must end
        self.signals = signals  #: readable when a signal came
        self.heard = heard  #: called then


class Workshop:
    """Runs requirements once each, at most `parallel` at a time."""

    def __init__(
        self,
        required: RequirementSet,
        keeping: Keeping,
        clock: Clock,
        permits: Permits,
        *,
        parallel: int,
    ) -> None:
        self._permits = permits
        self._required = required
        self._keeping = keeping
        self._clock = clock
        self._parallel = parallel
        self._running: dict[str, RunningJob] = {}
        self._passed: set[str] = set()
        self._failed: set[str] = set()

    def count_as_passed(self, names: Iterable[str]) -> None:
        """These need not run: receipts answer for them."""
        self._passed.update(names)

    def count_as_failed(self, names: Iterable[str]) -> None:
        """What needs one of these does not run."""
        self._failed.update(names)

    def perform(
        self,
        wanted: Iterable[Requirement],
        begin: Begin,
        finish: Finish,
        unrun: Callable[[Requirement, str], None],
        *,
        serial: bool = False,
    ) -> None:
        """Run `wanted`, of which everything needed has passed, failed or is wanted too.

        What needs something that did not pass is reported through `unrun` with the name of
        that something. When `keeping.stopping` turns true, running jobs are cancelled, their
        results still go to `finish`, and nothing else starts. A job that waits for a slot or
        a hold does not run, and keeps nobody else from running, unless it is all `serial`.
        """
        waiting = {requirement.name: requirement for requirement in wanted}
        failed = self._failed

        def over(requirement: Requirement, result: JobResult) -> None:
            found = finish(requirement, result)
            if isinstance(found, RunningJob):  # which has what it had
                self._running[requirement.name] = found
                return
            self._permits.release(requirement.name)
            (self._passed if found else failed).add(requirement.name)

        def start(requirement: Requirement) -> None:
            job = begin(requirement)
            if isinstance(job, RunningJob):
                self._running[requirement.name] = job
            elif job is None:
                self._permits.release(requirement.name)
                failed.add(requirement.name)
            else:
                over(requirement, job)

        limit = 1 if serial else self._parallel
        while True:
            _drop_unrunnable(waiting, failed, unrun)
            if not self._keeping.stopping():
                while ready := self._next_ready(waiting, limit, in_order=serial):
                    del waiting[ready.name]
                    start(ready)
                    _drop_unrunnable(waiting, failed, unrun)
            stopping = self._keeping.stopping()
            if not self._running and (stopping or not self._permits.waiting):
                assert stopping or not waiting, f"stuck: {sorted(waiting)}"
                self._permits.forget()
                return
            for name, result in self._wait():
                over(self._required[name], result)

    def _next_ready(
        self, waiting: dict[str, Requirement], limit: int, *, in_order: bool
    ) -> Requirement | None:
        """The first requirement that may start now, and has what it needs."""
        if len(self._running) >= limit or not waiting or self._keeping.stopping():
            return None
        ranks = [STAGE_RANK[requirement.job.stage] for requirement in waiting.values()]
        ranks += [STAGE_RANK[self._required[name].job.stage] for name in self._running]
        for requirement in waiting.values():
            if (
                STAGE_RANK[requirement.job.stage] == min(ranks)
                and self._passed.issuperset(requirement.needs)
                and not any(self._required.conflicts(requirement.name, n) for n in self._running)
            ):
                if self._permits.admit(requirement):
                    return requirement
                if in_order:
                    return None
        return None

    def _wait(self) -> list[tuple[str, JobResult]]:
        """Wait for something to happen, and return what is over."""
        now = self._clock.monotonic()
        poll = select.poll()
        poll.register(self._keeping.signals, select.POLLIN)
        for job in self._running.values():
            poll.register(job.fileno(), select.POLLIN)
        deadlines = [self._keeping.deadline(), *(j.deadline(now) for j in self._running.values())]
        if self._permits.waiting:
            self._permits.tried()
            deadlines.append(self._permits.deadline())
            if self._permits.fileno() >= 0:
                poll.register(self._permits.fileno(), select.POLLIN)
        wake_at = min(deadlines)
        ready = {descriptor for descriptor, _ in poll.poll(max(0.0, wake_at - now) * 1000)}
        if self._keeping.signals in ready:
            self._keeping.heard()
        now = self._clock.monotonic()
        self._keeping.tick(now)
        if self._keeping.stopping():
            for job in self._running.values():
                job.cancel(now)
        over = [(name, result) for name, job in self._running.items() if (result := job.tick(now))]
        for name, _ in over:
            del self._running[name]
        return over


def _drop_unrunnable(
    waiting: dict[str, Requirement],
    failed: set[str],
    unrun: Callable[[Requirement, str], None],
) -> None:
    """Report everything that needs a failure, and what needs that, and so on."""
    while True:
        for requirement in waiting.values():
            missing = next((need for need in requirement.needs if need in failed), None)
            if missing is not None:
                break
        else:
            return
        del waiting[requirement.name]
        failed.add(requirement.name)
        unrun(requirement, missing)
