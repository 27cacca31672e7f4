"""Answers, timers and suspensions in every order: one answer, and a turn that always goes on."""

import itertools
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tenure.kernel.fence import Fence
from tenure.kernel.stores.memory import MemoryDatabase, MemoryTables
from tenure.kernel.stores.sqlite.store import SqliteDatabase
from tenure.runtime.driving import Assignment
from tenure.runtime.model.wait import Answered, OpenWait, Resolution
from tenure.runtime.stores.memory import memory_runtime_rows
from tenure.runtime.stores.sqlite.rows import LINES, sqlite_runtime_rows
from tenure.testing.conformance.backend import Backend
from tenure.testing.conformance.session_scene import CHAT, SessionBackend, commit_of
from tenure.testing.conformance.waits import question

SECONDS = 10.0
#: Random histories; all of them take a minute and a half.
SEEDS = int(os.environ.get("TENURE_SEEDS", "300"))


def in_memory() -> SessionBackend:
    tables = MemoryTables()
    backend = Backend(lambda busy_seconds: MemoryDatabase(tables, busy_seconds=busy_seconds))
    return SessionBackend(backend, memory_runtime_rows)


@pytest.fixture(params=["memory", "sqlite"])
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], SessionBackend]]:
    """Makes a store with the session in it, as often as it is asked."""
    made: list[SessionBackend] = []

    def sqlite() -> SessionBackend:
        path = tmp_path / f"{len(made)}.db"

        def opened(busy_seconds: float) -> SqliteDatabase:
            return SqliteDatabase.open(path, lines=LINES, busy_seconds=busy_seconds)

        made.append(SessionBackend(Backend(opened), sqlite_runtime_rows))
        return made[-1]

    yield in_memory if request.param == "memory" else sqlite
    for backend in made:
        backend.kernel.close()


def said(value: str) -> Resolution:
    return Resolution(word="value", value=value)


def test_two_resolvers_and_a_timer_in_every_order(fresh: Callable[[], SessionBackend]) -> None:
    for order in itertools.permutations(("suspend", "yes", "no", "time")):
        sessions = fresh()
        sessions.ask("w1")
        assigned, ann = sessions.assign("ann")
        wait = sessions.store.open_wait(ann, question(), SECONDS)
        answers: dict[str, Answered] = {}
        driven = True
        for what in order:
            if what == "suspend":
                claim = assigned.turn.claim or ""
                driven = bool(sessions.store.suspend("turn-w1", claim, ann, (), [wait.id]).ended)
            elif what == "time":
                sessions.kernel.clock.advance(SECONDS)
            else:
                answers[what] = sessions.store.resolve(wait.key, said(what))
        expected = said(next(one for one in order if one in ("yes", "no")))
        if order.index("time") < min(order.index("yes"), order.index("no")):
            expected = Resolution(word="timeout", value="nobody answered in time")
        assert {one.resolution for one in map(_hashable, answers.values())} == {_key(expected)}, (
            order
        )
        assert sum(one.first for one in answers.values()) == (expected.word == "value"), order
        assert driven != (sessions.store.to_drive(10) == [CHAT]), f"{order}: one of them goes on"
        if not driven:
            found, _ = sessions.assign("bob")
            assert [row.resolution for row in found.waits] == [expected], order


class _Told:
    def __init__(self, resolution: str) -> None:
        self.resolution = resolution


def _key(resolution: Resolution) -> str:
    return f"{resolution.word}:{resolution.value}"


def _hashable(answered: Answered) -> _Told:
    return _Told(_key(answered.resolution))


class History:
    """Two drivers, three waits and many resolvers, in an order that a seed decides."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._sessions = in_memory()
        self._sessions.ask("w1")
        self._driver: tuple[Assignment, Fence] | None = self._sessions.assign("ann")
        self._picks = 1
        self._open: dict[str, OpenWait] = {}
        self._known: dict[str, str] = {}  #: how each wait ended, as it was first told

    def run(self) -> None:
        """Go on until every wait has ended, and commit."""
        for _ in range(200):
            self._random.choice((self._ask, self._suspend, self._answer, self._pick, self._rest))()
            if len(self._known) == len(NAMES):
                break
        while self._driver is None:
            self._answer()  # what it waits for may have all the time there is
            self._pick()
            self._sessions.kernel.clock.advance(SECONDS)
        assigned, fence = self._driver
        self._sessions.store.commit(commit_of(assigned, fence))
        for wait in self._open.values():
            self._told(wait, self._sessions.store.resolve(wait.key, said("late")).resolution)

    def _ask(self) -> None:
        if self._driver is None:
            return
        name = self._random.choice(NAMES)
        seconds = self._random.choice((None, SECONDS))
        wait = self._sessions.store.open_wait(self._driver[1], question(name=name), seconds)
        self._open.setdefault(wait.id, wait)
        if wait.resolution is not None:
            self._told(wait, wait.resolution)

    def _suspend(self) -> None:
        left = [wait.id for wait in self._open.values() if wait.id not in self._known]
        if self._driver is None or not left:
            return
        assigned, fence = self._driver
        got = self._sessions.store.suspend("turn-w1", assigned.turn.claim or "", fence, (), left)
        if not got.ended:
            self._driver = None
            assert self._sessions.store.to_drive(10) == [], "nothing it waits for has ended"

    def _answer(self) -> None:
        if not self._open:
            return
        wait = self._random.choice(list(self._open.values()))
        value = str(self._random.randrange(1000))
        waited = self._driver is None
        got = self._sessions.store.resolve(wait.key, said(value))
        assert not (got.first and wait.id in self._known), "a second answer"
        self._told(wait, got.resolution)
        if waited and got.first:
            assert self._sessions.store.to_drive(10) == [CHAT], "an answer wakes nobody"

    def _pick(self) -> None:
        if self._driver is not None or self._sessions.store.to_drive(10) == []:
            return
        self._picks += 1
        assigned, _ = self._driver = self._sessions.assign("bob", self._picks)
        ended = [row for row in assigned.waits if row.resolution is not None]
        assert ended, "it was woken for nothing"
        assert assigned.turn.drives == 1

    def _rest(self) -> None:
        self._sessions.kernel.clock.advance(self._random.choice((0.5, SECONDS)))
        if self._driver is not None:
            self._sessions.store.renew(self._driver[1])

    def _told(self, wait: OpenWait, resolution: Resolution) -> None:
        assert self._known.setdefault(wait.id, _key(resolution)) == _key(resolution)


NAMES = ("one", "two", "three")


@pytest.mark.parametrize("block", range(3))
def test_no_wake_is_lost_and_no_second_answer_counts(block: int) -> None:
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        try:
            History(seed).run()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
