"""Plugins and protocols: what they add, what their failures cost, and how they are released."""

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from tenure import Plugin, PluginFactory, Tool, ToolContext, TurnResult
from tenure.runtime.errors import WiringError
from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.model.message import ToolCall
from tenure.runtime.ports.plugin import NativeToolCalling
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.runtime.scene import Door, echo, line, run, runtime, support


async def look() -> str:
    """Look."""
    return "seen"


def seer() -> ScriptedProvider:
    return ScriptedProvider(calls(("look", {})), lambda r: text(results(r)[0]))


class Made(PluginFactory):
    """A factory of one plugin."""

    def __init__(self, plugin: Plugin | None = None) -> None:
        self.plugin = plugin or Plugin()

    def make(self) -> Plugin:
        return self.plugin


class Notes(Plugin):
    """Adds instructions and a tool, for one agent."""

    def instructions(self, agent: str) -> str:
        return f"Take notes, {agent}." if agent == "support" else ""

    def tools(self, agent: str) -> Sequence[Tool]:
        return [Tool(note)] if agent == "support" else []


async def note(words: str) -> str:
    """Note."""
    return f"noted {words}"


def test_what_a_plugin_adds_is_part_of_a_turns_program(store: str) -> None:
    async def story() -> None:
        provider = ScriptedProvider(calls(("note", {"words": "hi"})), lambda r: text(results(r)[0]))
        agent = support(provider, look)
        for _ in range(2):
            async with runtime(store, agent, plugins=[Made(Notes())]) as rt:
                chat = await rt.session("chat", agent="support")
                assert (await chat.turn("Go.")).text == "ok: noted hi"
        request = provider.requests[0]
        assert request.instructions == "Help.\n\nTake notes, support."
        assert [spec.name for spec in request.tools] == ["look", "note"]
        assert list(agent.tools) == ["look"], "the host's own agent is as it was"

    run(story())


def test_a_tool_of_a_plugin_takes_no_name_of_the_agents(store: str) -> None:
    before = set(threading.enumerate())
    with pytest.raises(WiringError, match="two tools called 'note'"):
        runtime(store, support(echo(), note), plugins=[Made(Notes())])
    assert set(threading.enumerate()) <= before, "what was refused was not opened"


