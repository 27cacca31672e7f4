"""Runs of the OpenAI Agents SDK on sessions in a Tenure store."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner, TResponseInputItem
from agents.memory import Session, SessionSettings

from tenure import Agent as TenureAgent
from tenure import LeaseTimings, Model, Runtime
from tenure.faces.guests import open_store
from tenure.faces.openai_agents import TenureSession
from tenure.kernel.errors import HoldLost, LaneBusy
from tenure.runtime.errors import HeadConflict, HostMismatch, SessionDeleted, WiringError
from tenure.runtime.guests.keep import OpenStore
from tenure.testing.clock import VirtualClock
from tenure.testing.faults import Faults
from tenure.testing.provider import ScriptedProvider
from tests.guests.agents_model import QUIET, Parrot, agent, called, said, texts

HELLO: TResponseInputItem = {"role": "user", "content": "hello"}
TTL = 30.0


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture(params=["sqlite", "memory"])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, clock: VirtualClock
) -> Iterator[OpenStore]:
    address = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/agents.db"
    timings = LeaseTimings(ttl=TTL, renew_interval=TTL / 3)
    with open_store(address, lease_timings=timings, clock=clock) as opened:
        yield opened


def said_by_user(number: int) -> TResponseInputItem:
    """One of several inputs."""
    return {"role": "user", "content": str(number)}


async def run(who: "Agent[Any]", text: str, session: Session) -> str:
    """What a run answers."""
    result = await Runner.run(who, text, session=session, run_config=QUIET)
    return str(result.final_output)


def rainy() -> "Agent[Any]":
    """Asks for the weather, and says it."""
    return agent(called("weather", "c1"), said("It rains."))


RAIN = ["user: How is it?", "calls weather", "got rain", "assistant: It rains."]


def test_a_run_remembers_what_was_said_in_another_process_of_the_same_store(tmp_path: Path):
    async def talk() -> None:
        address = f"sqlite:///{tmp_path}/agents.db"
        with open_store(address) as first:
            assert await run(rainy(), "How is it?", TenureSession("c", first)) == "It rains."
        with open_store(address) as second:
            again = agent(said("Still."))
            assert await run(again, "And now?", TenureSession("c", second)) == "Still."
            assert isinstance(again.model, Parrot)
            assert texts(again.model.asked[0]) == [*RAIN, "user: And now?"]

    asyncio.run(talk())


def test_a_streamed_run_is_kept_too(store: OpenStore):
    async def talk() -> None:
        session = TenureSession("c", store)
        streamed = Runner.run_streamed(rainy(), "How is it?", session=session, run_config=QUIET)
        async for _ in streamed.stream_events():
            pass
        assert texts(await TenureSession("c", store).get_items()) == RAIN

    asyncio.run(talk())


def test_a_runtime_keeps_guests_beside_its_own_sessions(tmp_path: Path):
    model = Model(ScriptedProvider(), "m")
    agents = [TenureAgent("support", instructions="Help.", model=model)]

    async def talk() -> None:
        async with Runtime(store=f"sqlite:///{tmp_path}/agents.db", agents=agents) as rt:
            await run(rainy(), "How is it?", TenureSession("c", rt))
            await rt.session("ours", agent="support")
            with pytest.raises(HostMismatch):
                await TenureSession("ours", rt).get_items()
            with pytest.raises(WiringError):
                await rt.session("c", agent="support")
            assert (await rt.drain_status()).open_turns == ()
            assert await rt.drive_once() == []
            assert await rt.delete_session("c")
            with pytest.raises(SessionDeleted):
                await run(rainy(), "How is it?", TenureSession("c", rt))

    asyncio.run(talk())


def test_the_protocol_is_the_packages_own(store: OpenStore):
    """What its own session in a file does, this one does."""

    async def talk() -> None:
        session = TenureSession("c", store, session_settings=SessionSettings(limit=2))
        assert isinstance(session, Session)
        assert (await session.get_items(), await session.pop_item()) == ([], None)
        await session.add_items([])
        one, two, three = (said_by_user(n) for n in (1, 2, 3))
        await session.add_items([HELLO, one, two, three])
        assert await session.get_items() == [two, three]
        assert await session.get_items(1) == [three]
        assert await session.get_items(-1) == [HELLO, one, two, three]
        assert await session.get_items(0) == []
        assert await session.pop_item() == three
        assert await session.get_items(9) == [HELLO, one, two]
        await session.clear_session()
        await session.clear_session()
        assert (await session.get_items(), await session.pop_item()) == ([], None)
        await session.add_items([HELLO])
        assert await session.get_items() == [HELLO]
        assert await TenureSession("another", store).get_items() == []

    asyncio.run(talk())


@pytest.mark.parametrize("odd", ["\ud800", "\x00", "ä\u2028", 'a"b\\', 1e300, None, [[]]])
def test_an_item_comes_back_as_it_was_added(store: OpenStore, odd: object):
    async def talk() -> None:
        item: Any = {"role": "user", "content": odd}
        await TenureSession("c", store).add_items([item])
        assert await TenureSession("c", store).get_items() == [item]

    asyncio.run(talk())


def test_what_is_no_json_is_refused_and_nothing_of_its_call_is_added(store: OpenStore):
    async def talk() -> None:
        session = TenureSession("c", store)
        odd: Any = {"role": "user", "content": object()}
        with pytest.raises(WiringError):
            await session.add_items([HELLO, odd])
        assert await session.get_items() == []

    asyncio.run(talk())


def test_of_two_runs_at_once_the_first_to_write_is_the_only_one(store: OpenStore):
    async def talk() -> None:
        ours, theirs = TenureSession("c", store), TenureSession("c", store)
        await ours.get_items()
        await theirs.get_items()
        await run(rainy(), "How is it?", theirs)
        with pytest.raises(HeadConflict):
            await run(rainy(), "Me too?", ours)
        assert texts(await TenureSession("c", store).get_items()) == RAIN

    asyncio.run(talk())


CALLS: list[Callable[[TenureSession], Awaitable[object]]] = [
    lambda session: session.get_items(),
    lambda session: session.add_items([HELLO]),
    lambda session: session.pop_item(),
    lambda session: session.clear_session(),
]


@pytest.mark.parametrize("call", CALLS, ids=["get", "add", "pop", "clear"])
def test_a_session_that_was_overtaken_stays_overtaken(
    store: OpenStore, call: Callable[[TenureSession], Awaitable[object]]
):
    """Reading it again in the middle of a run would put two runs' items between each other."""

    async def talk() -> None:
        ours = TenureSession("c", store)
        await ours.add_items([HELLO])
        await TenureSession("c", store).add_items([HELLO])
        for _ in range(2):
            with pytest.raises(HeadConflict):
                await call(ours)
        assert await TenureSession("c", store).get_items() == [HELLO, HELLO]

    asyncio.run(talk())


