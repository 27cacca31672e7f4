"""Observing a turn: from any place in it, by anybody; nothing is shown twice, or silently lost."""

import asyncio
import contextlib

import pytest

from tenure import CommitBudget, RetryPolicy
from tenure.kernel.errors import StoreBusy, TenureError
from tenure.kernel.lease import LeaseTimings
from tenure.runtime.errors import (
    CursorUnknown,
    ProviderError,
    RuntimeClosed,
    SessionDeleted,
    TurnMissing,
    WiringError,
)
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.event import Observed
from tenure.runtime.ports.provider import ModelRequest, Provider, Say
from tenure.testing.faults import Faults
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import Door, echo, line, run, runtime, support, until
from tests.runtime.watching import (
    ALL,
    HAPPENINGS,
    SlowTalker,
    asked_of,
    happenings,
    looker,
    story,
    told,
    watched,
)

# ── In one runtime: everything, from anywhere ────────────────────────────────────────────────


@pytest.mark.parametrize("index", range(len(ALL) + 1))
def test_cut_at_any_event_the_rest_is_what_follows(store: str, index: int) -> None:
    async def tale() -> None:
        agent = looker()
        async with runtime(store, agent) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            first = await watched(rt, turn, most=index) if index else []
            place = first[-1].cursor if first else None
            rest = await watched(rt, turn, place)
            await driving
            assert story(first + rest) == ALL
            assert await watched(rt, turn, place) == rest, "later it is the same"
            assert len({o.cursor for o in first + rest}) == len(ALL)
            assert asked_of(agent) == 2

    run(tale())


def test_every_observer_sees_the_same_and_is_told_at_once(store: str) -> None:
    """It is an hour until anybody would look."""

    async def tale() -> None:
        async with runtime(store, looker(), poll=3600) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = [asyncio.ensure_future(watched(rt, turn)) for _ in range(3)]
            await asyncio.sleep(0)
            await rt.drive_once()
            first, *others = await asyncio.gather(*watching)
            assert story(first) == ALL
            assert others == [first, first]

    run(tale())


def test_what_is_recorded_late_is_shown_when_it_is(store: str) -> None:
    """A call has returned while another runs, and the store is busy. It is an hour until anybody
    would look."""

    async def tale() -> None:
        door = Door()

        async def look(n: int) -> str:
            if n == 0:
                await door.wait()
            return "seen"

        def busy() -> None:
            raise StoreBusy(store="agents.db")

        asked = calls(("look", {"n": 0}), ("look", {"n": 1}))
        agent = support(ScriptedProvider(asked, text("Done.")), look)
        lease = LeaseTimings(ttl=60, renew_interval=0.1)
        async with runtime(store, agent, poll=3600, lease_timings=lease) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn, most=4))
            await asyncio.sleep(0)
            with Faults() as faults:
                faults.skip("journal:begin", 2)
                faults.at("journal:begin", busy)
                driving = asyncio.ensure_future(rt.drive_once())
                assert story(await watching)[-1] == "look c1: ok"
                assert faults.passed["journal:begin"] == 4
            door.open()
            await driving

    run(tale())


def test_a_stream_shows_what_an_observer_is_shown(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, looker()) as rt:
            chat = await rt.session("chat", agent="support")
            events = [event async for event in chat.stream("Go.", key="k")]
            assert [told(event) for event in events] == ALL
            shown = await watched(rt, rt.turn_id("chat", "k"))
            assert [observed.event for observed in shown] == events
            assert [event async for event in chat.stream("Go.", key="k")] == events

    run(tale())


def test_whoever_observes_admits_nothing_and_drives_nothing(store: str) -> None:
    async def tale() -> None:
        agent = support(echo())
        async with runtime(store, agent, poll=0.001) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn))
            await asyncio.sleep(0.02)
            assert not watching.done()
            assert asked_of(agent) == 0
            await rt.drive_once()
            assert story(await watching)[-1] == "completed: re: Go."
            assert len(await (await rt.session("chat", agent="support")).messages()) == 2

    run(tale())


