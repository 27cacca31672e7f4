"""The board: what the events of a run add up to, for whoever shows it."""

from typing import Literal

import msgspec

from tenure.gate.narration import (
    AnyEvent,
    Began,
    JobBegan,
    JobEnded,
    JobWaiting,
    Planned,
    Waiting,
)

State = Literal["to come", "waiting", "running", "ended"]


class Task(msgspec.Struct, kw_only=True):
    """One job of the run."""

    name: str
    stage: str = ""
    reasons: tuple[str, ...] = ()  #: why nothing could be reused
    estimate: float | None = None  #: seconds it took last time
    state: State = "to come"
    since_wall_ns: int = 0  #: when it began to run or to wait
    waits_for: str = ""
    outcome: str = ""
    seconds: float = 0.0
    detail: str = ""


class Board:
    """What is known of the run that is shown. A run that begins takes the place of the one before."""

    def __init__(self) -> None:
        self._awaited: str | None = None  #: the run that we said we wait for
        self._clear()

    def _clear(self) -> None:
        self.run = ""
        self.worktree = ""
        self.began_wall_ns = 0
        self.followed = False  #: whether it is somebody else's run
        self.waits_for = ""  #: what it waits for as a whole, before its first job
        self.planned = False
        self.reused: dict[str, str] = {}  #: requirement to the run it comes from
        self.tasks: dict[str, Task] = {}

    def take(self, event: AnyEvent) -> None:
        """Take note of an event."""
        match event:
            case Began():
                self._clear()
                self.run, self.worktree = event.run, event.worktree
                self.began_wall_ns = event.wall_ns
                self.followed = event.run == self._awaited
            case Waiting():
                self.waits_for, self._awaited = event.reason, event.other
            case Planned():
                self.planned, self.waits_for = True, ""
                self.reused = dict(event.reused)
                for name, reasons in event.execute.items():
                    task = self._task(name)
                    task.reasons, task.stage = reasons, event.stages.get(name, "")
                    task.estimate = event.estimate.get(name)
            case JobWaiting():
                task = self._task(event.requirement)
                if task.state != "waiting":
                    task.state, task.since_wall_ns = "waiting", event.wall_ns
                task.waits_for = f"{event.wanted}: {'; '.join(event.holders)}"
            case JobBegan():
                task = self._task(event.requirement)
                task.state, task.since_wall_ns = "running", event.wall_ns
            case JobEnded():
                task = self._task(event.requirement)
                task.state, task.outcome = "ended", event.outcome
                task.seconds, task.detail = event.seconds, event.detail
            case _:
                pass

    def _task(self, name: str) -> Task:
        return self.tasks.setdefault(name, Task(name=name))

    def of_state(self, state: State) -> list[Task]:
        """The jobs in one state, as they were planned."""
        return [task for task in self.tasks.values() if task.state == state]

    @property
    def failed(self) -> list[Task]:
        """The jobs that ended and did not pass."""
        return [task for task in self.of_state("ended") if task.outcome != "passed"]
