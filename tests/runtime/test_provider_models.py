"""The adapter over Pydantic AI's own models for tests, which run in this process."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart
from pydantic_ai.models import Model as TheirModel
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.models.test import TestModel

from tenure.faces.host import Runtime
from tenure.runtime.agent import Agent, Model
from tenure.runtime.model.event import TextDelta
from tenure.runtime.model.message import ToolMessage
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.providers.pydantic_ai import PydanticAiProvider


def turn(model: TheirModel | str, **agent: Any) -> tuple[TurnResult, list[str], list[Any]]:
    """One turn, with the text it streamed and the messages it committed."""

    async def run() -> tuple[TurnResult, list[str], list[Any]]:
        provider = PydanticAiProvider({"m": model})
        made = Agent("a", instructions="help", model=Model(provider, "m"), **agent)
        async with Runtime(store="memory://", agents=[made]) as host:
            chat = await host.session("s1", agent="a")
            events = [event async for event in chat.stream("hi", key="k")]
            said = [event.text for event in events if isinstance(event, TextDelta)]
            result = await chat.turn("hi", key="k")
            messages = list(await chat.messages())
        await provider.close()
        return result, said, messages

    return asyncio.run(run())


def test_a_model_for_tests_calls_every_tool_and_answers() -> None:
    seen: list[str] = []

    def note(text: str) -> str:
        """Notes a text."""
        seen.append(text)
        return "noted"

    result, said, messages = turn(TestModel(custom_output_text="all done"), tools=[note])
    assert (result.status, result.text) == ("completed", "all done")
    assert "".join(said) == "all done"
    assert len(seen) == 1
    assert [m.content for m in messages if isinstance(m, ToolMessage)] == ["noted"]


def test_a_function_answers_in_pieces_with_calls_side_by_side() -> None:
    requests: list[ModelRequest] = []

    async def answer(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        last = messages[-1]
        assert isinstance(last, ModelRequest)
        requests.append(last)
        assert [tool.name for tool in info.function_tools] == ["double"]
        if len(requests) == 1:
            yield "let me "
            yield "see"
            yield {1: DeltaToolCall(name="double", json_args='{"n"', tool_call_id="x")}
            yield {2: DeltaToolCall(name="double", json_args='{"n": 4}', tool_call_id="y")}
            yield {1: DeltaToolCall(json_args=": 3}")}
        else:
            yield "6 and 8"

    async def double(n: int) -> int:
        """Doubles."""
        return 2 * n

    result, said, _ = turn(FunctionModel(stream_function=answer), tools=[double])
    assert result.text == "6 and 8"
    assert said == ["let me ", "see", "6 and 8"]
    returned = [part for part in requests[1].parts if isinstance(part, ToolReturnPart)]
    assert [(part.tool_call_id, part.content) for part in returned] == [("x", "6"), ("y", "8")]
    assert requests[1].instructions == "help"


def test_a_typed_answer_is_a_call_like_any_other() -> None:
    async def answer(
        messages: list[ModelMessage], info: AgentInfo
    ) -> AsyncIterator[str | DeltaToolCalls]:
        (final,) = info.function_tools
        yield {0: DeltaToolCall(name=final.name, json_args='{"n": 3}', tool_call_id="x")}

    result, _, _ = turn(FunctionModel(stream_function=answer), output=dict[str, int])
    assert (result.status, result.output) == ("completed", {"n": 3})


def test_what_the_host_put_together_wrong_ends_the_turn_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result, _, _ = turn("openai:gpt-5-mini")
    assert result.status == "stopped"
    assert "OPENAI_API_KEY" in result.reason
    result, _, _ = turn("nobody:nothing")
    assert result.status == "stopped"
    assert "nobody" in result.reason
