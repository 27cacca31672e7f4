"""The gate's store in memory keeps its law book."""

from collections.abc import Iterator

import pytest

from tenure.gate.stores.memory import memory_rows
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.testing.conformance.backend import Backend
from tenure.testing.conformance.gate import GateLaws
from tenure.testing.conformance.gate_scene import GateBackend


@pytest.fixture
def gate() -> Iterator[GateBackend]:
    tables = MemoryTables()
    backend = Backend(lambda busy_seconds: MemoryDatabase(tables, busy_seconds=busy_seconds))
    yield GateBackend(backend, memory_rows)
    backend.close()


class TestGate(GateLaws):
    pass
