"""The server: standard input and output carry the protocol, and its end is the end of it all."""

import logging
import os
import signal
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import anyio
import msgspec
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from tenure.faces.mcp.command import NoAnswer, run, stop_watching
from tenure.faces.mcp.tools import BY_NAME, TOOLS, Offered
from tenure.gate.narration import AnyEvent

_INSTRUCTIONS = (
    "Tenure says whether a commit meets its project's policy. Before you say that work is done, "
    "commit it and call `done`: only `ok: true` is done. If it answers `running`, call `follow`, "
    "then `done` again. A call that is given up ends no run."
)

#: The lines that say what happened; for progress, which is words.
Words = Callable[[AnyEvent], list[str]]

_event = msgspec.json.Decoder(AnyEvent)


def serve(words: Words) -> int:
    """Serve until standard input ends, and return 0. A signal ends the process, with 128 + n."""
    logging.disable()  # standard error is the client's log, and what is wrong is told in answers
    anyio.run(_serve, words)
    return 0


async def _serve(words: Words) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_hear)
        server = make_server(words)
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _hear() -> None:
    """End at a signal. Nothing is unwound: a thread may wait for input that never comes."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for number in signals:
            stop_watching()
            os._exit(128 + number)


def make_server(words: Words) -> Server[Any]:
    """The server with its tools, for any transport."""

    async def on_list_tools(
        _: ServerRequestContext[Any], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def on_call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        tool = BY_NAME.get(params.name)
        if tool is None:
            return _failed(f"there is no tool {params.name!r}; there are {', '.join(BY_NAME)}")
        return await _called(tool, params.arguments or {}, context, words)

    return Server(
        "tenure",
        version=version("tenure"),
        instructions=_INSTRUCTIONS,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )


def _described(tool: Offered) -> Tool:
    return Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=ToolAnnotations(
            read_only_hint=tool.reads,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


async def _called(
    tool: Offered, arguments: dict[str, Any], context: ServerRequestContext[Any], words: Words
) -> CallToolResult:
    """The command's object as the answer, and an error of its as the tool's."""
    try:
        command = tool.command(arguments)
    except msgspec.ValidationError as error:
        return _failed(f"{tool.name} cannot be called so: {error}; see its input schema")
    events = 0

    async def tell(line: bytes) -> None:
        nonlocal events
        try:
            said = words(_event.decode(line))
        except msgspec.DecodeError:
            return  # no event
        if said:
            events += 1
            await context.session.report_progress(events, message="\n".join(said).strip())

    try:
        found = await run(command, tell)
    except NoAnswer as error:
        return _failed(str(error))
    if "error" in found:
        problems = found.get("problems") or [found["error"]["sentence"]]
        return _failed("\n".join(problems))
    text = msgspec.json.encode(found).decode()
    return CallToolResult(content=[TextContent(text=text)], structured_content=found)


def _failed(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=sentence)], is_error=True)
