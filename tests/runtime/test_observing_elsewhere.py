"""Observing after a restart, and what others drive: one story, and no silence about what is lost."""

import asyncio

import pytest

from tenure import Agent, TextDelta
from tenure.runtime.model.event import Resync
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import Door, echo, run, runtime, support
from tests.runtime.watching import (
    ALL,
    HAPPENINGS,
    SlowTalker,
    asked_of,
    happenings,
    looker,
    saying,
    story,
    told,
    watched,
)


@pytest.mark.parametrize("index", range(len(ALL)))
def test_cut_at_any_event_and_restarted_nothing_is_lost_in_silence(shared: str, index: int) -> None:
    async def tale() -> None:
        async with runtime(shared, looker()) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            first = await watched(rt, turn, most=index) if index else []
            await driving
        silent = support(ScriptedProvider())
        async with runtime(shared, silent) as again:
            rest = await watched(again, turn, first[-1].cursor if first else None)
            assert happenings(first + rest) == HAPPENINGS
            amid = bool(first) and isinstance(first[-1].event, TextDelta)
            marks = [o.event for o in rest if isinstance(o.event, Resync)]
            assert len(marks) == amid
            assert rest[0].event == marks[0] if amid else not marks
            assert asked_of(silent) == 0

    run(tale())


@pytest.mark.parametrize("index", range(8))
def test_a_turn_that_another_runtime_goes_on_with_is_one_story(shared: str, index: int) -> None:
    """The first is left in a tool call, which nobody knows the end of."""

    async def tale() -> None:
        door = Door()

        def agent() -> Agent:
            async def look(n: int) -> str:
                if n == 0:
                    await door.wait()
                return "seen"

            asked = saying("Let me look.", calls(("look", {"n": 0}), ("look", {"n": 1})))
            return support(ScriptedProvider(asked, text("All seen.")), look)

        before, after = agent(), agent()
        expected = [*HAPPENINGS[:4], "look c0: unknown", *HAPPENINGS[5:]]
        async with runtime(shared, before) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            first = await watched(rt, turn, most=index) if index else []
            if index < 7:
                await watched(rt, turn, most=7)  # the other call has returned
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)
        async with runtime(shared, after) as again:
            watching = asyncio.ensure_future(
                watched(again, turn, first[-1].cursor if first else None)
            )
            await again.drive_once()
            assert happenings(first + await watching) == expected
            assert (asked_of(before), asked_of(after)) == (1, 1)
            assert happenings(await watched(again, turn)) == expected

    run(tale())


def test_what_another_runtime_drives_is_shown_as_it_is_recorded(shared: str) -> None:
    async def tale() -> None:
        provider = SlowTalker("one", "two")
        async with (
            runtime(shared, support(provider)) as rt,
            runtime(shared, support(echo())) as other,
        ):
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            await provider.doors[0].somebody()
            watching = asyncio.ensure_future(watched(other, turn))
            (mark,) = await watched(other, turn, most=1)
            assert told(mark.event) == "resync 1 None not_here"
            for door in provider.doors:
                door.open()
            await driving
            shown = story(await watching)
            assert shown[-2:] == ["step 1: one two", "completed: one two"]
            assert shown[:-2] in ([], ["resync 1 None not_here"])

    run(tale())


def test_pieces_that_a_client_had_are_void_where_nobody_has_them(shared: str) -> None:
    async def tale() -> None:
        provider = SlowTalker("one", "two")
        provider.doors[0].open()
        async with (
            runtime(shared, support(provider)) as rt,
            runtime(shared, support(echo())) as other,
        ):
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            (one,) = await watched(rt, turn, most=1)
            assert told(one.event) == "1: one"
            (mark,) = await watched(other, turn, one.cursor, most=1)
            assert told(mark.event) == "resync 1 None not_here"
            provider.doors[1].open()
            await driving
            assert story(await watched(other, turn, mark.cursor)) == [
                "step 1: one two",
                "completed: one two",
            ]
            assert story(await watched(other, turn, one.cursor)) == [
                "resync 1 'one two' not_here",
                "step 1: one two",
                "completed: one two",
            ]

    run(tale())


def test_what_a_driver_said_is_void_when_another_asks_again(shared: str) -> None:
    async def tale() -> None:
        first, second = SlowTalker("one", "two"), SlowTalker("uno")
        first.doors[0].open()
        second.doors[0].open()
        async with (
            runtime(shared, support(first)) as rt,
            runtime(shared, support(second)) as other,
        ):
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            watching = asyncio.ensure_future(watched(rt, turn))
            await watched(rt, turn, most=1)
            await first.doors[1].somebody()
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)
            await other.drive_once()
            shown = story(await watching)
            assert shown[0] == "1: one"
            assert shown[1].startswith("resync 1")
            assert shown[-2:] == ["step 1: uno", "completed: uno"]

    run(tale())


def test_what_was_said_before_the_same_runtime_asks_again_is_retracted(store: str) -> None:
    async def tale() -> None:
        provider = SlowTalker("one", "two")
        provider.doors[0].open()
        async with runtime(store, support(provider)) as rt:
            turn = rt.submit("chat", "Go.", agent="support")
            driving = asyncio.ensure_future(rt.drive_once())
            watching = asyncio.ensure_future(watched(rt, turn))
            await provider.doors[1].somebody()
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)
            provider.doors[1].open()
            await rt.drive_once()
            assert story(await watching) == [
                "1: one",
                "1 retracted",
                "1: one",
                "1: two",
                "step 1: one two",
                "completed: one two",
            ]

    run(tale())
