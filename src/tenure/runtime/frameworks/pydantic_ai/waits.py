"""What a Pydantic AI run waits for: approvals, tools that others run, and events from outside."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_ai.durable_exec import ExternalEventError, ExternalEventWaiter
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import (
    DeferredToolApprovalResult,
    DeferredToolRequests,
    DeferredToolResults,
    ToolDenied,
)

from tenure.runtime.adopted import AdoptedRun
from tenure.runtime.frameworks.pydantic_ai.current import running
from tenure.runtime.frameworks.pydantic_ai.parts import jsonable
from tenure.runtime.model.json import Json
from tenure.runtime.model.wait import Resolution

_approvals: TypeAdapter[Any] = TypeAdapter(DeferredToolApprovalResult)


async def decided(run: AdoptedRun, requests: DeferredToolRequests) -> DeferredToolResults:
    """What people and systems outside say of deferred calls, each of which is a wait of its own.

    They can all be answered from the start, in any order.
    """
    approvals = [await _opened(run, "approve", call, requests) for call in requests.approvals]
    calls = [await _opened(run, "call", call, requests) for call in requests.calls]
    answers = await asyncio.gather(*(run.answer(wait) for wait in (*approvals, *calls)))
    said = dict(zip((call.tool_call_id for call in requests.approvals), answers, strict=False))
    done = answers[len(approvals) :]
    return requests.build_results(
        approvals={call: _approval(answer) for call, answer in said.items()},
        calls={
            call.tool_call_id: _result(answer)
            for call, answer in zip(requests.calls, done, strict=True)
        },
    )


async def _opened(
    run: AdoptedRun, name: str, call: ToolCallPart, requests: DeferredToolRequests
) -> Any:
    asked = {
        "tool": call.tool_name,
        "arguments": jsonable(call.args_as_dict()),
        "call": call.tool_call_id,
    }
    metadata = requests.metadata.get(call.tool_call_id)
    if metadata:
        asked["metadata"] = jsonable(metadata)
    return await run.open_wait(name, asked, None)


def _approval(answer: Resolution) -> Any:
    """A plain yes or no, or Pydantic AI's own words for either. Anything else is no."""
    if answer.word == "value":
        if answer.value is True:
            return True
        try:
            return _approvals.validate_python(answer.value)
        except ValidationError:
            return ToolDenied()
    return ToolDenied(f"Nobody approved this call: {answer.word}, {answer.value}")


def _result(answer: Resolution) -> Any:
    if answer.word == "value":
        return answer.value
    return ToolFailed(f"No result came: {answer.word}, {answer.value}")


class EventWaits(ExternalEventWaiter):
    """Events from outside as waits of a run: the token is the wait's key."""

    def __init__(self, run: AdoptedRun) -> None:
        self._run = run

    async def wait(
        self,
        name: str,
        *,
        ask: Callable[[str], Awaitable[JsonValue]],
        timeout: timedelta | None,  # noqa: ASYNC109 - its name in theirs
    ) -> JsonValue:
        """See `ExternalEventWaiter`. Whoever is asked twice after a crash gets the same token."""
        run = self._run
        within = None if timeout is None else timeout.total_seconds()
        opened = await run.open_wait(name, {"event": name}, within)

        async def asking() -> Json:
            with running("inside"):
                return await ask(opened.key)

        said = await run.part(f"ask.{name}", {"wait": opened.id}, "rerun", asking)
        found: JsonValue = said.value
        if found is None:
            answer = await run.answer(opened)
            if answer.word != "value":
                raise ExternalEventError(f"{answer.word}: {answer.value}")
            found = answer.value
        return found
