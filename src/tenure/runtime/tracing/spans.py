"""Spans of a turn: their ids derive from what they are, so a resumed turn exports the same ones."""

import hashlib

import msgspec

from tenure.runtime.machine.answers import Answer, ToolResult
from tenure.runtime.model.effect import Effect, Outcome
from tenure.runtime.model.json import Json
from tenure.runtime.model.program import Program
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.ports.tracing import Span


def trace_id(turn: str) -> str:
    """The trace of a turn."""
    return hashlib.sha256(b"trace\0" + turn.encode()).hexdigest()[:32]


def span_id(turn: str, key: str) -> str:
    """The span of one thing in a turn."""
    return hashlib.sha256(b"span\0" + turn.encode() + b"\0" + key.encode()).hexdigest()[:16]


def turn_span(
    result: TurnResult, program: Program, *, started_wall_ns: int, ended_wall_ns: int
) -> Span:
    """The root span of a committed turn. Attributes follow OpenTelemetry's GenAI conventions."""
    return Span(
        id=span_id(result.turn, "turn"),
        trace=trace_id(result.turn),
        parent=None,
        kind="turn",
        name=f"invoke_agent {program.agent}",
        started_wall_ns=started_wall_ns,
        ended_wall_ns=ended_wall_ns,
        status="ok" if result.completed else result.status,
        attributes={
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": program.agent,
            "gen_ai.conversation.id": result.session,
            "gen_ai.request.model": program.model,
            "gen_ai.usage.input_tokens": result.usage.input_tokens,
            "gen_ai.usage.output_tokens": result.usage.output_tokens,
        },
    )


def effect_span(
    turn: str,
    effect: Effect,
    outcome: Outcome,
    program: Program,
    *,
    started_wall_ns: int,
    ended_wall_ns: int,
    replayed: bool,
) -> Span:
    """The span of a model or tool call."""
    status: str = outcome.status
    attributes: dict[str, Json]
    if effect.kind == "model":
        name = f"chat {program.model}"
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": program.model}
        if outcome.status == "ok":
            usage = msgspec.convert(outcome.value, Answer).usage
            attributes["gen_ai.usage.input_tokens"] = usage.input_tokens
            attributes["gen_ai.usage.output_tokens"] = usage.output_tokens
    else:
        if outcome.status == "ok":
            status = msgspec.convert(outcome.value, ToolResult).status
        name = f"execute_tool {effect.request['name']}"
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": effect.request["name"],
            "gen_ai.tool.call.id": effect.request["id"],
        }
    return Span(
        id=span_id(turn, effect.key),
        trace=trace_id(turn),
        parent=span_id(turn, "turn"),
        kind="model" if effect.kind == "model" else "tool",
        name=name,
        started_wall_ns=started_wall_ns,
        ended_wall_ns=ended_wall_ns,
        replayed=replayed,
        status=status,
        attributes=attributes,
    )
