"""What an adopted agent is given by its host, and what it is refused."""

from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import RunContext
from pydantic_ai.messages import ModelRequest, UserPromptPart

from tenure import Plugin, PluginFactory, tool
from tenure.faces.pydantic_ai import durable
from tenure.runtime.errors import WiringError
from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.model.message import ToolCall
from tenure.runtime.tools.tool import Tool
from tests.runtime.adopted import Script, agent, hosted, told
from tests.runtime.scene import run


def test_deps_are_made_where_it_runs_and_plugins_add_instructions() -> None:
    class Polite(Plugin):
        def instructions(self, agent: str) -> str:
            return f"Be polite, {agent}."

    class Politeness(PluginFactory):
        def make(self) -> Plugin:
            return Polite()

    clerk = agent(script := Script([("who", {})], "Done."), deps_type=str)

    @clerk.tool
    def who(ctx: RunContext[str]) -> str:
        return ctx.deps

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support, deps=lambda: "made here", plugins=[Politeness()]) as rt:
            answer = await support.ask(rt, "chat", "Go.")
            assert told(answer.all_messages()) == [("who", "made here", "success")]

    run(story())
    (request,) = script.asked[0]
    assert isinstance(request, ModelRequest)
    assert request.instructions == "Be polite, clerk."


def test_an_attachment_is_shown_to_its_model() -> None:
    script = Script("Seen.")

    async def story() -> None:
        support = durable(agent(script))
        async with hosted(support) as rt:
            chat = await rt.session("chat", agent="clerk")
            image = await chat.attach(b"\x89PNG", media_type="image/png")
            assert (await chat.turn("Look.", attachments=(image,))).text == "Seen."

    run(story())
    (request,) = script.asked[0]
    (part,) = request.parts
    assert isinstance(part, UserPromptPart)
    assert not isinstance(part.content, str)
    text, image = part.content
    assert text == "Look."
    assert getattr(image, "data", None) == b"\x89PNG"


def test_outside_of_a_turn_it_does_not_run_unless_that_is_meant() -> None:
    async def story() -> None:
        with pytest.raises(WiringError, match="outside of a turn"):
            await agent(Script("Hello.")).run("Hi.")
        plain = agent(Script("Hello."), durability={"outside": "plain"})
        assert (await plain.run("Hi.")).output == "Hello."

    run(story())


def test_an_agent_that_a_tool_runs_is_part_of_that_tools_call() -> None:
    inner = agent(inside := Script("Inside."))
    outer = agent(Script([("ask", {})], "Done."))

    @outer.tool_plain
    async def ask() -> str:
        return str((await inner.run("Hi.")).output)

    async def story() -> None:
        support = durable(outer)
        async with hosted(support) as rt:
            answer = await support.ask(rt, "chat", "Go.")
            assert told(answer.all_messages()) == [("ask", "Inside.", "success")]

    run(story())
    assert len(inside.asked) == 1


def test_a_tool_that_does_nothing_outside_is_not_recorded(tmp_path: Path) -> None:
    clerk = agent(Script([("clock", {}), ("look", {})], "Done."))
    keys: list[str] = []

    @clerk.tool_plain(metadata={"tenure": False})
    async def clock() -> str:
        return "noon"

    @clerk.tool_plain
    async def look() -> str:
        return "a door"

    async def story() -> None:
        support = durable(clerk)
        async with hosted(support, f"sqlite:///{tmp_path / 'agents.db'}") as rt:
            store, journal = rt.wiring.store, rt.wiring.store.journal

            def watched(turn: Any, fence: Any, outcomes: Any, intents: Any) -> None:
                keys.extend(effect.key for effect in intents)
                journal(turn, fence, outcomes, intents)

            setattr(store, "journal", watched)  # noqa: B010 - a look at what is written
            await support.ask(rt, "chat", "Go.")

    run(story())
    assert keys[:2] == ["run:1", "part:1.clerk.model.1.1"]
    assert "part:1.clerk.tool.1.call-2.1" in keys
    assert not any("call-1" in key for key in keys)


def test_what_no_turn_can_do_is_refused_at_once() -> None:
    @tool
    def another() -> str:
        """Do it."""
        return ""

    class Bringing(Plugin):
        def tools(self, agent: str) -> list[Tool]:
            return [another]

    class Changing(Plugin):
        async def after_tool(self, call: ToolCall, result: ToolResult) -> ToolResult:
            return result

    class Brings(PluginFactory):
        def __init__(self, plugin: Plugin) -> None:
            self.plugin = plugin

        def make(self) -> Plugin:
            return self.plugin

    with pytest.raises(WiringError, match="no TenureDurability"):
        durable(agent(Script(), capabilities=[]))
    with pytest.raises(WiringError, match="in_doubt='maybe'"):
        agent(Script(), durability={"in_doubt": {"refund": "maybe"}})
    with pytest.raises(WiringError, match="'perhaps'"):
        agent(Script(), durability={"outside": "perhaps"})
    with pytest.raises(WiringError, match="takes no tool 'another'"):
        hosted(durable(agent(Script())), plugins=[Brings(Bringing())])
    with pytest.raises(WiringError, match=r"Changing\.after_tool would not be called"):
        hosted(durable(agent(Script())), plugins=[Brings(Changing())])
