"""What a server's tool returned, as text for the model."""

import json
from typing import Any

from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.model.json import canonical, storable


def told(result: CallToolResult, name: str, most: int) -> ToolResult:
    """The result as the model is told it: text as it is, structured content as JSON, and of
    everything else that it was there.

    More than `most` bytes are an error, which says that the call did happen.
    """
    text = storable("\n".join(_parts(result)))
    size = len(text.encode())
    if size > most:
        return ToolResult(
            status="error",
            content=f"{name} did what it was asked and returned {size} bytes, {most} are allowed "
            "(its output_bytes)",
        )
    return ToolResult(status="error" if result.is_error else "ok", content=text)


def _parts(result: CallToolResult) -> list[str]:
    structured = result.structured_content
    shown = [text for block in result.content if (text := _shown(block)) is not None]
    if structured is None:
        return shown
    if any(_says(text, structured) for text in shown):
        return shown  # servers repeat it as text for those who read nothing else
    return [*shown, canonical(structured).decode()]


def _says(text: str, structured: Any) -> bool:
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = text
    return bool(said == structured or {"result": said} == structured)


def _shown(block: Any) -> str | None:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ImageContent | AudioContent):
        return f"[{block.type}: {block.mime_type}, {_bytes(block.data)} bytes, not shown]"
    if isinstance(block, ResourceLink):
        return f"[resource: {block.name}, {block.uri}]"
    if isinstance(block, EmbeddedResource):
        inside = block.resource
        if isinstance(inside, TextResourceContents):
            return inside.text
        return f"[resource: {inside.uri}, {_bytes(inside.blob)} bytes, not shown]"
    return f"[{getattr(block, 'type', 'content')}, not shown]"


def _bytes(base64: str) -> int:
    return len(base64.rstrip("=")) * 3 // 4