class Guard(Plugin):
    """Answers in a tool's place, and changes what one returns."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    async def before_tool(self, call: ToolCall, context: ToolContext[Any]) -> ToolResult | None:
        self.calls.append(f"before {call.name} of {context.session}")
        if call.name == "note":
            return ToolResult(status="error", content="not today")
        return None

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        self.calls.append(f"after {call.name}")
        return ToolResult(status=result.status, content=result.content.upper())


def test_a_plugin_answers_for_a_tool_or_changes_what_it_returned(store: str) -> None:
    async def story() -> None:
        guard, asked = Guard(), calls(("look", {}), ("note", {"words": "x"}))
        provider = ScriptedProvider(asked, lambda r: text(" | ".join(results(r))))
        async with runtime(store, support(provider, look, note), plugins=[Made(guard)]) as rt:
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Go.")).text == "ok: SEEN | error: NOT TODAY"
            assert sorted(guard.calls) == [
                "after look",
                "after note",
                "before look of chat",
                "before note of chat",
            ]

    run(story())


def test_a_replayed_call_is_shown_to_no_plugin_again(shared: str) -> None:
    async def story() -> None:
        door, guard = Door(), Guard()

        async def slow() -> str:
            await door.wait()
            return "slow"

        provider = ScriptedProvider(calls(("look", {}), ("slow", {})), text("Done."))
        agent = support(provider, look, slow)
        async with runtime(shared, agent, plugins=[Made(guard)]) as rt:
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
            await door.somebody()
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            guard.calls.clear()
            assert (await chat.turn("Go.", key="k")).completed
            assert guard.calls == []
            assert line(await chat.messages())[2] == "look: ok: SEEN"

    run(story())


class Failing(Plugin):
    """Fails where it is told to."""

    def __init__(self, *where: str) -> None:
        self.where = where

    async def before_tool(self, call: ToolCall, context: ToolContext[Any]) -> ToolResult | None:
        if "before" in self.where:
            raise RuntimeError("before")
        return None

    async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
        if "after" in self.where:
            raise RuntimeError("after")
        return result

    async def after_commit(self, result: TurnResult) -> None:
        if "commit" in self.where:
            raise RuntimeError(result.status)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_plugin_that_fails_at_a_call_fails_the_call_and_not_the_turn(
    store: str, where: str
) -> None:
    async def story() -> None:
        failing = Made(Failing(where))
        async with runtime(store, support(seer(), look), plugins=[failing]) as rt:
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Go.")).text == f"error: RuntimeError: {where}"

    run(story())


def test_a_plugin_that_fails_after_a_commit_is_told_and_the_commit_stands(store: str) -> None:
    async def story() -> None:
        plugins = [Made(Failing("commit")), Made(Failing("commit"))]
        async with runtime(store, support(seer(), look), plugins=plugins) as rt:
            chat = await rt.session("chat", agent="support")
            result = await chat.turn("Go.", key="k")
            assert result.completed
            assert await chat.turn("Go.", key="k") == result

    told: list[str] = []
    run(story(), told)
    assert (
        told == ["a plugin failed after a commit; the commit stands: RuntimeError('completed')"] * 2
    )


def test_a_plugin_that_cannot_be_asked_for_instructions_admits_nothing(store: str) -> None:
    class Broken(Plugin):
        def instructions(self, agent: str) -> str:
            raise LookupError("no instructions today")

    async def story() -> None:
        async with runtime(store, support(echo()), plugins=[Made(Broken())]) as rt:
            chat = await rt.session("chat", agent="support")
            with pytest.raises(LookupError):
                await chat.turn("Go.")
            assert (await rt.drain_status()).pending == ()

    run(story())


# release


class Released(PluginFactory):
    """Notes its release, at a door, and may fail in it."""

    def __init__(self, name: str, log: list[str], failure: BaseException | None = None) -> None:
        self.name = name
        self.log = log
        self.failure = failure
        self.door = Door()
        self.door.open()

    def make(self) -> Plugin:
        return Plugin()

    async def release(self) -> None:
        await self.door.wait()
        self.log.append(self.name)
        if self.failure is not None:
            raise self.failure


class Protocol(NativeToolCalling):
    """The native protocol, which notes its release and fails in it."""

    def __init__(self, log: list[str]) -> None:
        self.log = log

    async def release(self) -> None:
        self.log.append("protocol")
        raise OSError("protocol")


def test_shutdown_visits_all_in_order_and_raises_the_first_error(store: str) -> None:
    async def story() -> None:
        log: list[str] = []
        factories = [
            Released("one", log),
            Released("two", log, asyncio.CancelledError()),
            Released("three", log, ValueError("three")),
            Released("four", log),
        ]
        rt = runtime(store, support(echo()), plugins=factories, protocol=Protocol(log))
        async with rt:
            for _ in range(2):
                with pytest.raises(OSError, match="protocol"):
                    await rt.shutdown()
            assert log == ["protocol", "one", "two", "three", "four"]
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Go.")).completed, "it drains and ends nothing"

    run(story())


def test_shutdown_asked_twice_at_once_releases_once_and_both_wait(store: str) -> None:
    async def story() -> None:
        log: list[str] = []
        first, last = Released("one", log), Released("two", log, ValueError("two"))
        first.door = Door()
        async with runtime(store, support(echo()), plugins=[first, last]) as rt:
            both = [asyncio.ensure_future(rt.shutdown()) for _ in range(2)]
            await first.door.somebody()
            leaving = asyncio.ensure_future(rt.shutdown())
            await asyncio.sleep(0)
            leaving.cancel()
            await asyncio.gather(leaving, return_exceptions=True)
            first.door.open()
            answers = await asyncio.gather(*both, return_exceptions=True)
            assert [str(answer) for answer in answers] == ["two", "two"]
            assert log == ["one", "two"], "whoever stops waiting stops nothing"

    run(story())
