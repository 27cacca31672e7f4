"""Runs of other frameworks are stopped, overtaken and killed. Their sessions stay one line."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tenure.faces.guests import keep_of, open_store
from tenure.runtime.guests.checkpoints import CheckpointStore
from tenure.runtime.guests.item_list import ItemList
from tests.crash.hosts import Host, side_by_side

GUEST = Path(__file__).parent / "guest.py"
RUN = ["question", "call", "result", "answer"]

#: A run adds its question, what its tool said, and its answer.
BEFORE_A_WRITE = [f"add_items:begin#{number}" for number in (2, 3)]
INSIDE_A_WRITE = [f"add_items:begin#2>{moment}" for moment in ("acquire:read", "store:commit")]


def host(act: str, store: Path, faults: str = "") -> Host:
    """A run in a process of its own."""
    return Host(act, store, faults=faults, worker=GUEST)


def kept(store: Path) -> list[str]:
    """What is in the session."""

    async def read() -> list[Any]:
        with open_store(f"sqlite:///{store}") as opened:
            return await ItemList(keep_of(opened), "c", "openai-agents").read(None)

    return asyncio.run(read())


@pytest.mark.parametrize("act", ["items", "items-held"])
def test_a_run_that_was_stopped_and_overtaken_writes_nothing_more(act: str, tmp_path: Path):
    """It is stopped before a write, another process runs meanwhile, and it goes on."""
    refusal = "HoldLost" if act.endswith("-held") else "HeadConflict"

    def overtaken(moment: str) -> None:
        store = tmp_path / f"{moment}.db"
        with host(act, store, f"{moment}=stop") as ours:
            ours.await_stopped()
            had = kept(store)
            with host(act, store) as theirs:
                assert theirs.answers() == [{"said": "answer"}]
            ours.process.go_on()
            (told,) = ours.answers()
        assert told["refused"] == refusal
        assert kept(store) == [*had, *RUN]

    side_by_side(overtaken, BEFORE_A_WRITE)


@pytest.mark.parametrize("act", ["items", "items-held"])
def test_a_run_that_was_stopped_and_left_alone_goes_on(act: str, tmp_path: Path):
    """However long: a lapse alone loses nothing."""
    store = tmp_path / "agents.db"
    with host(act, store, "add_items:begin#2=stop") as ours:
        ours.await_stopped()
        ours.process.go_on()
        assert ours.answers() == [{"said": "answer"}]
    assert kept(store) == RUN


def test_a_run_killed_in_the_middle_of_a_write_leaves_all_of_it_or_nothing(tmp_path: Path):
    def killed(moment: str) -> None:
        store = tmp_path / f"{moment}.db"
        with host("items", store, f"{moment}=kill") as ours:
            ours.expect_killed()
        had = kept(store)
        assert had == (RUN[:3] if moment.endswith("committed") else RUN[:1])
        with host("items", store) as theirs:
            assert theirs.answers() == [{"said": "answer"}], "nobody's lane is in its way"
        assert kept(store) == [*had, *RUN]

    side_by_side(killed, [*INSIDE_A_WRITE, "add_items:begin#2>store:committed"])


def test_a_run_killed_while_it_held_the_session_is_followed_after_its_lease(tmp_path: Path):
    store = tmp_path / "agents.db"
    with host("items-held", store, "add_items:begin#2>store:commit=kill") as ours:
        ours.expect_killed()
    with host("items-held", store) as theirs:
        assert theirs.answers() == [{"said": "answer"}]
    assert kept(store) == [*RUN[:1], *RUN]


def steps(store: Path) -> list[tuple[int, int]]:
    """How many values and writes each checkpoint of the thread has, the first one first."""
    with open_store(f"sqlite:///{store}") as opened:
        kept = opened.store.beside(CheckpointStore)
        page = kept.page("c", None, None, 100)
        found = [kept.whole(one) for one in reversed(page)]
        parents = [one.parent for one in reversed(page)]
        assert parents == [None, *(one.id for one in reversed(page))][:-1], "one line"
        return [(len(one.values), len(one.writes)) for one in found]


@pytest.mark.parametrize("act", ["thread", "thread-held"])
def test_a_graph_that_was_stopped_and_overtaken_writes_nothing_more(act: str, tmp_path: Path):
    refusal = "HoldLost" if act.endswith("-held") else "HeadConflict"

    def overtaken(moment: str) -> None:
        store = tmp_path / f"{moment}.db"
        with host(act, store, f"{moment}=stop") as ours:
            ours.await_stopped()
            had = steps(store)
            with host(act, store) as theirs:
                assert theirs.answers() == [{"said": "answer"}]
            ours.process.go_on()
            (told,) = ours.answers()
        assert told["refused"] == refusal
        assert steps(store) == [*had, (1, 1), (1, 1), (1, 1)]

    side_by_side(overtaken, ["put_checkpoint:begin#2", "put_writes:begin#2"])


def test_a_graph_killed_in_the_middle_of_a_write_leaves_all_of_it_or_nothing(tmp_path: Path):
    def killed(moment: str) -> None:
        store = tmp_path / f"{moment}.db"
        with host("thread", store, f"{moment}=kill") as ours:
            ours.expect_killed()
        had = steps(store)
        assert had == ([(1, 1), (1, 0)] if moment.endswith("committed") else [(1, 1)])
        with host("thread", store) as theirs:
            assert theirs.answers() == [{"said": "answer"}], "nobody's lane is in its way"
        assert steps(store) == [*had, (1, 1), (1, 1), (1, 1)]

    moments = ("acquire:read", "store:commit", "store:committed")
    side_by_side(killed, [f"put_checkpoint:begin#2>{moment}" for moment in moments])
