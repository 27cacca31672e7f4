"""Tools: typed functions that a model may call."""

import asyncio
import inspect
import re
from collections.abc import Callable
from typing import Any, get_origin, get_type_hints, overload

import msgspec

from tenure.runtime.errors import WiringError
from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.model.json import Json, storable
from tenure.runtime.model.program import InDoubt, ToolSpec
from tenure.runtime.model.wait import OpenWait
from tenure.runtime.tools import foreign
from tenure.runtime.tools.calls import Suspended
from tenure.runtime.tools.context import ToolContext
from tenure.runtime.tools.thread import in_thread
from tenure.runtime.tools.toolset import AnyTool

OUTPUT_BYTES = 256 * 1024

IN_DOUBT: tuple[InDoubt, ...] = ("rerun", "report", "wait")

#: What every vendor's API takes for the name of a tool.
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")


class Tool(AnyTool):
    """A function with what it means to call it.

    Arguments are validated against the function's types before it is called: what does not
    fit is told to the model and is no failure of the turn. A tool that raises, returns too much
    or takes too long is told to the model as well.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        in_doubt: InDoubt = "report",
        timeout: float | None = None,
        output_bytes: int = OUTPUT_BYTES,
    ) -> None:
        if in_doubt not in IN_DOUBT:
            raise WiringError(
                what=f"in_doubt={in_doubt!r} is not supported by this version",
                next='use "rerun", "report" or "wait"',
            )
        if (timeout is not None and not timeout > 0) or output_bytes < 1:
            raise WiringError(
                what=f"timeout={timeout!r} and output_bytes={output_bytes!r} leave a tool nothing",
                next="give both a positive value, or leave them out",
            )
        self.function = function
        name = name or str(getattr(function, "__name__", ""))
        if not NAME.fullmatch(name):
            raise WiringError(
                what=f"{name!r} is no name for a tool, models would refuse it",
                next="pass name= with up to 64 letters, digits, _ and -",
            )
        self.timeout = timeout  #: seconds, None for as long as it takes
        self.output_bytes = output_bytes
        self._context, self._arguments = _read_signature(function, name)
        self.spec = ToolSpec(
            name=name,
            description=description or inspect.getdoc(function) or "",
            schema=_schema(self._arguments, name),
            in_doubt=in_doubt,
        )

    async def call(self, arguments: Json, context: ToolContext[Any]) -> ToolResult:
        """Call it. Every failure of the tool's own is a result; only cancellation is raised."""
        try:
            values = foreign.convert({} if arguments is None else arguments, self._arguments)
        except Exception as error:  # validators are code of the host's too
            return self._error(f"the arguments do not fit: {error}")
        given = {name: getattr(values, name) for name in self._arguments.__struct_fields__}
        if self._context is not None:
            given[self._context] = context
        running = asyncio.ensure_future(self._run(given))
        try:
            await asyncio.wait((running,), timeout=self.timeout)
        except asyncio.CancelledError:
            running.cancel()
            await asyncio.wait((running,))  # whoever cancelled us says how long that may take
            if running.cancelled() or running.exception() is not None:
                raise
            return self._told(running.result())  # it returned all the same
        if not running.done():
            _end_alone(running)
            return self._error(f"it did not return within {self.timeout:g} s (its timeout)")
        if running.cancelled():
            return self._error("it was cancelled by itself")
        raised = running.exception()
        if isinstance(raised, Suspended):
            raise raised
        if raised is not None:
            return self._error(f"{type(raised).__name__}: {raised}")
        return self._told(running.result())

    async def _run(self, given: dict[str, Any]) -> Any:
        """A coroutine on the loop; a plain function in a thread, so that it blocks nobody else."""
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**given)
        value = await in_thread(lambda: self.function(**given))
        return await value if inspect.isawaitable(value) else value

    def _error(self, text: str) -> ToolResult:
        return ToolResult(status="error", content=storable(text[: self.output_bytes]))

    def _told(self, value: Any) -> ToolResult:
        if isinstance(value, OpenWait):
            raise Suspended((value.id,), result=True)  # whoever answers it answers for the call
        try:
            text = value if isinstance(value, str) else foreign.encode(value)
        except Exception as error:
            return self._error(f"it returned what is no JSON: {error}")
        text = storable(text)
        size = len(text.encode())
        if size > self.output_bytes:
            return self._error(
                f"{self.name} returned {size} bytes, {self.output_bytes} are allowed "
                "(its output_bytes)"
            )
        return ToolResult(status="ok", content=text)


