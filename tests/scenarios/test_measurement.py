"""Committed measurement is held, lost and repaired as `done` is, and never leaves a Proof.

Every step is played in the soak; a run of CI plays those at which the two could differ. The
retirements and the lapses of every step are in `tests/gate/test_measuring.py` as well, without
processes.
"""

from functools import partial
from pathlib import Path

import pytest

from tests.scenarios.stage import HOUR, JOB, JOBS, Stage
from tests.scenarios.steps import ACTS, EVERY, Step, play
from tests.scenarios.test_killed import all_but_the_jobs, the_runner
from tests.scenarios.test_retired import (
    retirable,
    retired_by_another_question,
    retired_by_the_same_question,
)
from tests.scenarios.test_stopped import stopped_and_continued

measuring = partial(
    Stage,
    verb="standards",
    files={"job.sh": JOB + 'echo "TENURE_METRIC size 12"\n'},
    extra="".join(
        f'[standards.of-{job}]\nfrom = "{job}"\nmetric = {{{{ line = "size" }}}}\n'
        'direction = "up"\nlimit = 10\n'
        for job in JOBS
    ),
)

WHERE_IT_DIFFERS = ("run.finish:suite", "run.measure", "run.settle")

#: Steps by name: some for every run of CI, and all of each act for the soak.
STEPS = [
    pytest.param([step for step in EVERY if step.point in WHERE_IT_DIFFERS], id="some"),
    *(pytest.param(list(steps), id=act, marks=pytest.mark.soak) for act, steps in ACTS.items()),
]

at_steps = pytest.mark.parametrize("steps", STEPS)


@at_steps
def test_a_measurement_retired_by_the_same_question_ends_cancelled(
    steps: list[Step], tmp_path: Path
):
    play(retired_by_the_same_question, retirable(steps), measuring, tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("act", ACTS)
def test_a_measurement_retired_by_another_question_ends_cancelled(act: str, tmp_path: Path):
    play(retired_by_another_question, retirable(ACTS[act]), measuring, tmp_path)


@at_steps
def test_a_measurement_stopped_past_its_lease_passes(steps: list[Step], tmp_path: Path):
    play(stopped_and_continued, steps, measuring, tmp_path)


@at_steps
def test_a_measurement_whose_runner_is_killed_is_repaired_by_the_next(
    steps: list[Step], tmp_path: Path
):
    play(the_runner, steps, partial(measuring, lease=HOUR), tmp_path)


@pytest.mark.soak
@pytest.mark.parametrize("act", ACTS)
def test_a_measurement_killed_with_its_supervisor_and_follower_is_repaired_by_the_next(
    act: str, tmp_path: Path
):
    play(all_but_the_jobs, ACTS[act], partial(measuring, lease=HOUR), tmp_path)
