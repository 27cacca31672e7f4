"""Jobs run by stage, in parallel, after what they need; real processes, no store."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.gate.jobs.environment import job_environment
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import JobResult
from tenure.gate.jobs.spawn import start
from tenure.gate.policy import Job, Policy, Stage
from tenure.gate.requirement import Requirement, RequirementSet, requirements
from tenure.gate.workshop import Keeping, Workshop
from tenure.kernel.clock import SystemClock

CLOCK = SystemClock()


class Shop:
    """A workshop over shell commands, and everything that was told of them."""

    def __init__(self, tmp_path: Path, *jobs: Job, parallel: int = 4) -> None:
        self.tmp_path = tmp_path
        self.told: list[str] = []
        self.running: set[str] = set()
        self.together: set[frozenset[str]] = set()
        self.ticks = 0
        self.stop: Callable[[], bool] = lambda: False
        self.required: RequirementSet = requirements(
            None, Policy(file="tenure.toml", jobs={job.name: job for job in jobs})
        )
        self.signals, self.signal = os.pipe()
        self.due = CLOCK.monotonic()
        keeping = Keeping(
            deadline=lambda: self.due,
            tick=self._tick,
            stopping=self._stopping,
            signals=self.signals,
            heard=lambda: None,
        )
        self.workshop = Workshop(self.required, keeping, CLOCK, parallel=parallel)

    def _stopping(self) -> bool:
        return self.stop()

    def _tick(self, now: float) -> None:
        if now >= self.due:
            self.ticks += 1
            self.due = now + 0.05

    def begin(self, requirement: Requirement) -> RunningJob | JobResult | None:
        name = requirement.name
        self.told.append(f"begin {name}")
        if name.startswith("refused"):
            return None
        self.running.add(name)
        self.together.add(frozenset(self.running))
        return start(
            requirement.job.argv,
            cwd=str(self.tmp_path),
            environment=job_environment(
                os.environ, run_ids=[f"run{os.getpid()}"], job=name, checkout_id="w1"
            ),
            output=str(self.tmp_path / f"{name}.out"),
            now=CLOCK.monotonic(),
        )

    def finish(self, requirement: Requirement, result: JobResult) -> bool:
        self.running.discard(requirement.name)
        self.told.append(f"{result.outcome} {requirement.name}")
        return result.outcome == "passed"

    def unrun(self, requirement: Requirement, because: str) -> None:
        self.told.append(f"unrun {requirement.name} because of {because}")

    def perform(self, *, serial: bool = False) -> list[str]:
        self.workshop.perform(
            self.required.requirements, self.begin, self.finish, self.unrun, serial=serial
        )
        return self.told


def job(name: str, run: str = "true", stage: Stage = "check", **more: tuple[str, ...]) -> Job:
    return Job(
        name=name,
        run=run,
        stage=stage,
        needs=more.get("needs", ()),
        outputs=more.get("outputs", ()),
    )


def test_a_later_stage_waits_for_the_whole_earlier_one(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        job("test", "ls built-a built-b", "test"),
        job("build-a", "sleep 0.2; touch built-a", "build"),
        job("build-b", "touch built-b", "build"),
    )
    told = shop.perform()
    assert told[-2:] == ["begin test", "passed test"]
    assert frozenset({"build-a", "build-b"}) in shop.together


def test_checks_and_tests_run_side_by_side(tmp_path: Path) -> None:
    meet = "touch {0}; for i in $(seq 500); do [ -e {1} ] && exit 0; sleep 0.02; done; exit 1"
    shop = Shop(
        tmp_path,
        job("check", meet.format("c", "t"), "check"),
        job("test", meet.format("t", "c"), "test"),
    )
    assert sorted(shop.perform()[2:]) == ["passed check", "passed test"]


def test_no_more_run_at_a_time_than_there_are_places(tmp_path: Path) -> None:
    shop = Shop(tmp_path, *(job(f"j{n}", "sleep 0.05") for n in range(5)), parallel=2)
    assert shop.perform().count("begin j4") == 1
    assert max(len(group) for group in shop.together) == 2


def test_serial_means_one_at_a_time(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", stage="fix"), job("b", stage="fix"))
    assert shop.perform(serial=True) == ["begin a", "passed a", "begin b", "passed b"]


def test_what_needs_a_failure_does_not_run_and_the_rest_does(tmp_path: Path) -> None:
    shop = Shop(
        tmp_path,
        job("a", "exit 3"),
        job("b", needs=("a",)),
        job("c", needs=("b",)),
        job("d"),
        parallel=1,
    )
    assert sorted(shop.perform()) == [
        "begin a",
        "begin d",
        "failed a",
        "passed d",
        "unrun b because of a",
        "unrun c because of b",
    ]


def test_what_a_job_needs_is_over_before_it_starts(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", "sleep 0.1; touch built"), job("b", "ls built", needs=("a",)))
    assert shop.perform() == ["begin a", "passed a", "begin b", "passed b"]


def test_what_needs_a_job_that_was_refused_does_not_run(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("refused"), job("b", needs=("refused",)))
    assert shop.perform() == ["begin refused", "unrun b because of refused"]


def test_two_that_write_the_same_path_never_run_together(tmp_path: Path) -> None:
    old = Policy(file="tenure.toml", jobs={"t": job("t", "sleep 0.1", outputs=("r.xml",))})
    new = Policy(file="tenure.toml", jobs={"t": job("t", "true", outputs=("r.xml",))})
    shop = Shop(tmp_path, job("t"))
    shop.required = requirements(old, new)
    shop.workshop._required = shop.required
    shop.perform()
    assert sorted(name for group in shop.together for name in group) == ["t", "t@base"]
    assert all(len(group) == 1 for group in shop.together)


def test_when_it_has_to_stop_running_jobs_are_cancelled_and_nothing_starts(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", "touch started; sleep 600"), job("b"), parallel=1)
    shop.stop = (tmp_path / "started").exists
    assert shop.perform() == ["begin a", "cancelled a"]


@pytest.mark.parametrize("name", ["no-such-command-anywhere"])
def test_a_missing_command_is_a_result_and_not_a_crash(tmp_path: Path, name: str) -> None:
    missing = Job(name="gone", run=(name,))
    shop = Shop(tmp_path, missing, job("b", needs=("gone",)))
    assert shop.perform() == ["begin gone", "not_found gone", "unrun b because of gone"]


def test_the_hold_is_kept_while_jobs_run_and_only_by_this_loop(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", "for i in $(seq 20); do sleep 0.05; done"))
    assert shop.ticks == 0
    shop.perform()
    assert shop.ticks >= 3
