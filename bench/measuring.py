"""Measuring several things side by side, so that the machine's moods meet all of them alike."""

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Samples(NamedTuple):
    """What one case took, in milliseconds, in the order in which it was measured."""

    milliseconds: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least: what the work takes when nothing else disturbs it."""
        return min(self.milliseconds)

    @property
    def median(self) -> float:
        """The middle one: what a caller meets on this machine as it is."""
        return statistics.median(self.milliseconds)


class Case:
    """One thing to measure. `prepare` runs before each round and is not counted."""

    def __init__(self, act: Callable[[], None], prepare: Callable[[], None] | None = None) -> None:
        self.act = act
        self.prepare = prepare or _nothing


def interleaved(cases: Mapping[str, Case], rounds: int, *, warm: int = 1) -> dict[str, Samples]:
    """Measure every case once in each round; the first `warm` rounds are not counted."""
    taken: dict[str, list[float]] = {name: [] for name in cases}
    for turn in range(warm + rounds):
        for name, case in cases.items():
            case.prepare()
            begin = time.perf_counter()
            case.act()
            spent = time.perf_counter() - begin
            if turn >= warm:
                taken[name].append(spent * 1000)
    return {name: Samples(tuple(values)) for name, values in taken.items()}


def command(
    words: Sequence[str], cwd: str, *, environment: Mapping[str, str] | None = None
) -> Callable[[], None]:
    """Run a command to its end with its output read and dropped.

    The callable raises RuntimeError with that output if the command fails.
    """
    given = dict(environment or clean_environment())

    def act() -> None:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode != 0:
            said = done.stdout.decode("utf-8", "replace")[-2000:]
            raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}:\n{said}")

    return act


def clean_environment() -> dict[str, str]:
    """The environment of everything that is measured: the caller's without what slows Python."""
    slow = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONDEVMODE", "PYTHONWARNINGS")
    return {name: value for name, value in os.environ.items() if name not in slow}


def load() -> str:
    """How busy the machine is: the averages over one, five and fifteen minutes."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return " ".join(file.read().split()[:3])


def _nothing() -> None:
    """Prepare nothing."""
