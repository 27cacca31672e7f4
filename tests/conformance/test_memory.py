"""The store in memory keeps the law books."""

from collections.abc import Iterator

import pytest

from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.testing.conformance.attempts import AttemptLaws
from tenure.testing.conformance.backend import Backend
from tenure.testing.conformance.claims import ClaimLaws
from tenure.testing.conformance.lanes import LaneLaws
from tenure.testing.conformance.races import RaceLaws
from tenure.testing.conformance.replies import ReplyLaws
from tenure.testing.conformance.store import StoreLaws
from tenure.testing.conformance.takers import TakerLaws


@pytest.fixture
def backend() -> Iterator[Backend]:
    tables = MemoryTables()
    backend = Backend(lambda busy_seconds: MemoryDatabase(tables, busy_seconds=busy_seconds))
    yield backend
    backend.close()


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
