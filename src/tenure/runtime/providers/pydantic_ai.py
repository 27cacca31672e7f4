"""Vendors through Pydantic AI's model layer: OpenAI-compatible endpoints, Anthropic, Google and others.

Needs the extra `pydantic-ai`. Only its model layer is used: retries, tools and turns are ours.
"""

import asyncio
import sys
from collections.abc import Mapping
from typing import cast

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    ModelTimeoutError,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse, infer_model
from pydantic_ai.settings import ModelSettings

from tenure.runtime.errors import ProviderError, StreamCut
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.json import Json
from tenure.runtime.ports.provider import ModelRequest, Provider, Say
from tenure.runtime.providers.pydantic_ai_messages import answered, definition, history, text_of

#: Statuses of HTTP after which the same request may well succeed.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})

#: Seconds that closing waits for another thread's event loop.
_PATIENCE = 10.0


class PydanticAiProvider(Provider):
    """Asks a model of Pydantic AI. `models` maps our model names to theirs, or to ready models.

    A name that is not in `models` is handed to Pydantic AI as it is, for example
    `openai:gpt-5-mini`. Each model is entered once on each event loop that uses it, and left by
    `close`, which closes the connections that Pydantic AI opened. A client that was made by the
    host and handed to a ready model stays the host's to close.

    The vendor's own client repeats nothing unless the settings say `max_retries`: tries are
    counted and waited for by `RetryPolicy` alone.
    """

    def __init__(self, models: Mapping[str, Model | str] | None = None) -> None:
        self._models = dict(models or {})
        self._open: dict[tuple[asyncio.AbstractEventLoop, str], Model] = {}

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """One complete answer, streamed. Cancelled, it closes the connection it was reading."""
        model = await self._model(request.model)
        streaming = False
        try:
            async with model_request_stream(
                model,
                history(request),
                model_settings=_settings(model, request.settings),
                model_request_parameters=ModelRequestParameters(
                    function_tools=[definition(spec) for spec in request.tools],
                    allow_text_output=True,
                ),
            ) as stream:
                streaming = True
                async for event in stream:
                    text = text_of(event)
                    if text:
                        say(text)
                response = stream.get()
        except AgentRunError as error:
            if streaming and _broken_off(error):
                raise _cut(request.model) from error
            raise translated(request.model, error) from error
        if not _ended(stream, response):
            raise _cut(request.model)
        if response.finish_reason == "error":
            what = "the vendor ended the answer with an error"
            raise ProviderError(provider=request.model, what=what, retryable=True, retry_after=None)
        return answered(response)

    async def close(self) -> None:
        """Leave every model that was entered, on the event loop on which it was."""
        while self._open:
            (loop, _), model = self._open.popitem()
            await _left(model, loop)

    async def _model(self, name: str) -> Model:
        key = (asyncio.get_running_loop(), name)
        known = self._open.get(key)
        if known is not None:
            return known
        await self._forget_gone_loops()
        model = infer_model(self._models.get(name, name))
        await model.__aenter__()
        known = self._open.get(key)
        if known is not None:  # by somebody else, meanwhile
            await model.__aexit__(None, None, None)
            return known
        self._open[key] = model
        return model

    async def _forget_gone_loops(self) -> None:
        for loop, name in tuple(self._open):
            if loop.is_closed():
                await _left(self._open.pop((loop, name)), loop)


async def _left(model: Model, loop: asyncio.AbstractEventLoop) -> None:
    """Leave a model. Connections of a loop that is gone are gone with it."""
    if loop is asyncio.get_running_loop():
        await model.__aexit__(None, None, None)
    elif loop.is_running():
        leaving = asyncio.run_coroutine_threadsafe(model.__aexit__(None, None, None), loop)
        try:
            await asyncio.wait_for(asyncio.wrap_future(leaving), _PATIENCE)
        except TimeoutError:
            pass  # that loop stopped meanwhile, or is stuck
    else:
        try:
            await model.__aexit__(None, None, None)
        except RuntimeError:
            pass  # what it says of a loop that is closed


def _settings(model: Model, settings: dict[str, Json]) -> ModelSettings:
    quiet = {} if "max_retries" in model.unsupported_settings else {"max_retries": 0}
    return cast(ModelSettings, {**quiet, **settings})


# ends of streams


def _ended(stream: StreamedResponse, response: ModelResponse) -> bool:
    """Whether the vendor itself ended the answer.

    Over OpenAI's chat protocol, Pydantic AI says "stop" by itself where no reason came. A model
    that runs in this process, as in tests, gives no reasons and cannot be cut off.
    """
    if response.state != "complete":
        return False
    if "finish_reason" in (response.provider_details or {}):
        return True
    if response.finish_reason is None:
        return response.provider_url is None
    chat = sys.modules.get("pydantic_ai.models.openai")
    made_up = chat is not None and isinstance(stream, chat.OpenAIStreamedResponse)
    return not made_up or response.finish_reason == "content_filter"


def _broken_off(error: AgentRunError) -> bool:
    return isinstance(error, ModelConnectionError) and not isinstance(error, ModelTimeoutError)


def _cut(model: str) -> StreamCut:
    return StreamCut(provider=model, retryable=True, retry_after=None)


def translated(model: str, error: AgentRunError) -> ProviderError:
    """What may pass by itself: whatever a vendor does not clearly blame on the request."""
    after = error.retry_after if isinstance(error, ModelAPIError) else None
    if isinstance(error, ModelQuotaExceededError | ModelRequestRejectedError):
        retryable = False
    elif isinstance(error, ModelHTTPError):
        retryable = error.status_code in _PASSING
    else:
        retryable = isinstance(error, ModelAPIError)
    return ProviderError(provider=model, what=str(error), retryable=retryable, retry_after=after)