#: Keeps calls that did not end in time from being collected while they still run.
_late: set["asyncio.Future[Any]"] = set()


def _end_alone(running: "asyncio.Future[Any]") -> None:
    """Ask a call to end, and wait no longer for it. What it returns then is dropped."""
    _late.add(running)
    running.add_done_callback(_forget)
    running.cancel()


def _forget(running: "asyncio.Future[Any]") -> None:
    _late.discard(running)
    if not running.cancelled():
        running.exception()  # looked at, so that nobody is told of it


@overload
def tool(function: Callable[..., Any], /) -> Tool:
    """Make a tool of a function, with the defaults."""


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    in_doubt: InDoubt = "report",
    timeout: float | None = None,
    output_bytes: int = OUTPUT_BYTES,
) -> Callable[[Callable[..., Any]], Tool]:
    """Make what makes a tool of a function."""


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    in_doubt: InDoubt = "report",
    timeout: float | None = None,
    output_bytes: int = OUTPUT_BYTES,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function: as a decorator, with or without arguments."""

    def make(wrapped: Callable[..., Any]) -> Tool:
        return Tool(
            wrapped,
            name=name,
            description=description,
            in_doubt=in_doubt,
            timeout=timeout,
            output_bytes=output_bytes,
        )

    return make if function is None else make(function)


def as_tool(given: "AnyTool | Callable[..., Any]") -> AnyTool:
    """A plain function as a tool with the defaults."""
    return given if isinstance(given, AnyTool) else Tool(given)


def _read_signature(
    function: Callable[..., Any], name: str
) -> tuple[str | None, type[msgspec.Struct]]:
    """The name of the context parameter, if any, and a type for the other ones."""
    context: str | None = None
    fields: list[Any] = []
    try:
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters.values()
    except (NameError, TypeError, ValueError) as error:
        raise WiringError(
            what=f"the types of tool {name!r} cannot be read: {error}",
            next="make it a function, and import what its annotations name at module level",
        ) from error
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise WiringError(
                what=f"parameter {parameter.name!r} of tool {name!r} cannot be given by its name",
                next="write plain parameters, no *args, no **kwargs and no /",
            )
        if parameter.name not in hints:
            raise WiringError(
                what=f"parameter {parameter.name!r} of tool {name!r} has no type",
                next="annotate it",
            )
        hint = hints[parameter.name]
        if hint is ToolContext or get_origin(hint) is ToolContext:
            context = parameter.name
        elif parameter.default is parameter.empty:
            fields.append((parameter.name, hint))
        else:
            fields.append((parameter.name, hint, _default(parameter.default)))
    made = msgspec.defstruct(f"{name}_arguments", fields, kw_only=True, forbid_unknown_fields=True)
    return context, made


def _schema(kind: Any, name: str) -> Json:
    try:
        return foreign.schema(kind)
    except (NotImplementedError, TypeError) as error:
        raise WiringError(
            what=f"a type in {name!r} has no JSON Schema: {error}",
            next="use plain types, dataclasses, TypedDict, msgspec structs or Pydantic models",
        ) from error


def _default(value: Any) -> Any:
    if isinstance(value, (list, dict, set)):
        return msgspec.field(default_factory=lambda: type(value)(value))
    return value
