"""Turns with a real model behind a real server. What it says is its own affair."""

import asyncio
import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tenure import Agent, Model, Runtime
from tenure.runtime.model.event import TextDelta, ToolFinished, TurnEvent
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import AssistantMessage, ToolMessage, dangling
from tenure.runtime.model.program import TurnBudget
from tenure.runtime.providers.pydantic_ai import PydanticAiProvider
from tests.runtime.scene import until

pytestmark = [pytest.mark.llm, pytest.mark.timeout(1200)]


class Scene:
    """A runtime on a file, with one agent and its real model."""

    def __init__(self, address: str, folder: Path, *tools: Any, **settings: Json) -> None:
        model = OpenAIChatModel(
            "gemma", provider=OpenAIProvider(base_url=f"{address}/v1", api_key="none")
        )
        self.provider = PydanticAiProvider({"gemma": model})
        self.agent = Agent(
            "clerk",
            instructions="You are brief.",
            model=Model(self.provider, "gemma", temperature=0.0, seed=1, **settings),
            tools=tools,
            budget=TurnBudget(steps=2),
        )
        self.store = f"sqlite:///{folder}/agents.db"

    async def __aenter__(self) -> Runtime:
        self.runtime = Runtime(store=self.store, agents=[self.agent])
        return self.runtime

    async def __aexit__(self, *_: object) -> None:
        await self.runtime.aclose()
        await self.provider.close()


def busy(address: str) -> bool:
    """Whether the server is working on any answer."""
    with urllib.request.urlopen(f"{address}/slots", timeout=60) as response:
        return any(slot["is_processing"] for slot in json.load(response))


def test_a_turn_is_streamed(address: str, tmp_path: Path) -> None:
    async def story() -> None:
        async with Scene(address, tmp_path, max_tokens=12) as rt:
            chat = await rt.session("s1", agent="clerk")
            events = [event async for event in chat.stream("Say hello.", key="k")]
            result = await chat.turn("Say hello.", key="k")
            said = [event.text for event in events if isinstance(event, TextDelta)]
            print(f"\nstreamed {len(said)} pieces: {''.join(said)!r}; {result.usage}")
            assert result.completed
            assert result.text == "".join(said)
            assert len(said) > 1
            assert result.usage.requests == 1
            assert result.usage.input_tokens > 0
            assert 0 < result.usage.output_tokens <= 12

    asyncio.run(story())


def test_a_turn_cancelled_in_the_middle_stops_the_model(address: str, tmp_path: Path) -> None:
    async def story() -> None:
        settings = {"max_tokens": 3500, "extra_body": {"ignore_eos": True}}
        async with Scene(address, tmp_path, **settings) as rt:
            chat = await rt.session("s1", agent="clerk")
            said = 0
            async for event in chat.stream("Count to a thousand."):
                if isinstance(event, TextDelta):
                    said += 1
                    if said == 3:
                        assert await asyncio.to_thread(busy, address)
                        assert await rt.cancel_turn(event.turn, reason="enough")
            print(f"\ncancelled after {said} pieces")
            last = (await chat.messages())[-1]
            assert isinstance(last, AssistantMessage)
            assert last.stopped == "cancelled: enough"
            # it would go on for minutes if the connection were still open
            await until(lambda: asyncio.to_thread(lambda: not busy(address)), "the model at rest")
        async with Scene(address, tmp_path, max_tokens=4) as rt:
            chat = await rt.session("s1", agent="clerk")
            assert (await chat.turn("And now?")).completed, "the history is one it can take"

    asyncio.run(story())


def test_a_tool_call_is_carried_out_if_the_model_asks_for_one(address: str, tmp_path: Path) -> None:
    called: list[str] = []

    async def weather(city: str) -> str:
        """The weather in a city."""
        called.append(city)
        return f"It rains in {city}."

    async def story() -> None:
        settings: dict[str, Json] = {"max_tokens": 64, "tool_choice": "required"}
        async with Scene(address, tmp_path, weather, **settings) as rt:
            chat = await rt.session("s1", agent="clerk")
            events: list[TurnEvent] = [e async for e in chat.stream("The weather in Rome?")]
            messages = list(await chat.messages())
        tools = [m for m in messages if isinstance(m, ToolMessage)]
        print(f"\ncalled with {called}; {[(m.status, m.content) for m in tools]}; {messages[-1]}")
        assert dangling(messages) == []
        assert len([e for e in events if isinstance(e, ToolFinished)]) == len(tools)
        assert len(called) == len([m for m in tools if m.status == "ok"])

    asyncio.run(story())
