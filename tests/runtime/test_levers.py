"""The levers: each does what it says and no more, twice as well as once, and twice at once."""

import asyncio
import functools
import subprocess
import sys

import msgspec
import pytest

from tenure import LeaseTimings, ParkedSession, Runtime
from tenure.kernel.identity import LeaseOwnerIdentity, this_process
from tenure.runtime.errors import (
    AgentUnknown,
    HandleClosed,
    RuntimeClosed,
    SessionDeleted,
    SessionMissing,
    SessionStillInUse,
)
from tenure.runtime.model.work import work_of
from tenure.testing.clock import VirtualClock
from tenure.testing.faults import Faults
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import Door, DoorProvider, echo, line, run, runtime, support, until

GONE = LeaseOwnerIdentity(owner_id="worker-7", incarnation_id="boot-1")


# park, resume, close


def test_a_parked_session_is_resumed_anywhere_with_its_settings(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            await chat.turn("one")
            chat.set(theme="dark", seats=[1, 2])
            parked = await chat.park()
            assert parked == ParkedSession(
                session="chat", agent="support", settings={"theme": "dark", "seats": [1, 2]}
            )
            assert await chat.park() == parked
            await chat.close()
            with pytest.raises(HandleClosed):
                await chat.turn("two")
        ticket = msgspec.json.decode(msgspec.json.encode(parked), type=ParkedSession)
        async with runtime(shared, support(echo())) as rt:
            chat = await rt.resume(ticket)
            assert dict(chat.settings) == {"theme": "dark", "seats": [1, 2]}
            assert (await chat.turn("two")).text == "re: two"
            assert len(await chat.messages()) == 4

    run(story())


def test_what_is_in_use_is_not_parked_and_stays_usable(store: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            twin = await rt.session("chat", agent="support")
            for end in (chat.park, chat.close):
                with pytest.raises(SessionStillInUse):
                    await end()
            twin.drop()
            twin.drop()
            with pytest.raises(HandleClosed):
                await twin.turn("one")
            waiting = asyncio.ensure_future(chat.turn("one"))
            await provider.door.somebody()
            for end in (chat.park, chat.close):
                with pytest.raises(SessionStillInUse):
                    await end()
            provider.door.open()
            assert (await waiting).completed
            assert (await chat.park()).session == "chat"

    run(story())


def test_a_block_ends_its_own_handle_and_no_other(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            async with await rt.session("chat", agent="support") as one:
                async with await rt.session("chat", agent="support") as two:
                    two.set(theme="dark")
                assert (await one.turn("one")).completed
            chat = await rt.session("chat", agent="support")
            assert dict(chat.settings) == {"theme": "dark"}
            await chat.close()

    run(story())


def test_a_handle_that_is_forgotten_is_in_nobodys_way(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            await rt.session("chat", agent="support")
            chat = await rt.session("chat", agent="support")
            assert (await chat.park()).session == "chat"

    run(story())


def test_closing_twice_at_once_closes_once_and_both_wait_for_it(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            chat.set(theme="dark")
            with Faults() as faults:
                pause = faults.pause("configure:written")
                first = asyncio.ensure_future(chat.close())
                second = asyncio.ensure_future(chat.close())
                await asyncio.to_thread(pause.await_arrival)
                assert not second.done()
                pause.resume()
                await asyncio.gather(first, second)
            assert faults.passed["configure:written"] == 1
            again = await rt.session("chat", agent="support")
            assert dict(again.settings) == {"theme": "dark"}

    run(story())


def test_a_close_that_cannot_write_leaves_the_handle_as_it_was(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            chat.set(theme="dark")
            with Faults() as faults:
                faults.at("configure:begin", _unavailable)
                with pytest.raises(OSError, match="planted"):
                    await chat.close()
            assert (await chat.turn("one")).completed
            await chat.close()
            assert dict((await rt.session("chat", agent="support")).settings) == {"theme": "dark"}

    run(story())


def _unavailable() -> None:
    raise OSError("planted")


def test_a_ticket_for_nothing_is_refused(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            with pytest.raises(SessionMissing):
                await rt.resume(ParkedSession(session="nowhere", agent="support"))
            with pytest.raises(AgentUnknown):
                await rt.resume(ParkedSession(session="chat", agent="nobody"))
            chat = await rt.session("chat", agent="support")
            parked = await chat.park()
            assert await rt.delete_session("chat")
            with pytest.raises(SessionDeleted):
                await rt.resume(parked)

    run(story())


# claims


def test_a_claim_that_is_handed_back_is_drivable_at_once_and_its_driver_refused(
    shared: str,
) -> None:
    async def story() -> None:
        slow = DoorProvider()
        async with (
            runtime(shared, support(slow)) as rt,
            runtime(shared, support(echo())) as other,
        ):
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("Go.")
            waiting = asyncio.ensure_future(chat.wait(turn))
            await slow.door.somebody()
            (open_turn,) = (await other.drain_status()).open_turns
            claim = open_turn.claim or ""
            assert await other.abandon_queued_work_claim(turn, claim) == "unknown"
            assert await other.abandon_turn_input_claim("turn-nobody", claim) == "unknown"
            said = await asyncio.gather(
                *(other.abandon_turn_input_claim(turn, claim) for _ in range(3))
            )
            assert said == ["handed_back"] * 3
            (result,) = await other.drive_once()
            assert result.text == "re: Go."
            assert await other.abandon_turn_input_claim(turn, claim) == "superseded"
            slow.door.open()
            assert await waiting == result, "whoever waited gets what was committed"
            assert line(await chat.messages()) == ["user: Go.", "assistant: re: Go."]

    run(story())


def test_everything_of_one_incarnation_is_handed_back_together(shared: str) -> None:
    async def story() -> None:
        slow = DoorProvider()
        async with runtime(shared, support(slow)) as rt:
            turns = []
            for n in range(3):
                chat = await rt.session(f"chat-{n}", agent="support")
                turns.append(await chat.submit("Go."))
            driving = asyncio.ensure_future(rt.drive(concurrency=3))
            await slow.door.somebody(3)
            assert await rt.abandon_turn_input_claims(GONE) == {}
            assert await rt.abandon_queued_work_claims(rt.owner) == {}
            assert await rt.abandon_turn_input_claims(rt.owner) == dict.fromkeys(
                turns, "handed_back"
            )
            status = await rt.drain_status()
            assert [t.claim for t in status.open_turns] == [None] * 3
            assert status.lanes == ()
            async with runtime(shared, support(echo())) as other:
                assert len(await other.drive_once(3)) == 3
            slow.door.open()
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)
            messages = await (await rt.session("chat-0", agent="support")).messages()
            assert line(messages) == ["user: Go.", "assistant: re: Go."]

    run(story())


def test_what_the_system_enqueues_is_a_turn_of_its_own_with_the_agent_of_then(shared: str) -> None:
    async def story() -> None:
        slow = DoorProvider()
        async with runtime(shared, support(echo(), instructions="old")) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await rt.wake("chat", "it is time", key="alarm")
            assert await rt.wake("chat", "it is time", key="alarm") == turn
            assert (await chat.turn("hello", on_busy="fail")).completed is True
        async with runtime(shared, support(slow, instructions="new")) as rt:
            chat = await rt.session("chat", agent="support")
            messages = await chat.messages()
            assert line(messages)[0] == "user: it is time", "one sequence for everything"
            late = await rt.wake("chat", "later")
            waiting = asyncio.ensure_future(chat.wait(late))
            await slow.door.somebody()
            (open_turn,) = (await rt.drain_status()).open_turns
            assert slow.requests[0].instructions == "new"
            claim = open_turn.claim or ""
            assert await rt.abandon_turn_input_claim(late, claim) == "unknown"
            assert await rt.abandon_queued_work_claim(late, claim) == "handed_back"
            slow.door.open()
            assert (await waiting).completed

    run(story())


def test_a_wake_for_later_is_not_due_now_and_keeps_nobody_busy(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            await rt.wake("chat", "tomorrow", delay=86_400)
            assert await rt.drive_once() == []
            assert (await chat.turn("today", on_busy="fail")).text == "re: today"
            assert [row.kind for row in (await rt.drain_status()).pending] == ["queued"]

    run(story())


# owners

DIES = """
import asyncio, os, sys
from tenure import Agent, Model, Runtime
from tenure.testing.provider import ScriptedProvider, calls, text

async def die() -> str:
    os.kill(os.getpid(), 9)
    return ""

async def main(store):
    agent = Agent("support", instructions="Help.", model=Model(ScriptedProvider(calls(("die", {}))), "m1"), tools=[die])
    async with Runtime(store=store, agents=[agent]) as rt:
        chat = await rt.session("chat", agent="support")
        await chat.turn("Go.", key="k")

asyncio.run(main(sys.argv[1]))
"""


def test_an_owner_that_is_declared_gone_is_replaced_without_waiting(shared: str) -> None:
    died = subprocess.run([sys.executable, "-c", DIES, shared], check=False)
    assert died.returncode == -9

    async def story() -> None:
        async def die() -> str:
            return "never"

        provider = ScriptedProvider(calls(("die", {})), text("Done."))
        async with runtime(shared, support(provider, die)) as rt:
            (lane,) = (await rt.drain_status()).lanes
            assert (await rt.drain_status()).in_doubt == ((rt.turn_id("chat", "k"), "tool:1.0"),)
            assert await rt.drive_once() == [], "its lease is live"
            await rt.declare_gone(GONE, "somebody else")
            assert await rt.drive_once() == []
            for _ in range(2):
                await rt.declare_gone(lane.executor.owner, "the machine burnt down")
            with Faults() as faults:
                pause = faults.pause("accept:begin")
                driving = asyncio.ensure_future(rt.drive_once())
                await asyncio.to_thread(pause.await_arrival)
                twin = Runtime(store=shared, agents=[support(echo())])
                taken = await twin.wiring.asking.call(lambda: twin.wiring.store.lane("chat"))
                await twin.aclose()
                pause.resume()
                (result,) = await driving
            assert result.completed
            assert taken is not None
            assert taken.displaced is not None
            licence = taken.displaced.takeover.licence
            assert (licence.ground, licence.evidence) == ("declared", "the machine burnt down")
            assert taken.displaced.executor == lane.executor

    run(story())


# looking


def test_what_is_not_at_rest_is_told_in_pages_and_nothing_is_changed(store: str) -> None:
    async def story() -> None:
        slow = DoorProvider()
        async with runtime(store, support(slow)) as rt:
            for n in range(5):
                chat = await rt.session(f"chat-{n}", agent="support")
                if n != 2:
                    await chat.submit("Go.")
            first = await rt.drain_status(limit=3)
            assert [row.session for row in first.pending] == ["chat-0", "chat-1", "chat-3"]
            assert first.next == "chat-3"
            second = await rt.drain_status(limit=3, after=first.next)
            assert [row.session for row in second.pending] == ["chat-4"]
            assert second.next is None
            assert await rt.drain_status(limit=3) == first
            ids = [record.id for record in await rt.inventory(limit=2)]
            assert ids == ["chat-0", "chat-1"]
            rest = await rt.inventory(after="chat-1", limit=9)
            assert [record.id for record in rest] == ["chat-2", "chat-3", "chat-4"]
            assert await rt.inventory(after="chat-4") == []

    run(story())


# keeping house


def test_a_session_is_deleted_for_good_and_not_while_it_is_driven(store: str) -> None:
    async def story() -> None:
        slow = DoorProvider()
        async with runtime(store, support(slow)) as rt:
            chat = await rt.session("chat", agent="support")
            waiting = asyncio.ensure_future(chat.turn("Go."))
            await slow.door.somebody()
            assert await rt.delete_session("chat") is False
            slow.door.open()
            await waiting
            assert (
                await asyncio.gather(*(rt.delete_session("chat") for _ in range(3))) == [True] * 3
            )
            for use in (chat.turn("again"), chat.messages(), rt.session("chat", agent="support")):
                with pytest.raises(SessionDeleted):
                    await use
            with pytest.raises(SessionMissing):
                await rt.delete_session("nowhere")
            (record,) = await rt.inventory()
            assert (record.deleted, record.settings) == (True, {})

    run(story())


def test_vacuum_is_bounded_and_takes_nothing_that_is_needed(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            chat = await rt.session("chat", agent="support")
            results = [await chat.turn(f"q{n}", key=f"k{n}") for n in range(5)]
            cancel = rt.wiring.store.cancel_work
            for _ in range(5):
                turn = await chat.submit("Never mind.")
                await rt.wiring.asking.call(functools.partial(cancel, work_of(turn)))
            assert await rt.vacuum(older_than=3600) == 0
            dropped = [await rt.vacuum(older_than=-1, limit=2) for _ in range(4)]
            assert dropped == [2, 2, 1, 0]
            again = [await chat.turn(f"q{n}", key=f"k{n}") for n in range(5)]
            assert again == results
            assert len(await chat.messages()) == 10

    run(story())


# the end


def test_a_closed_runtime_says_so_and_its_turns_stay_admitted(store: str) -> None:
    async def story() -> None:
        slow = DoorProvider()
        rt = runtime(store, support(slow))
        chat = await rt.session("chat", agent="support")
        waiting = asyncio.ensure_future(chat.turn("Go.", key="k"))
        driving = asyncio.ensure_future(rt.drive())
        await slow.door.somebody()
        await asyncio.gather(*(rt.aclose() for _ in range(3)))
        slow.door.open()
        ended = await asyncio.gather(waiting, driving, return_exceptions=True)
        assert [type(error) for error in ended] == [RuntimeClosed, RuntimeClosed]
        with pytest.raises(RuntimeClosed):
            await chat.turn("again")
        with pytest.raises(RuntimeClosed):
            await rt.session("chat", agent="support")
        await rt.aclose()

    run(story())


def test_a_drain_composed_of_levers_leaves_nothing_claimed(shared: str) -> None:
    """Stop admitting, end what is driven, park, close: in a few lines of the host's own."""

    async def story() -> None:
        slow = DoorProvider()
        rt = runtime(shared, support(slow))
        chat = await rt.session("chat", agent="support")
        turn = await chat.submit("Go.")
        driving = asyncio.ensure_future(rt.drive())
        await slow.door.somebody()

        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)
        parked = await chat.park()
        status = await rt.drain_status()
        assert (status.lanes, [t.claim for t in status.open_turns]) == ((), [None])
        await slow.close()
        await rt.shutdown()
        await rt.aclose()

        async with runtime(shared, support(echo())) as successor:
            assert (await (await successor.resume(parked)).wait(turn)).text == "re: Go."

    run(story())


def test_a_turn_cancelled_by_the_host_ends_before_its_tool_does(store: str) -> None:
    async def story() -> None:
        door = Door()

        async def slow() -> str:
            await door.wait()
            return "slow"

        provider = ScriptedProvider(calls(("slow", {})), text("Done."))
        async with runtime(store, support(provider, slow)) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("Go.")
            driving = asyncio.ensure_future(rt.drive())
            await door.somebody()
            assert await rt.cancel_turn(turn, "drain")
            await until(lambda: at_rest(rt), "it has ended")
            assert (await chat.wait(turn)).status == "cancelled"
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)

    run(story())


async def at_rest(rt: Runtime) -> bool:
    return (await rt.drain_status()).open_turns == ()


def test_leases_come_from_the_host_and_are_checked() -> None:
    rt = runtime("memory://", support(echo()), lease_timings=LeaseTimings(ttl=9, renew_interval=3))
    assert rt.wiring.timings == LeaseTimings(ttl=9, renew_interval=3)
    assert rt.owner == this_process()
    rt.close()


def test_work_for_later_waits_until_it_is_due(store: str) -> None:
    async def story() -> None:
        clock = VirtualClock()
        async with runtime(store, support(echo()), clock=clock) as rt:
            await rt.session("chat", agent="support")
            turn = await rt.wake("chat", "time", delay=60)
            assert await rt.drive_once() == []
            clock.advance(60)
            (result,) = await rt.drive_once()
            assert result.turn == turn

    run(story())
