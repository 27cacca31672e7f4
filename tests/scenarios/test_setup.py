"""A checkout that is being set up: it can be followed, waited for and cancelled like any run."""

from pathlib import Path

import pytest

from tests.scenarios.stage import HOUR, Stage
from tests.waiting import until

SETUP = """\
[setup]
run = "sh job.sh prepare"
inputs = ["job.sh"]
set-env = {{ STORY = "{story}" }}
"""


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A checkout whose setup goes on until the story lets it end."""
    stage = Stage(tmp_path, lease=HOUR, jobs={"suite": "test"}, extra=SETUP)
    stage.hold("prepare")
    return stage


def test_a_setup_under_way_can_be_cancelled_and_begins_anew(stage: Stage) -> None:
    first = stage.done()
    stage.await_job("prepare")
    stage.tenure("cancel").expect(0)
    first.expect(4)
    assert stage.recorded()[0].attempt is None, "nothing was bound"
    stage.let_go("prepare")
    stage.done().expect(0)
    assert stage.began == ["prepare", "prepare", "suite"]
    stage.check()
    stage.everybody_is_gone()


def test_who_asks_in_a_checkout_that_is_being_set_up_waits_for_it(stage: Stage) -> None:
    first = stage.done()
    stage.await_job("prepare")
    second = stage.done()
    until(lambda: len(stage.recorded()) == 2, "the second waits for the checkout")
    stage.let_go("prepare")
    first.expect(0)
    second.expect(0)
    assert stage.began == ["prepare", "suite"], "once for both"
    stage.check()
    stage.everybody_is_gone()
