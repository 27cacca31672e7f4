"""The history of a session as Pydantic AI has it. What a turn of its own said is kept as it was."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
)

from tenure.runtime.machine.machine import ENDED
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import AssistantMessage, Message, UserMessage
from tenure.runtime.ports.provider import ReadAttachment
from tenure.runtime.providers.pydantic_ai_messages import as_theirs


def told(messages: Sequence[Message]) -> list[ModelMessage]:
    """Messages of a session as a run is given them."""
    found: list[ModelMessage] = []
    plain: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.kept is not None:
            found += loaded(message.kept)
            if message.stopped is not None:
                found.append(ModelResponse(parts=[TextPart(f"[{message.stopped}]")]))
            plain.clear()
            continue
        plain.append(message)
        if isinstance(message, AssistantMessage):
            found += as_theirs(plain)
            plain.clear()
    return found + as_theirs(plain)


def kept(messages: list[ModelMessage]) -> Json:
    """Messages as they are stored."""
    return ModelMessagesTypeAdapter.dump_python(messages, mode="json")


def loaded(stored: Json) -> list[ModelMessage]:
    """Stored messages. Raises: pydantic.ValidationError: they are of another version."""
    return ModelMessagesTypeAdapter.validate_python(stored)


def closed(messages: list[ModelMessage], returned: Mapping[str, Json]) -> list[ModelMessage]:
    """Messages of a run that is not going on, with a result for every call: what is known of it."""
    calls: dict[str, ToolCallPart] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                calls[part.tool_call_id] = part
            elif isinstance(part, ToolReturnPart | RetryPromptPart):
                calls.pop(part.tool_call_id, None)
    parts = [
        ToolReturnPart(
            tool_name=call.tool_name,
            content=returned.get(name, ENDED),
            tool_call_id=name,
            outcome="success" if name in returned else "interrupted",
        )
        for name, call in calls.items()
    ]
    last = messages[-1] if messages else None
    if parts and isinstance(last, ModelRequest):
        return [*messages[:-1], replace(last, parts=[*last.parts, *parts])]
    return [*messages, ModelRequest(parts=parts)] if parts else messages


async def prompt(asked: Sequence[UserMessage], content: ReadAttachment) -> list[UserContent] | str:
    """What people said, with what they attached."""
    if len(asked) == 1 and not asked[0].attachments:
        return asked[0].text
    found: list[UserContent] = []
    for message in asked:
        found.append(message.text)
        found += [
            BinaryContent(data=await content(one), media_type=one.media_type)
            for one in message.attachments
        ]
    return found
