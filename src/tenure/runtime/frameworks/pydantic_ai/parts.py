"""Operations of a Pydantic AI run as parts: their names, and what they are asked for.

A name says what the operation is and never when it happened, so calls that run side by side
may end in any order. What it is asked for is compared when the run is started again; what a run
makes anew each time is left out: timestamps, and instructions, which functions may write.
"""

from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from pydantic_ai.durable_exec import (
    CapabilityOperationId,
    DurableOperationId,
    DynamicToolsetCallToolParams,
    ModelCancelSuspendedResponseId,
    ModelCompactMessagesId,
    ModelRequestId,
    ModelRequestParams,
    ToolsetCallToolId,
    ToolsetCallToolParams,
    ToolsetGetInstructionsId,
    ToolsetGetToolsId,
    ToolsetValidateToolArgumentsId,
)
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse
from pydantic_ai.tools import RunContext
from pydantic_core import to_jsonable_python

from tenure.runtime.model.json import Json, digest

#: What of a part of a message is compared.
_COMPARED = ("part_kind", "tool_name", "tool_call_id", "content")


class Asked(NamedTuple):
    """One operation of a run: its name within the run, and what it is asked for."""

    name: str
    request: Json
    repeatable: bool  #: it changes nothing outside, and may be repeated if its outcome is unknown


def asked(agent: str, operation: DurableOperationId, params: Any) -> Asked:
    """An operation as a part of a run of `agent`."""
    name, request, repeatable = _asked(operation, params)
    return Asked(f"{agent}.{name}", request, repeatable)


def _asked(operation: DurableOperationId, params: Any) -> tuple[str, Json, bool]:
    match operation:
        case ModelRequestId():
            request = {"model": operation.model_id, "messages": _new(params)}
            return f"model.{params.run_context.run_step}", request, True
        case ModelCompactMessagesId() | ModelCancelSuspendedResponseId():
            return type(operation).__name__, {"model": operation.model_id}, True
        case ToolsetCallToolId():
            return f"tool.{_call(params)}", _call_request(operation.toolset_id, params), False
        case ToolsetValidateToolArgumentsId():
            return f"check.{_call(params)}", _call_request(operation.toolset_id, params), True
        case ToolsetGetToolsId() | ToolsetGetInstructionsId():
            step = params.ctx.run_step
            return f"{type(operation).__name__}.{operation.toolset_id}.{step}", None, True
        case CapabilityOperationId():
            request = _plain(params)
            name = f"capability.{operation.capability_id}.{operation.operation}"
            return f"{name}.{digest('operation', request)}", request, False
        case _:
            request = _plain(params)
            return f"{type(operation).__name__}.{digest('operation', request)}", request, False


def _call(params: ToolsetCallToolParams | DynamicToolsetCallToolParams) -> str:
    """A tool call: models may use an id again in a later answer."""
    return f"{params.ctx.run_step}.{params.ctx.tool_call_id or params.name}"


def _call_request(
    toolset: str, params: ToolsetCallToolParams | DynamicToolsetCallToolParams
) -> Json:
    return {"toolset": toolset, "name": params.name, "arguments": jsonable(params.tool_args)}


def _new(params: ModelRequestParams) -> Json:
    """What the model is shown for the first time: all since its last answer, as it is compared."""
    new: list[ModelMessage] = []
    for message in reversed(params.messages):
        if isinstance(message, ModelResponse):
            break
        new.insert(0, message)
    shown = ModelMessagesTypeAdapter.dump_python(new, mode="json")
    return [
        {field: part[field] for field in _COMPARED if field in part}
        for message in shown
        for part in message["parts"]
        if part["part_kind"] != "system-prompt"
    ]


def _plain(params: Any) -> Json:
    """The fields of parameters, but what only this process has."""
    if not is_dataclass(params):
        return jsonable(params)
    values = {field.name: getattr(params, field.name) for field in fields(params)}
    return {n: jsonable(v) for n, v in values.items() if not isinstance(v, RunContext)}


def jsonable(value: Any) -> Json:
    """The value as JSON says it; what it cannot say, by its type alone."""
    return to_jsonable_python(value, fallback=lambda other: {"type": type(other).__qualname__})
