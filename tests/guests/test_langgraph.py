"""LangGraph on checkpoints in a Tenure store."""

import asyncio
import operator
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Annotated, TypedDict

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, ChannelVersions, empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import Capability
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt

from tenure import LeaseTimings
from tenure.faces.guests import open_store
from tenure.faces.langgraph import TenureSaver
from tenure.kernel.errors import HoldLost, LaneBusy
from tenure.runtime.errors import HeadConflict, SessionDeleted, WiringError
from tenure.runtime.guests.checkpoints import CheckpointStore
from tenure.runtime.guests.keep import OpenStore
from tenure.testing.clock import VirtualClock


@pytest.mark.parametrize("backend", ["sqlite", "memory"])
def test_the_whole_of_langgraphs_own_conformance_suite_passes(backend: str, tmp_path: Path):
    """Every capability, the optional ones too, and no test of it left out."""
    address = "memory://" if backend == "memory" else f"sqlite:///{tmp_path}/agents.db"

    @checkpointer_test(name=f"tenure {backend}")
    async def saver() -> AsyncIterator[BaseCheckpointSaver[str]]:
        with open_store(address) as store:
            yield TenureSaver(store)

    report = asyncio.run(validate(saver))
    told = {name: result.failures for name, result in report.results.items() if result.failures}
    assert told == {}
    assert set(report.results) == {capability.value for capability in Capability}
    assert all(result.passed and result.detected for result in report.results.values())
    assert sum(result.tests_passed for result in report.results.values()) == 81


class State(TypedDict, total=False):
    """What the graphs here are about."""

    said: Annotated[list[str], operator.add]


class Clerk:
    """A graph that asks whether it may refund, and counts its refunds."""

    def __init__(self, store: OpenStore) -> None:
        self.refunds = 0
        self.saver = TenureSaver(store)
        builder = StateGraph(State)
        builder.add_node("ask", self._ask)
        builder.add_node("refund", self._refund)
        builder.add_edge(START, "ask")
        builder.add_edge("ask", "refund")
        self.graph = builder.compile(checkpointer=self.saver)

    def _ask(self, state: State) -> State:
        return {"said": [f"allowed: {interrupt('refund?')}"]}

    def _refund(self, state: State) -> State:
        self.refunds += 1
        return {"said": ["refunded"]}

    def asks(self) -> None:
        """Run until it asks."""
        self.graph.invoke({"said": ["order 7"]}, THREAD)

    def is_told(self, answer: object) -> list[str]:
        """Answer it, and what was said by the end."""
        said: list[str] = self.graph.invoke(Command(resume=answer), THREAD)["said"]
        return said


THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}
TTL = 30.0
SAID = ["order 7", "allowed: yes", "refunded"]


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def store(tmp_path: Path, clock: VirtualClock) -> Iterator[OpenStore]:
    timings = LeaseTimings(ttl=TTL, renew_interval=TTL / 3)
    address = f"sqlite:///{tmp_path}/agents.db"
    with open_store(address, lease_timings=timings, clock=clock) as opened:
        yield opened


def ids(clerk: Clerk) -> list[str]:
    """Every checkpoint that is stored."""
    return [one.checkpoint["id"] for one in clerk.saver.list(THREAD)]


def test_a_graph_waits_for_an_answer_and_goes_on_in_another_process(tmp_path: Path):
    address = f"sqlite:///{tmp_path}/agents.db"
    with open_store(address) as first:
        Clerk(first).asks()
    with open_store(address) as second:
        clerk = Clerk(second)
        assert [one.value for one in clerk.graph.get_state(THREAD).interrupts] == ["refund?"]
        assert clerk.is_told("yes") == SAID
        assert clerk.refunds == 1


def test_a_graph_runs_on_an_event_loop_too(store: OpenStore):
    async def talk() -> None:
        clerk = Clerk(store)
        async with clerk.saver.holding("t"):
            await clerk.graph.ainvoke({"said": ["order 7"]}, THREAD)
        said = (await clerk.graph.ainvoke(Command(resume="yes"), THREAD))["said"]
        assert said == SAID
        states = [one async for one in clerk.graph.aget_state_history(THREAD)]
        assert len(states) == 4

    asyncio.run(talk())


def test_of_two_savers_that_loaded_the_same_checkpoint_one_goes_on(store: OpenStore):
    ours, theirs = Clerk(store), Clerk(store)
    ours.asks()
    loaded = ours.saver.get_tuple(THREAD)
    assert loaded is not None
    assert theirs.is_told("yes") == SAID
    before = ids(theirs)
    late = empty_checkpoint()
    with pytest.raises(HeadConflict):
        ours.saver.put(loaded.config, late, {"source": "loop", "step": 9}, {})
    with pytest.raises(HeadConflict):
        ours.saver.put_writes(loaded.config, [("said", ["late"])], "task")
    assert ids(theirs) == before
    assert theirs.graph.get_state(THREAD).values["said"] == SAID


def test_looking_anew_does_not_let_a_stale_run_go_on(store: OpenStore):
    """Somebody polls the thread through the very saver of a run that was overtaken."""
    ours, theirs = Clerk(store), Clerk(store)
    ours.asks()
    loaded = ours.saver.get_tuple(THREAD)
    assert loaded is not None
    theirs.is_told("yes")
    before = ids(theirs)
    ours.graph.get_state(THREAD)
    with pytest.raises(HeadConflict):
        ours.saver.put_writes(loaded.config, [("said", ["late"])], "task")
    with pytest.raises(HeadConflict):
        ours.saver.put(loaded.config, empty_checkpoint(), {"source": "loop", "step": 9}, {})
    assert ids(theirs) == before


