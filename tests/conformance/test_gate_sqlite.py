"""The gate's store in a SQLite file keeps its law book."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.gate.stores.sqlite.rows import LINES, sqlite_rows
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.testing.conformance.backend import Backend
from tenure.testing.conformance.gate import GateLaws
from tenure.testing.conformance.gate_scene import GateBackend


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[GateBackend]:
    path = tmp_path / "tenure.db"
    backend = Backend(
        lambda busy_seconds: SqliteDatabase.open(path, lines=LINES, busy_seconds=busy_seconds)
    )
    yield GateBackend(backend, sqlite_rows)
    backend.close()


class TestGate(GateLaws):
    pass
