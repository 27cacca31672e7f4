"""A model of the OpenAI Agents SDK that says what it was told to say. No network."""

from collections.abc import AsyncIterator, Sequence
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Usage, function_tool
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseStreamEvent,
)

#: Nothing is traced to anywhere.
QUIET = RunConfig(tracing_disabled=True)


def said(text: str) -> ResponseOutputMessage:
    """The model's answer."""
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[content]
    )


def called(name: str, call: str, arguments: str = "{}") -> ResponseFunctionToolCall:
    """The model's call of a tool."""
    return ResponseFunctionToolCall(
        type="function_call", name=name, call_id=call, arguments=arguments, id=call
    )


class Parrot(Model):
    """Answers with the next of its outputs, and remembers what it was asked."""

    def __init__(self, *outputs: Any) -> None:
        self._outputs = list(outputs)
        self.asked: list[Any] = []

    async def get_response(self, *args: Any, **named: Any) -> Any:
        self.asked.append(named.get("input", args[1:2]))
        return ModelResponse(output=[self._outputs.pop(0)], usage=Usage(), response_id=None)

    async def stream_response(self, *args: Any, **named: Any) -> AsyncIterator[ResponseStreamEvent]:
        self.asked.append(named.get("input", args[1:2]))
        response = Response(
            id="r",
            created_at=0,
            model="parrot",
            object="response",
            output=[self._outputs.pop(0)],
            tool_choice="none",
            tools=[],
            parallel_tool_calls=False,
        )
        yield ResponseCompletedEvent(
            type="response.completed", response=response, sequence_number=0
        )


@function_tool
def weather() -> str:
    """What the weather is."""
    return "rain"


def agent(*outputs: Any) -> Agent[Any]:
    """An agent that says this, in this order."""
    return Agent(name="parrot", instructions="Answer.", model=Parrot(*outputs), tools=[weather])


def texts(items: Sequence[Any]) -> list[str]:
    """What was said by whom, in short."""
    return [_text(item) for item in items]


def _text(item: Any) -> str:
    kind = item.get("type", "message")
    if kind == "function_call":
        return f"calls {item['name']}"
    if kind == "function_call_output":
        return f"got {item['output']}"
    content = item["content"]
    words = content if isinstance(content, str) else content[0]["text"]
    return f"{item['role']}: {words}"
