"""A place for the jobs of one run."""

import os
from pathlib import Path

import pytest

from tests.gate.jobs.floor import Floor


@pytest.fixture
def floor(tmp_path: Path) -> Floor:
    return Floor(tmp_path, f"run-{os.urandom(6).hex()}")
