"""Both stores, each as an address."""

from pathlib import Path

import pytest


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store that nothing is in yet."""
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/agents.db"


@pytest.fixture
def shared(tmp_path: Path) -> str:
    """A store that several runtimes can have open."""
    return f"sqlite:///{tmp_path}/agents.db"
