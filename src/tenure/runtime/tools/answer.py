"""Typed answers: the type that a host wants, as arguments of the call that gives the answer."""

from typing import Any

import msgspec

from tenure.runtime.errors import WiringError
from tenure.runtime.model.json import Json
from tenure.runtime.tools import foreign

#: Arguments of a call are an object; an answer that is none is put into one under this name.
_VALUE = "value"


class TypedAnswer:
    """One type of answer. `schema` is that of the call's arguments, None for plain text."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._wrapped = False
        self.schema: Json = None
        if kind is not None and kind is not str:
            self.schema = self._as_arguments(_schema(kind))

    def check(self, value: Json) -> tuple[Json, str]:
        """The answer in a call's arguments as JSON, or what is wrong with it, for the model."""
        if self.schema is None:
            return value, ""
        try:
            made = foreign.convert(self._unwrapped(value), self._kind)
            return msgspec.json.decode(foreign.encode(made)), ""
        except Exception as error:  # validators are code of the host's too
            return None, f"the answer does not fit: {error}"

    def _as_arguments(self, schema: Json) -> Json:
        if schema.get("type") == "object":
            return schema
        self._wrapped = True
        parts = schema.pop("$defs", None)
        made = {"type": "object", "properties": {_VALUE: schema}, "required": [_VALUE]}
        return made if parts is None else {**made, "$defs": parts}

    def _unwrapped(self, value: Json) -> Json:
        if not self._wrapped:
            return value
        if not isinstance(value, dict) or _VALUE not in value:
            raise ValueError(f"{_VALUE!r} is missing")
        return value[_VALUE]


def _schema(kind: Any) -> Json:
    try:
        return foreign.schema(kind)
    except (NotImplementedError, TypeError) as error:
        raise WiringError(
            what=f"the type of an answer has no JSON Schema: {error}",
            next="use plain types, dataclasses, TypedDict, msgspec structs or Pydantic models",
        ) from error
