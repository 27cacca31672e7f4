"""Our messages as Pydantic AI's, and its answers as ours."""

from collections.abc import Sequence
from typing import Any

import msgspec
from pydantic_ai import messages as theirs
from pydantic_ai.tools import ToolDefinition

from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.json import Json, canonical, storable
from tenure.runtime.model.message import AssistantMessage, Message, ToolCall, UserMessage
from tenure.runtime.model.program import ToolSpec
from tenure.runtime.model.usage import Usage
from tenure.runtime.ports.provider import ModelRequest


def definition(spec: ToolSpec) -> ToolDefinition:
    """A tool as Pydantic AI describes it to a vendor."""
    return ToolDefinition(
        name=spec.name, description=spec.description, parameters_json_schema=spec.schema
    )


def history(request: ModelRequest) -> list[theirs.ModelMessage]:
    """What the model is shown."""
    return as_theirs(request.messages, request.instructions or None)


def as_theirs(
    messages: Sequence[Message], instructions: str | None = None
) -> list[theirs.ModelMessage]:
    """Messages as theirs. Whatever comes between two answers is one request."""
    found: list[theirs.ModelMessage] = []
    parts: list[theirs.ModelRequestPart] = []

    def close() -> None:
        if parts:
            found.append(theirs.ModelRequest(parts=list(parts), instructions=instructions))
            parts.clear()

    for message in messages:
        if isinstance(message, AssistantMessage):
            close()
            found.append(theirs.ModelResponse(parts=_said(message)))
        else:
            parts.append(_part(message))
    close()
    return found


def _said(message: AssistantMessage) -> Sequence[Any]:
    parts: list[Any] = []
    if message.text:
        parts.append(theirs.TextPart(content=message.text))
    parts += [
        theirs.ToolCallPart(tool_name=call.name, args=_arguments(call), tool_call_id=call.id)
        for call in message.calls
    ]
    return parts or [theirs.TextPart(content=f"[{message.stopped or 'no answer'}]")]


def _arguments(call: ToolCall) -> Any:
    """A dict as it is. Anything else was refused by the tool, and not every vendor takes it back."""
    given = call.arguments
    if isinstance(given, dict):
        return given
    return {"invalid": given if isinstance(given, str) else canonical(given).decode()}


def _part(message: Message) -> theirs.ModelRequestPart:
    if isinstance(message, UserMessage):
        names = [f"[attachment {a.name or a.digest}: {a.media_type}]" for a in message.attachments]
        return theirs.UserPromptPart(content="\n".join([message.text, *names]).lstrip("\n"))
    assert not isinstance(message, AssistantMessage), "answers are no part of a request"
    content = message.content if message.status == "ok" else f"[{message.status}] {message.content}"
    return theirs.ToolReturnPart(tool_name=message.name, content=content, tool_call_id=message.call)


def text_of(event: Any) -> str:
    """The text that an event of a stream adds to the answer."""
    if isinstance(event, theirs.PartStartEvent) and isinstance(event.part, theirs.TextPart):
        return event.part.content
    if isinstance(event, theirs.PartDeltaEvent) and isinstance(event.delta, theirs.TextPartDelta):
        return event.delta.content_delta
    return ""


def answered(response: theirs.ModelResponse) -> Answer:
    """A complete response as an answer. What a model thought is not kept."""
    texts = [part.content for part in response.parts if isinstance(part, theirs.TextPart)]
    calls = [part for part in response.parts if isinstance(part, theirs.ToolCallPart)]
    return Answer(
        text=storable("".join(texts)),
        calls=tuple(
            ToolCall(id=call.tool_call_id, name=call.tool_name, arguments=_decoded(call))
            for call in calls
        ),
        usage=Usage(
            input_tokens=response.usage.input_tokens, output_tokens=response.usage.output_tokens
        ),
    )


def _decoded(call: theirs.ToolCallPart) -> Json:
    """The arguments as JSON, or as the text they are: the tool will say that it does not fit."""
    if not isinstance(call.args, str):
        return call.args or {}
    try:
        return msgspec.json.decode(call.args or "{}")
    except (ValueError, RecursionError):
        return storable(call.args)
