"""The store in a SQLite file keeps the law books."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.gate.stores.sqlite.rows import LINES, sqlite_rows
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.runtime.stores.sqlite.rows import RUNTIME_LINE, sqlite_runtime_rows
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


def open_store(path: Path, busy_seconds: float) -> SqliteDatabase:
    return SqliteDatabase.open(path, lines=(*LINES, RUNTIME_LINE), busy_seconds=busy_seconds)


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    path = tmp_path / "tenure.db"
    backend = Backend(lambda busy_seconds: open_store(path, busy_seconds))
    yield backend
    backend.close()


@pytest.fixture
def gate(backend: Backend) -> GateBackend:
    return GateBackend(backend, sqlite_rows)


@pytest.fixture
def sessions(backend: Backend) -> SessionBackend:
    return SessionBackend(backend, sqlite_runtime_rows)


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
