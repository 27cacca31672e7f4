"""The server that this folder's tests talk to. What is missing fails them; nothing is skipped."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

#: Next to what was installed, so that `make clean` takes it along.
MODELS = Path(sys.prefix) / "models"

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a real llama.cpp server listens."""
    log = tmp_path_factory.mktemp("llm") / "server.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "tests.llm.server", str(MODELS)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            line = next((line for line in server.stdout if line.startswith("http")), "")
            assert line, f"no server, run `make test-llm`:\n{log.read_text()[-2000:]}"
            yield line.strip()
        finally:
            server.stdin.close()
            server.kill()
