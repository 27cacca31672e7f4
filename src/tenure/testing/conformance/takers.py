"""The law book of takers: many at once, one winner, and nobody in the dark (L4, S2)."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

from tenure.kernel.errors import HoldLost, LaneBusy, RevisionConflict
from tenure.testing.conformance.answers import answer
from tenure.testing.conformance.backend import Backend, Caller
from tenure.testing.conformance.requests import (
    LANE,
    LAPSED,
    REPOSITORY,
    TTL,
    acquire_request,
    bind_request,
)

T = TypeVar("T")

TAKERS = [f"taker{number}" for number in range(8)]


class TakerLaws:
    """Bound to a backend by a subclass with a `backend` fixture."""

    def at_once(self, backend: Backend, call: Callable[[str, Caller], T]) -> list[T]:
        """Everybody's answer, after all of them started together, each on its own handle."""
        barrier = threading.Barrier(len(TAKERS))

        def taker(name: str) -> T:
            caller = backend.caller()
            barrier.wait()
            return call(name, caller)

        with ThreadPoolExecutor(len(TAKERS)) as threads:
            return list(threads.map(taker, TAKERS))

    @pytest.mark.parametrize("vacant", [True, False])
    def test_l4_of_many_binds_one_wins_and_the_others_follow_it(
        self, backend: Backend, vacant: bool
    ) -> None:
        caller = backend.caller()
        if not vacant:
            caller.bind(bind_request("ann"))
            backend.clock.advance(TTL)
        records = self.at_once(backend, lambda name, mine: mine.bind(bind_request(name)))
        winners = [record for record in records if record.bound]
        assert len(winners) == 1
        followed = Counter(record.joined for record in records)
        assert followed == {None: 1, winners[0].id: len(TAKERS) - 1}
        assert caller.unfinished(REPOSITORY) == winners

    def test_l4_sequences_are_dense(self, backend: Backend) -> None:
        records = self.at_once(
            backend, lambda name, mine: [mine.bind(bind_request(f"{name}-{n}")) for n in range(5)]
        )
        numbers = sorted(record.sequence for mine in records for record in mine)
        assert numbers == list(range(1, 5 * len(TAKERS) + 1))

    def test_l4_of_many_retirers_one_wins(self, backend: Backend) -> None:
        seen = backend.caller().bind(bind_request("ann"))
        backend.clock.advance(TTL)
        answers = self.at_once(
            backend,
            lambda name, mine: answer(lambda caller: caller.retire(seen, name, LAPSED), mine),
        )
        assert Counter(answers) == {"cancelled": 1, "RevisionConflict": len(TAKERS) - 1}
        ended = backend.caller().attempt(seen.id)
        assert ended is not None
        assert ended.revision == 2

    @pytest.mark.parametrize("vacant", [True, False])
    def test_l4_of_many_acquisitions_one_wins_and_the_others_are_told_who(
        self, backend: Backend, vacant: bool
    ) -> None:
        if not vacant:
            backend.caller().acquire(acquire_request("ann"))
            backend.clock.advance(TTL)

        def take(name: str, caller: Caller) -> str:
            try:
                return str(caller.acquire(acquire_request(name)).record.executor)
            except LaneBusy as busy:
                return f"after {busy.holder}"

        answers = Counter(self.at_once(backend, take))
        lane = backend.caller().lane(LANE)
        assert lane is not None
        assert lane.generation == (1 if vacant else 2)
        winner = str(lane.executor)
        assert answers == {winner: 1, f"after {winner}": len(TAKERS) - 1}

    def test_s2_under_contention_every_holder_had_a_generation_of_its_own(
        self, backend: Backend
    ) -> None:
        """Everybody acquires and releases in turns; generations are dense and held once."""

        def turns(name: str, caller: Caller) -> list[int]:
            got: list[int] = []
            n = 0
            while len(got) < 5:
                n += 1
                try:
                    held = caller.acquire(acquire_request(name, n))
                except LaneBusy:
                    continue
                got.append(held.fence.generation)
                caller.release(held.fence)
            return got

        generations = sorted(g for mine in self.at_once(backend, turns) for g in mine)
        assert generations == list(range(1, 5 * len(TAKERS) + 1))

    def test_s1_of_a_holder_that_settles_and_many_that_retire_one_is_recorded(
        self, backend: Backend
    ) -> None:
        seen = backend.caller().bind(bind_request("ann"))
        backend.clock.advance(TTL)

        def act(name: str, caller: Caller) -> bool:
            try:
                if name == TAKERS[0]:
                    caller.settle(seen.fence)
                else:
                    caller.retire(seen, name, LAPSED)
            except (HoldLost, RevisionConflict):
                return False
            return True

        assert Counter(self.at_once(backend, act)) == {True: 1, False: len(TAKERS) - 1}
        record = backend.caller().attempt(seen.id)
        assert record is not None
        assert record.revision == 2