def test_nobody_runs_beside_a_block_that_holds_the_session(store: OpenStore):
    async def talk() -> None:
        async with TenureSession("c", store) as ours:
            theirs = agent(said("Never."))
            with pytest.raises(LaneBusy):
                await run(theirs, "Me too?", TenureSession("c", store))
            with pytest.raises(LaneBusy):
                async with TenureSession("c", store):
                    pass
            with pytest.raises(WiringError):
                await ours.__aenter__()
            await run(rainy(), "How is it?", ours)
        session = TenureSession("c", store)
        assert texts(await session.get_items()) == RAIN
        await run(agent(said("Me.")), "And now?", session)

    asyncio.run(talk())


def test_whoever_waits_gets_in_once_the_block_is_over(store: OpenStore):
    async def talk() -> None:
        ours = TenureSession("c", store)
        await ours.__aenter__()
        theirs = TenureSession("c", store, wait=60)
        asked, loop = asyncio.Event(), asyncio.get_running_loop()

        def tell() -> None:
            loop.call_soon_threadsafe(asked.set)

        with Faults() as faults:
            faults.at("hold_guest:begin", tell)
            entering = asyncio.ensure_future(theirs.__aenter__())
            await asked.wait()
        await ours.add_items([HELLO])
        assert not entering.done()
        await ours.__aexit__(None, None, None)
        await entering
        assert await theirs.get_items() == [HELLO]
        await theirs.__aexit__(None, None, None)

    asyncio.run(talk())


def test_a_block_that_was_taken_over_writes_nothing_more(store: OpenStore, clock: VirtualClock):
    async def talk() -> None:
        async with TenureSession("c", store) as ours:
            await ours.add_items([HELLO])
            clock.advance(TTL)
            await run(rainy(), "How is it?", TenureSession("c", store))
            with pytest.raises(HoldLost) as loss:
                await run(rainy(), "Me too?", ours)
            assert loss.value.record == "lane c"
        assert texts(await TenureSession("c", store).get_items()) == ["user: hello", *RAIN]

    asyncio.run(talk())


def test_a_cancelled_write_is_made_and_known(store: OpenStore):
    """The consumer of a stream leaves while the run adds what was said."""

    async def talk() -> None:
        session = TenureSession("c", store)
        adding = asyncio.ensure_future(session.add_items([HELLO]))
        await asyncio.sleep(0)
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding
        assert await session.get_items() == [HELLO]
        await session.add_items([HELLO])
        assert await session.get_items() == [HELLO, HELLO]

    asyncio.run(talk())


def test_calls_at_once_are_made_one_after_the_other(store: OpenStore):
    async def talk() -> None:
        session = TenureSession("c", store)
        items = [said_by_user(number) for number in range(8)]
        await asyncio.gather(*(session.add_items([item]) for item in items))
        assert await session.get_items() == items

    asyncio.run(talk())


def test_a_deleted_session_is_gone_for_good(store: OpenStore):
    async def talk() -> None:
        session = TenureSession("c", store)
        await session.delete_session()
        await session.add_items([HELLO])
        await session.delete_session()
        await session.delete_session()
        for call in CALLS:
            with pytest.raises(SessionDeleted):
                await call(TenureSession("c", store))
        async with TenureSession("d", store) as held:
            await held.add_items([HELLO])
            with pytest.raises(LaneBusy):
                await TenureSession("d", store).delete_session()
            await held.delete_session()

    asyncio.run(talk())
