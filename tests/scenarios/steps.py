"""Every step of a run at which a story can strike, and playing one story at many steps at once.

Most of a story is waiting for a lease to lapse, so all steps of an act are played side by
side, each on a stage of its own.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.scenarios.stage import Stage


class Step(NamedTuple):
    """A point in the protocol, and what holds there."""

    point: str
    held: tuple[str, ...] = ()  #: jobs that have to be running for the point to be reached
    binds: bool = True  #: whether the attempt is bound when the point is reached
    writing: bool = False  #: whether the store is locked by a transaction there


#: By the part of the protocol they belong to.
ACTS: dict[str, tuple[Step, ...]] = {
    "binding": (
        Step("run.start", binds=False),
        Step("run.checkout", binds=False),
        Step("run.recover", binds=False),
        Step("run.plan", binds=False),
        Step("run.bind", binds=False),
        Step("bind:read", binds=False, writing=True),
        Step("run.bound"),
    ),
    "fixing": (
        Step("run.fix"),
        Step("run.begin:format"),
        Step("hold:read"),
        Step("jobs.spawned", held=("format",)),
        Step("run.finish:format"),
        Step("run.baseline"),
        Step("run.publish"),
        Step("hold:read#2", writing=True),
    ),
    "judging": (
        Step("run.jobs"),
        Step("run.begin:lint"),
        Step("jobs.spawned#2", held=("lint",)),
        Step("run.begin:suite"),
        Step("jobs.spawned#3", held=("suite",)),
        Step("run.finish:lint", held=("suite",)),
        Step("run.publish#2", held=("suite",)),
        Step("renew:read", held=("suite",), writing=True),
        Step("run.finish:suite"),
    ),
    "settling": (
        Step("run.publish#3"),
        Step("run.measure"),
        Step("run.closing"),
        Step("run.settle"),
        Step("settle:read", writing=True),
        Step("run.settled"),
    ),
}

EVERY = [step for act in ACTS.values() for step in act]


def play(
    story: Callable[[Stage, Step], None],
    steps: Iterable[Step],
    stage: Callable[[Path], Stage],
    root: Path,
) -> None:
    """Play a story at each of the steps, all at once.

    Raises:
        ExceptionGroup: what went wrong, each with the step at which it did.
    """
    failures: list[Exception] = []

    def one(step: Step) -> None:
        try:
            story(stage(root / step.point.replace(":", "-").replace("#", "-")), step)
        except (Exception, AssertionError) as error:
            error.add_note(f"at {step.point}")
            failures.append(error)

    steps = list(steps)
    with ThreadPoolExecutor(len(steps)) as pool:
        list(pool.map(one, steps))
    if failures:
        raise ExceptionGroup("the story went wrong", failures)
