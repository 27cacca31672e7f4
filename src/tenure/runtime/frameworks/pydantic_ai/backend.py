"""Carrying out the operations of a Pydantic AI run: each is a part of the run."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, cast, get_args

from pydantic_ai import ToolsetTool
from pydantic_ai.durable_exec import (
    BoundDurableOperation,
    DurableOperation,
    DurableOperationBackend,
    EventStreamHandlerId,
    ModelRequestId,
    ToolsetCallToolId,
    durable_unit_scope,
    record_durable_unit,
)
from pydantic_ai.exceptions import ModelAPIError, ToolFailed
from pydantic_ai.messages import ModelResponse

from tenure.runtime.adopted import AdoptedRun
from tenure.runtime.errors import PartInDoubt, ProviderError, WiringError
from tenure.runtime.frameworks.pydantic_ai.current import current, running
from tenure.runtime.frameworks.pydantic_ai.parts import Asked, asked
from tenure.runtime.machine.answers import UNKNOWN
from tenure.runtime.model.event import ModelRetried
from tenure.runtime.model.json import Json
from tenure.runtime.model.program import InDoubt
from tenure.runtime.model.usage import Usage
from tenure.runtime.providers.pydantic_ai import translated
from tenure.runtime.tools.calls import Part

P = TypeVar("P")
W = TypeVar("W")
R = TypeVar("R")

#: Where a tool's metadata say what is in doubt, or False for one that does nothing outside.
METADATA = "tenure"


class PartBackend(DurableOperationBackend[InDoubt]):
    """Binds operations to parts. `in_doubt` is by the name of a tool."""

    def __init__(self, agent: str, in_doubt: Mapping[str, InDoubt]) -> None:
        self._agent = agent
        self._in_doubt = in_doubt

    def bind(self, operation: DurableOperation[P, W, R]) -> BoundDurableOperation[P, W, R]:
        """The operation as a part of whatever run it is called in."""
        return _Bound(operation, self._agent)

    def config_for_tool(
        self, operation: DurableOperation[P, W, R], *, tool: object | None, tool_name: str
    ) -> InDoubt | Literal[False]:
        """What happens to a call of the tool that is in doubt; False for one that is no effect.

        Raises: WiringError: its metadata say something else.
        """
        del operation
        said: Any = None
        if isinstance(tool, ToolsetTool):
            said = (tool.tool_def.metadata or {}).get(METADATA)
        if said is False:
            return False
        if isinstance(said, Mapping):
            said = said.get("in_doubt")
        return checked(tool_name, said or self._in_doubt.get(tool_name, "report"))

    def registrations(self) -> Sequence[Callable[..., object]]:
        """Nothing has to be known before a run."""
        return ()


def checked(tool: str, said: Any) -> InDoubt:
    """What is said of a tool's calls in doubt. Raises: WiringError: it is none of the three."""
    if said not in get_args(InDoubt):
        raise WiringError(
            what=f"tool {tool!r} says in_doubt={said!r}", next='say "rerun", "report" or "wait"'
        )
    return cast(InDoubt, said)


class _Bound(BoundDurableOperation[P, W, R]):
    def __init__(self, operation: DurableOperation[P, W, R], agent: str) -> None:
        self._operation = operation
        self._agent = agent

    @property
    def operation(self) -> DurableOperation[P, W, R]:
        return self._operation

    async def __call__(self, params: P, *, config: object | None = None) -> R:
        run, of = current(), self._operation.operation_id
        if run is None or isinstance(of, EventStreamHandlerId):  # what is drawn may be lost
            return await self._operation.handler(params)
        what = asked(self._agent, of, params)
        if isinstance(of, ModelRequestId):
            return await self._ask_model(run, what, params)
        in_doubt: InDoubt = "rerun" if what.repeatable else checked(what.name, config or "report")
        try:
            part = await run.part(what.name, what.request, in_doubt, self._doing(params))
        except PartInDoubt:
            if not isinstance(of, ToolsetCallToolId):
                raise
            raise await _doubted(run, what, in_doubt) from None
        return self._loaded(part, part.value)

    def _doing(self, params: P) -> Callable[[], Any]:
        async def doing() -> Json:
            with running("inside"), durable_unit_scope():
                return self._operation.result_codec.dump(await self._operation.handler(params))

        return doing

    def _loaded(self, part: Part, payload: Json) -> R:
        record_durable_unit(executed=not part.replayed)
        result: R = self._operation.result_codec.load(payload)
        return result

    async def _ask_model(self, run: AdoptedRun, what: Asked, params: P) -> R:
        step = run.next_step()
        doing, name = self._doing(params), run.model
        part = await run.part(
            what.name, what.request, "rerun", lambda: _answered(run, step, name, doing)
        )
        if "failed" in part.value:
            raise ModelAPIError(name, part.value["failed"])
        result = self._loaded(part, part.value["answer"])
        if isinstance(result, ModelResponse):
            _tell(run, result)
        return result


async def _answered(run: AdoptedRun, step: int, model: str, asking: Callable[[], Any]) -> Json:
    """The model's answer, or what it failed with after as many tries as the host allows."""
    tries = 0
    while True:
        tries += 1
        try:
            return {"answer": await asking()}
        except ModelAPIError as error:
            failure: ProviderError = translated(model, error)
        delay = None
        if failure.fields["retryable"]:
            delay = run.delay(tries, failure.fields["retry_after"])
        if delay is None:
            return {"failed": f"{failure} (after {tries} tries)"}
        run.emit(
            ModelRetried(turn=run.turn, step=step, tries=tries, delay=delay, reason=str(failure))
        )
        await asyncio.sleep(delay)


def _tell(run: AdoptedRun, response: ModelResponse) -> None:
    run.usage += Usage(
        requests=1,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        tool_calls=len(response.tool_calls),
    )


class Evidence(Exception):
    """What somebody outside says that a tool call in doubt returned. No failure of it."""

    def __init__(self, value: Json) -> None:
        self.value = value
        super().__init__("somebody outside says what it returned")


async def _doubted(run: AdoptedRun, what: Asked, in_doubt: InDoubt) -> Exception:
    """What to raise for a tool call that somebody else began and did not record."""
    if in_doubt != "wait":
        return ToolFailed(UNKNOWN)
    answer = await run.wait("in doubt", {"in_doubt": what.request}, None)
    if answer.word != "value":
        return ToolFailed(f"{UNKNOWN} [{answer.word}] {answer.value}")
    return Evidence(answer.value)