def test_retries_and_what_they_void_are_shown(store: str) -> None:
    class Stutters(Provider):
        tries = 0

        async def answer(self, request: ModelRequest, say: Say) -> Answer:
            self.tries += 1
            say("Hel" if self.tries == 1 else "Hello.")
            if self.tries == 1:
                raise ProviderError(provider="p", what="overloaded", retryable=True)
            return text("Hello.")

    async def tale() -> None:
        retry = RetryPolicy(first=0.0)
        async with runtime(store, support(Stutters()), retry=retry) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            await rt.drive_once()
            assert story(await watched(rt, turn)) == [
                "1: Hel",
                "1 retracted",
                "1 tried 1",
                "1: Hello.",
                "step 1: Hello.",
                "completed: Hello.",
            ]

    run(tale())


def test_a_turn_that_a_thread_drives_is_shown_on_the_loop(shared: str) -> None:
    """It is an hour until anybody would look."""

    async def tale() -> None:
        async with runtime(shared, support(echo()), poll=3600) as rt:
            turn = rt.submit("chat", "Go.", agent="support", key="k")
            watching = asyncio.ensure_future(watched(rt, turn))
            await until(lambda: rt.wiring.watchers._of, "somebody watches")
            await asyncio.to_thread(rt.turn_sync, "chat", "Go.", agent="support", key="k")
            shown = story(await watching)
            assert shown == ["1: re:", "1: Go.", "step 1: re: Go.", "completed: re: Go."]

    run(tale())


# ── Slow ones, and those who leave ───────────────────────────────────────────────────────────


def test_a_slow_observer_is_told_what_it_missed_and_sees_the_end(store: str) -> None:
    async def tale() -> None:
        provider = SlowTalker("one", "two", "three", "four")
        async with runtime(store, support(provider)) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            provider.doors[0].open()
            async with contextlib.aclosing(rt.observe(turn, buffer=1)) as events:
                assert told((await anext(events)).event) == "1: one"
                provider.doors[1].open()
                provider.doors[2].open()
                await provider.doors[3].somebody()  # it does not wait for the observer
                mark = await anext(events)
                assert told(mark.event) == "resync 1 'onetwothree' overrun"
                provider.doors[3].open()
                await driving
                rest = [observed async for observed in events]
            assert story(rest) == [
                "1: four",
                "step 1: one two three four",
                "completed: one two three four",
            ]
            assert story(await watched(rt, turn, mark.cursor)) == story(rest)

    run(tale())


def test_whoever_looks_up_once_it_is_over_misses_pieces_and_nothing_else(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, looker()) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            async with contextlib.aclosing(rt.observe(turn, buffer=1)) as events:
                driving = asyncio.ensure_future(rt.drive_once())
                shown: list[Observed] = [await anext(events)]
                await driving
                shown += [observed async for observed in events]
            assert happenings(shown) == HAPPENINGS

    run(tale())


def test_more_than_a_tape_holds_is_a_resync_and_not_a_memory_leak(store: str) -> None:
    async def tale() -> None:
        words = " ".join(str(number) for number in range(3000))
        async with runtime(store, support(ScriptedProvider(text(words)))) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            await rt.drive_once()
            shown = await watched(rt, turn)
            assert story(shown) == [f"step 1: {words}", f"completed: {words}"]
            tape = rt.wiring.tapes.of(turn)
            assert tape is not None
            assert len(tape.since(0, 1, 1_000_000).pieces) <= 1024

    run(tale())


@pytest.mark.parametrize("moment", ["commit:begin", "commit:written"])
def test_an_observer_that_leaves_in_the_middle_of_a_commit_changes_nothing(
    shared: str, moment: str
) -> None:
    async def tale() -> None:
        agent = support(echo())
        async with runtime(shared, agent) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            with Faults() as faults:
                pause = faults.pause(moment)
                driving = asyncio.ensure_future(rt.drive_once())
                await asyncio.to_thread(pause.await_arrival)
                watching = asyncio.ensure_future(watched(rt, turn))
                await asyncio.sleep(0)
                watching.cancel()
                pause.resume()
                (result,) = await driving
            await asyncio.gather(watching, return_exceptions=True)
            assert story(await watched(rt, turn))[-1] == "completed: re: Go."
            assert result.completed
            assert asked_of(agent) == 1

    run(tale())


def test_a_stream_that_is_left_after_a_word_is_observed_and_admits_nothing_more(store: str) -> None:
    async def tale() -> None:
        provider = SlowTalker("one", "two")
        provider.doors[0].open()
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            async with contextlib.aclosing(chat.stream("Go.", key="k")) as events:
                assert told(await anext(events)) == "1: one"
            provider.doors[1].open()
            turn = rt.turn_id("chat", "k")
            watching = asyncio.ensure_future(watched(rt, turn))
            await rt.drive_once()
            assert happenings(await watching) == ["step 1: one two", "completed: one two"]
            assert line(await chat.messages()).count("user: Go.") == 1
            status = await rt.drain_status()
            assert (status.open_turns, status.pending) == ((), ())

    run(tale())