def test_two_runs_of_one_saver_do_not_fork_a_thread(store: OpenStore):
    clerk = Clerk(store)
    clerk.asks()
    first = clerk.saver.get_tuple(THREAD)
    assert first is not None
    clerk.saver.put(first.config, empty_checkpoint(), {"source": "loop", "step": 9}, {})
    with pytest.raises(HeadConflict):
        clerk.saver.put(first.config, empty_checkpoint(), {"source": "loop", "step": 9}, {})


def test_whoever_asks_for_an_old_checkpoint_may_go_on_from_it(store: OpenStore):
    clerk = Clerk(store)
    clerk.asks()
    before = clerk.graph.get_state(THREAD).parent_config
    assert before is not None
    assert clerk.is_told("yes") == SAID
    clerk.graph.invoke(None, before)
    assert clerk.is_told("no") == ["order 7", "allowed: no", "refunded"]
    assert clerk.graph.get_state(THREAD).values["said"][1] == "allowed: no", "the last written"
    assert clerk.refunds == 2


def test_nobody_begins_beside_a_block_that_holds_the_thread(store: OpenStore, clock: VirtualClock):
    ours, theirs = Clerk(store), Clerk(store)
    ours.asks()
    with ours.saver.holding("t"):
        with pytest.raises(LaneBusy), theirs.saver.holding("t"):
            pass
        with pytest.raises(LaneBusy):
            theirs.is_told("no")
        with pytest.raises(WiringError), ours.saver.holding("t"):
            pass
        assert ours.is_told("yes") == SAID
    with theirs.saver.holding("t"):
        assert theirs.graph.get_state(THREAD).next == ()
    assert ours.graph.get_state(THREAD).values["said"] == SAID


def test_a_holder_that_was_taken_over_writes_nothing_more(store: OpenStore, clock: VirtualClock):
    ours, theirs = Clerk(store), Clerk(store)
    ours.asks()
    with ours.saver.holding("t"):
        clock.advance(TTL)
        with theirs.saver.holding("t"):
            assert theirs.is_told("yes") == SAID
        before = ids(theirs)
        with pytest.raises(HoldLost):
            ours.is_told("no")
        assert ids(theirs) == before


def test_a_deleted_thread_takes_nothing_and_an_emptied_one_begins_anew(store: OpenStore):
    clerk = Clerk(store)
    clerk.asks()
    clerk.saver.prune(["t"], strategy="delete")
    assert ids(clerk) == []
    clerk.asks()
    clerk.saver.delete_thread("t")
    assert ids(clerk) == []
    with pytest.raises(SessionDeleted):
        clerk.asks()


def test_a_subgraph_keeps_its_own_line_in_the_same_thread(store: OpenStore):
    inner = StateGraph(State)
    inner.add_node("ask", lambda state: {"said": [interrupt("sure?")]})
    inner.add_edge(START, "ask")
    outer = StateGraph(State)
    outer.add_node("inner", inner.compile())
    outer.add_node("end", lambda state: {"said": ["end"]})
    outer.add_edge(START, "inner")
    outer.add_edge("inner", "end")
    saver = TenureSaver(store)
    graph = outer.compile(checkpointer=saver)
    graph.invoke({"said": ["begin"]}, THREAD)
    after = outer.compile(checkpointer=TenureSaver(store)).invoke(Command(resume="yes"), THREAD)
    assert after["said"][-2:] == ["yes", "end"]
    namespaces = {one.config["configurable"]["checkpoint_ns"] for one in saver.list(THREAD)}
    assert len(namespaces) == 2


def test_tasks_side_by_side_write_as_one_run(store: OpenStore):
    builder = StateGraph(State)
    for name in "abcdefgh":
        builder.add_node(name, lambda state, name=name: {"said": [name]})
        builder.add_edge(START, name)
    graph = builder.compile(checkpointer=TenureSaver(store))
    assert sorted(graph.invoke({"said": []}, THREAD)["said"]) == list("abcdefgh")


def test_a_checkpoint_costs_what_changed_however_long_its_thread_is(store: OpenStore):
    """A value that stays is stored once, and what is stored besides does not grow."""
    saver, config = TenureSaver(store), THREAD
    version = saver.get_next_version(None, None)
    versions: ChannelVersions = {"large": version}
    threads = store.store.beside(CheckpointStore)
    sizes = []
    for step in range(60):
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"large": "x" * 100_000}
        checkpoint["channel_versions"] = versions
        new: ChannelVersions = versions if step == 0 else {}
        config = saver.put(config, checkpoint, {"source": "loop", "step": step}, new)
        (stored,) = threads.page("t", "", None, 1)
        sizes.append(len(stored.body[1]) + len(stored.metadata[1]))
    assert max(sizes) <= 1.1 * min(sizes)
    found = saver.get_tuple(THREAD)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"large": "x" * 100_000}
    saver.prune(["t"])
    assert [one.metadata["step"] for one in saver.list(THREAD)] == [59]
    found = saver.get_tuple(THREAD)
    assert found is not None
    assert found.checkpoint["channel_values"] == {"large": "x" * 100_000}
