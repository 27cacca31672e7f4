"""Jobs run by stage, in parallel, after what they need; real processes, no store."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.gate.errors import CannotTell
from tenure.gate.jobs import slots
from tenure.gate.jobs.environment import job_environment
from tenure.gate.jobs.job import RunningJob
from tenure.gate.jobs.outcome import JobResult
from tenure.gate.jobs.slots import Holder
from tenure.gate.jobs.spawn import start
from tenure.gate.narration import JobWaiting
from tenure.gate.permits import Permits
from tenure.gate.place import Place
from tenure.gate.policy import Job, Policy, Stage
from tenure.gate.requirement import Requirement, RequirementSet, requirements
from tenure.gate.workshop import Keeping, Workshop
from tenure.kernel.clock import SystemClock
from tenure.testing.faults import Faults

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
        self.waited: list[JobWaiting] = []
        self.place = Place(str(tmp_path))
        self.permits = Permits(
            Holder(run="mine", job="", worktree="here"),
            self.place,
            {"TENURE_SLOTS": str(tmp_path / "slots")},
            self.waited.append,
            monotonic=CLOCK.monotonic,
            jitter=lambda: 0.0,
            inside=("outer",),
        )
        self.workshop = Workshop(self.required, keeping, CLOCK, self.permits, parallel=parallel)

    def _stopping(self) -> bool:
        return self.stop()

    def _tick(self, now: float) -> None:
        if now >= self.due:
            self.ticks += 1
            assert self.ticks < 200, "it waits for ever"
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
            pass_fds=self.permits.descriptors(name),
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
        holds=more.get("holds", ()),
    )


def held(shop: Shop, name: str, run: str = "other") -> list[int]:
    """A hold that somebody else has."""
    wanted = slots.Slot(directory=shop.place.hold(name), name=f"hold {name}", size=1)
    taken = slots.take([wanted], Holder(run=run, job="theirs", worktree="there"))
    assert isinstance(taken, list)
    return taken


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


def test_a_job_that_waits_for_a_hold_keeps_no_other_from_running(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", holds=("db",)), job("b"), job("c", needs=("a",)))
    taken = held(shop, "db")
    with Faults() as faults:
        faults.at("jobs.reaped", lambda: slots.give_back(taken))  # b is over then
        assert shop.perform() == [
            "begin b",
            "passed b",
            "begin a",
            "passed a",
            "begin c",
            "passed c",
        ]
    (told,) = shop.waited
    assert (told.requirement, told.wanted, told.runs) == ("a", "hold db", ("other",))
    assert told.holders == ("theirs of run other in there",)


def test_nothing_runs_and_the_hold_is_kept_while_a_job_waits(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", holds=("db",)))
    taken = held(shop, "db")
    seen = []

    def tick(now: float) -> None:
        seen.append(now)
        if len(seen) == 3:
            slots.give_back(taken)
        shop.due = now + 0.05

    shop.workshop._keeping.tick = tick
    assert shop.perform() == ["begin a", "passed a"]
    assert len(seen) >= 3
    assert shop.permits.fileno() == -1, "nothing is watched any more"


def test_whoever_has_to_stop_stops_waiting(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", holds=("db",)))
    taken = held(shop, "db")
    shop.stop = lambda: bool(shop.waited)
    assert shop.perform() == []
    slots.give_back(taken)
    assert shop.permits.fileno() == -1


def test_a_job_has_its_hold_until_it_is_over_and_no_longer(tmp_path: Path) -> None:
    """Seen by the job itself, through the descriptor, and by the next that needs it."""
    place = f"{Place(str(tmp_path)).hold('db')}/1"
    locked = f"! flock -n {place} true && touch seen"
    runs = {"refused": "true", "a": locked, "gone": "exit 3", "b": "true"}
    shop = Shop(tmp_path, *(job(name, run, holds=("db",)) for name, run in runs.items()))
    told = shop.perform()
    assert {"passed a", "failed gone", "passed b"} <= set(told)
    assert (tmp_path / "seen").exists()
    assert all(len(group) == 1 for group in shop.together)
    slots.give_back(held(shop, "db"))


def test_fix_jobs_keep_their_order_while_the_first_one_waits(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", stage="fix", holds=("db",)), job("b", stage="fix"))
    taken = held(shop, "db")
    with Faults() as faults:
        faults.at("permits.waiting", lambda: slots.give_back(taken))
        assert shop.perform(serial=True) == ["begin a", "passed a", "begin b", "passed b"]
    assert shop.waited


def test_what_would_wait_for_the_job_it_runs_in_says_so(tmp_path: Path) -> None:
    shop = Shop(tmp_path, job("a", holds=("db",)))
    taken = held(shop, "db", run="outer")
    with pytest.raises(CannotTell, match="this run is inside theirs of run outer"):
        shop.perform()
    slots.give_back(taken)
