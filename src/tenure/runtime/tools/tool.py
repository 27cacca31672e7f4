"""Tools: typed functions that a model may call."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, get_origin, get_type_hints

import msgspec

from tenure.runtime.errors import WiringError
from tenure.runtime.machine.answers import ToolResult
from tenure.runtime.model.json import Json
from tenure.runtime.model.program import InDoubt, ToolSpec
from tenure.runtime.tools import foreign
from tenure.runtime.tools.context import ToolContext

OUTPUT_BYTES = 256 * 1024

_IN_DOUBT = ("rerun", "report")


class Tool:
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
        if in_doubt not in _IN_DOUBT:
            raise WiringError(
                what=f"in_doubt={in_doubt!r} is not supported by this version",
                next='use "rerun" or "report"',
            )
        self.function = function
        self.name = name or function.__name__
        self.timeout = timeout  #: seconds, None for as long as it takes
        self.output_bytes = output_bytes
        self._context, self._arguments = _read_signature(function, self.name)
        self.spec = ToolSpec(
            name=self.name,
            description=description or inspect.getdoc(function) or "",
            schema=foreign.schema(self._arguments),
            in_doubt=in_doubt,
        )

    async def call(self, arguments: Json, context: ToolContext[Any]) -> ToolResult:
        """Call it. Every failure of the tool's own is a result; only cancellation is raised."""
        try:
            values = foreign.convert(arguments, self._arguments)
        except (msgspec.ValidationError, ValueError) as error:
            return ToolResult(status="error", content=f"the arguments do not fit: {error}")
        given = {name: getattr(values, name) for name in self._arguments.__struct_fields__}
        if self._context is not None:
            given[self._context] = context
        try:
            async with asyncio.timeout(self.timeout):
                value = await self._run(given)
        except TimeoutError:
            told = f"it did not return within {self.timeout} s (the tool's timeout)"
            return ToolResult(status="error", content=told)
        except Exception as error:
            return ToolResult(status="error", content=f"{type(error).__name__}: {error}")
        return self._told(value)

    async def _run(self, given: dict[str, Any]) -> Any:
        """A coroutine on the loop; a plain function in a thread, so that it blocks nobody else."""
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**given)
        return await asyncio.to_thread(self.function, **given)

    def _told(self, value: Any) -> ToolResult:
        try:
            text = value if isinstance(value, str) else foreign.encode(value)
        except (TypeError, msgspec.EncodeError) as error:
            return ToolResult(status="error", content=f"it returned what is no JSON: {error}")
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > self.output_bytes:
            told = f"it returned {size} bytes, {self.output_bytes} are allowed (its output_bytes)"
            return ToolResult(status="error", content=told)
        return ToolResult(status="ok", content=text)


def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    in_doubt: InDoubt = "report",
    timeout: float | None = None,
    output_bytes: int = OUTPUT_BYTES,
) -> Any:
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


def as_tool(given: "Tool | Callable[..., Any]") -> Tool:
    """A plain function as a tool with the defaults."""
    return given if isinstance(given, Tool) else Tool(given)


def _read_signature(
    function: Callable[..., Any], name: str
) -> tuple[str | None, type[msgspec.Struct]]:
    """The name of the context parameter, if any, and a type for the other ones."""
    context: str | None = None
    fields: list[Any] = []
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as error:
        raise WiringError(
            what=f"the types of tool {name!r} cannot be read: {error}",
            next="import what its annotations name at module level",
        ) from error
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise WiringError(
                what=f"tool {name!r} takes *args or **kwargs, which have no schema",
                next="name its parameters",
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


def _default(value: Any) -> Any:
    if isinstance(value, (list, dict, set)):
        return msgspec.field(default_factory=lambda: type(value)(value))
    return value


def output_schema(kind: Any) -> Json:
    """The JSON Schema of a typed answer, None for plain text."""
    if kind is None or kind is str:
        return None
    return foreign.schema(kind)
