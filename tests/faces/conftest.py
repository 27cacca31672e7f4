"""A run that waits, for tests that look at one while it goes on."""

import pytest

from tests.faces.calls import HOLD, gated, job, start
from tests.waiting import until


@pytest.fixture
def held(tmp_path):
    """A repository with a run whose job waits, and the call that started it."""
    repo = gated(tmp_path / "repo", job("lint", HOLD))
    call = start(repo, "done", "--json")
    until((repo / "out" / "began").exists, "the job runs")
    yield repo, call
    (repo / "out" / "go").touch()
    if call.poll() is None:
        call.wait(timeout=60)
    call.communicate()