# ── Ends, and what is refused ────────────────────────────────────────────────────────────────


def test_behind_the_end_there_is_nothing(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, support(echo())) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            await rt.drive_once()
            *_, last = await watched(rt, turn)
            assert await watched(rt, turn, last.cursor) == []

    run(tale())


def test_input_that_was_taken_back_is_a_turn_that_ended(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, support(echo())) as rt:
            turn = rt.submit("chat", "Go.", agent="support", key="k")
            work = turn.removeprefix("turn-")
            await rt.wiring.asking.call(lambda: rt.wiring.store.cancel_work(work))
            assert story(await watched(rt, turn)) == ["cancelled: "]

    run(tale())


@pytest.mark.parametrize(
    ("cursor", "what"),
    [
        ("", "not made by an observation"),
        ("x", "not made by an observation"),
        ("0123456789-1-", "not made by an observation"),
        ("0123456789-١", "not made by an observation"),
        ("0123456789-1", "another turn"),
        ("MINE-99", "has not happened"),
    ],
)
def test_a_cursor_that_is_none_is_refused(store: str, cursor: str, what: str) -> None:
    async def tale() -> None:
        async with runtime(store, support(echo())) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            await rt.drive_once()
            first, *_ = await watched(rt, turn)
            given = cursor.replace("MINE", first.cursor.partition("-")[0])
            with pytest.raises(CursorUnknown, match=what):
                await watched(rt, turn, given)

    run(tale())


@pytest.mark.parametrize("turn", ["turn-nobody-asked", "", "nonsense"])
def test_a_turn_that_is_none_is_refused(store: str, turn: str) -> None:
    async def tale() -> None:
        async with runtime(store, support(echo())) as rt:
            with pytest.raises(TurnMissing):
                await watched(rt, turn)

    run(tale())


def test_a_buffer_for_nothing_is_refused(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, support(echo())) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            with pytest.raises(WiringError, match="buffer=0"):
                await watched(rt, turn, buffer=0)

    run(tale())


async def the_end_of(watching: "asyncio.Future[list[Observed]]") -> BaseException | None:
    await asyncio.wait((watching,))
    return watching.exception()


def test_a_deleted_session_ends_the_observation(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, support(echo())) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn))
            await until(lambda: rt.wiring.watchers._of, "somebody watches")
            await asyncio.sleep(0.01)
            assert await rt.delete_session("chat")
            assert isinstance(await the_end_of(watching), SessionDeleted)
            with pytest.raises(TurnMissing):
                await watched(rt, turn)

    run(tale())


def test_a_closed_runtime_ends_the_observation(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, support(echo())) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn))
            await until(lambda: rt.wiring.watchers._of, "somebody watches")
            await rt.aclose()
            error = await the_end_of(watching)
            assert isinstance(error, RuntimeClosed | TenureError)

    run(tale())


def test_a_turn_whose_messages_were_too_many_says_that_nothing_of_it_is_kept(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, looker(commit_budget=CommitBudget(rows=2))) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn))
            await rt.drive_once()
            *before, end = story(await watching)
            assert [told for told in before if told in HAPPENINGS] == HAPPENINGS[:5]
            assert before[-1] == "resync 0 None not_kept"
            assert end.startswith("stopped")
            assert story(await watched(rt, turn)) == ["resync 0 None not_kept", end]

    run(tale())


@pytest.mark.filterwarnings("ignore:effects of this runtime")
def test_without_a_journal_everything_is_shown_as_long_as_it_is_there(store: str) -> None:
    async def tale() -> None:
        async with runtime(store, looker(), effects="inline") as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            watching = asyncio.ensure_future(watched(rt, turn))
            await asyncio.sleep(0)
            await rt.drive_once()
            shown = await watching
            assert story(shown) == ALL
            for index in range(len(ALL)):
                assert await watched(rt, turn, shown[index].cursor) == shown[index + 1 :]
            rt.wiring.tapes._of.clear()
            assert story(await watched(rt, turn)) == ["resync 1 None not_here", ALL[-1]]

    run(tale())
