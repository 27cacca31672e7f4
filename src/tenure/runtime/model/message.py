"""Messages: what the model is shown and what it said. Frozen, and stored as they are."""

from typing import Literal

import msgspec

from tenure.runtime.model.json import Json

#: What became of a tool call, as the model is told. *unknown*: it was started and nobody knows.
ToolStatus = Literal["ok", "error", "unknown", "unavailable", "cancelled"]


class Attachment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file in a message, by the digest of its content. The bytes are in the blob store."""

    digest: str
    media_type: str
    name: str = ""
    size: int = 0


class UserMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="user"):
    """What a person, or another part of the system, says to the agent."""

    text: str
    attachments: tuple[Attachment, ...] = ()


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call that the model asks for. `id` is the provider's and unique within its answer."""

    id: str
    name: str
    arguments: Json = None  #: decoded JSON, or the text as it came where it does not decode


class AssistantMessage(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="assistant"
):
    """One answer of the model."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    stopped: str | None = None  #: why it is not the model's own end: stopped or cancelled, and why
    kept: Json = None  #: what the framework of an adopted agent keeps of the turn, for its next one


class ToolMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="tool"):
    """What one call returned, in the place of the call in its answer."""

    call: str
    name: str
    status: ToolStatus
    content: str


Message = UserMessage | AssistantMessage | ToolMessage


def dangling(messages: list[Message]) -> list[str]:
    """The ids of calls that have no result, or results that have no call. Providers refuse both."""
    wrong: list[str] = []
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.call in waiting:
                waiting.remove(message.call)
            else:
                wrong.append(message.call)
            continue
        wrong += waiting
        waiting = (
            [call.id for call in message.calls] if isinstance(message, AssistantMessage) else []
        )
    return wrong + waiting
