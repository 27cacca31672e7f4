"""The store in memory keeps the law books."""

from collections.abc import Iterator

import pytest

from tenure.gate.stores.memory import memory_rows
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.runtime.stores.memory import memory_runtime_rows
from tenure.testing.conformance.attempts import AttemptLaws
from tenure.testing.conformance.backend import Backend
from tenure.testing.conformance.claims import ClaimLaws
from tenure.testing.conformance.clearing import ClearingLaws
from tenure.testing.conformance.commits import CommitLaws
from tenure.testing.conformance.gate import GateLaws
from tenure.testing.conformance.gate_scene import GateBackend
from tenure.testing.conformance.guests import GuestLaws
from tenure.testing.conformance.lanes import LaneLaws
from tenure.testing.conformance.races import RaceLaws
from tenure.testing.conformance.replies import ReplyLaws
from tenure.testing.conformance.session_scene import SessionBackend
from tenure.testing.conformance.sessions import AdmissionLaws, JournalLaws
from tenure.testing.conformance.store import StoreLaws
from tenure.testing.conformance.takers import TakerLaws
from tenure.testing.conformance.waits import WaitLaws


@pytest.fixture
def backend() -> Iterator[Backend]:
    tables = MemoryTables()
    backend = Backend(lambda busy_seconds: MemoryDatabase(tables, busy_seconds=busy_seconds))
    yield backend
    backend.close()


@pytest.fixture
def gate(backend: Backend) -> GateBackend:
    return GateBackend(backend, memory_rows)


@pytest.fixture
def sessions(backend: Backend) -> SessionBackend:
    return SessionBackend(backend, memory_runtime_rows)


class TestStores(StoreLaws):
    pass


class TestAttempts(AttemptLaws):
    pass


class TestLanes(LaneLaws):
    pass


class TestClaims(ClaimLaws):
    pass


class TestRaces(RaceLaws):
    pass


class TestReplies(ReplyLaws):
    pass


class TestTakers(TakerLaws):
    pass


class TestGate(GateLaws):
    pass


class TestClearing(ClearingLaws):
    pass


class TestAdmission(AdmissionLaws):
    pass


class TestJournal(JournalLaws):
    pass


class TestCommit(CommitLaws):
    pass


class TestWaits(WaitLaws):
    pass


class TestGuests(GuestLaws):
    pass
