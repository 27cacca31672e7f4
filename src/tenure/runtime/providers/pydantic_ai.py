"""Vendors through Pydantic AI's model layer: OpenAI-compatible endpoints, Anthropic, Google and others.

Needs the extra `pydantic-ai`. Only its model layer is used: retries, tools and turns are ours.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

from pydantic_ai import messages as theirs
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import AgentRunError, ModelAPIError, ModelHTTPError
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from tenure.runtime.errors import ProviderError, StreamCut
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import AssistantMessage, Message, ToolCall, UserMessage
from tenure.runtime.model.program import ToolSpec
from tenure.runtime.model.usage import Usage
from tenure.runtime.ports.provider import ModelRequest, Provider, Say

#: Statuses of HTTP after which the same request may well succeed.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


class PydanticAiProvider(Provider):
    """Asks a model of Pydantic AI. `models` maps our model names to theirs, or to ready models.

    A name that is not in `models` is handed to Pydantic AI as it is, for example
    `openai:gpt-5-mini`. Each model is entered once, and left by `close`.
    """

    def __init__(self, models: dict[str, Model | str] | None = None) -> None:
        self._models = dict(models or {})
        self._open: dict[str, Model] = {}

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """One complete answer, streamed."""
        model = await self._model(request.model)
        parameters = ModelRequestParameters(
            function_tools=[_definition(spec) for spec in request.tools], allow_text_output=True
        )
        try:
            async with model_request_stream(
                model,
                _history(request),
                model_settings=_settings(request.settings),
                model_request_parameters=parameters,
            ) as stream:
                async for event in stream:
                    text = _text_of(event)
                    if text:
                        say(text)
                response = stream.get()
        except AgentRunError as error:
            raise _translated(request.model, error) from error
        if response.finish_reason is None:
            raise StreamCut(provider=request.model, retryable=True, retry_after=None)
        return _answer(response)

    async def close(self) -> None:
        """Leave every model that was entered, which closes its connections."""
        while self._open:
            _, model = self._open.popitem()
            await model.__aexit__(None, None, None)

    async def _model(self, name: str) -> Model:
        model = self._open.get(name)
        if model is None:
            model = infer_model(self._models.get(name, name))
            await model.__aenter__()
            self._open[name] = model
        return model


def _definition(spec: ToolSpec) -> ToolDefinition:
    return ToolDefinition(
        name=spec.name, description=spec.description, parameters_json_schema=spec.schema
    )


def _settings(settings: dict[str, Json]) -> ModelSettings:
    return cast(ModelSettings, dict(settings))


def _history(request: ModelRequest) -> list[theirs.ModelMessage]:
    """Our messages as theirs. What comes between two answers is one request."""
    found: list[theirs.ModelMessage] = []
    parts: list[theirs.ModelRequestPart] = []

    def close() -> None:
        if parts:
            made = theirs.ModelRequest(parts=list(parts), instructions=request.instructions)
            found.append(made)
            parts.clear()

    for message in request.messages:
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
    return call.arguments if isinstance(call.arguments, dict) else json.dumps(call.arguments)


def _part(message: Message) -> theirs.ModelRequestPart:
    if isinstance(message, UserMessage):
        names = [f"[attachment {a.name or a.digest}: {a.media_type}]" for a in message.attachments]
        return theirs.UserPromptPart(content="\n".join([message.text, *names]))
    assert not isinstance(message, AssistantMessage), "answers are no part of a request"
    content = message.content if message.status == "ok" else f"[{message.status}] {message.content}"
    return theirs.ToolReturnPart(tool_name=message.name, content=content, tool_call_id=message.call)


def _text_of(event: Any) -> str:
    if isinstance(event, theirs.PartStartEvent) and isinstance(event.part, theirs.TextPart):
        return event.part.content
    if isinstance(event, theirs.PartDeltaEvent) and isinstance(event.delta, theirs.TextPartDelta):
        return event.delta.content_delta
    return ""


def _answer(response: theirs.ModelResponse) -> Answer:
    texts = [part.content for part in response.parts if isinstance(part, theirs.TextPart)]
    calls = [part for part in response.parts if isinstance(part, theirs.ToolCallPart)]
    return Answer(
        text="".join(texts),
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
        return json.loads(call.args or "{}")
    except ValueError:
        return call.args


def _translated(model: str, error: AgentRunError) -> ProviderError:
    retryable, after = False, None
    if isinstance(error, ModelHTTPError):
        retryable = error.status_code in _PASSING
        after = error.retry_after
    elif isinstance(error, ModelAPIError):
        retryable = True
        after = error.retry_after
    return ProviderError(provider=model, what=str(error), retryable=retryable, retry_after=after)
