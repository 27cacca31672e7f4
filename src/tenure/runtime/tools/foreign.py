"""Types of other libraries in signatures of tools: Pydantic models beside everything msgspec knows."""

import sys
from typing import Any

import msgspec

from tenure.runtime.model.json import Json


def schema(kind: Any) -> Json:
    """The JSON Schema of a type, without a wrapper around it."""
    (found,), parts = msgspec.json.schema_components(
        [kind], schema_hook=_schema_of, ref_template="#/$defs/{name}"
    )
    if "$ref" in found:
        found = parts.pop(found["$ref"].rpartition("/")[2])
        found.pop("title", None)
    if parts:
        found["$defs"] = parts
    return found


def convert(value: Json, kind: Any) -> Any:
    """The value as that type.

    Raises: msgspec.ValidationError: it does not fit, and where.
    """
    return msgspec.convert(value, kind, dec_hook=_convert_to)


def encode(value: Any) -> str:
    """The value as JSON text."""
    return msgspec.json.encode(value, enc_hook=_encodable).decode()


def _is_model(kind: Any) -> bool:
    """Whether a type is a Pydantic model. Nothing is imported for it: if it is one, it is there."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(kind, type) and issubclass(kind, pydantic.BaseModel)


def _schema_of(kind: Any) -> Json:
    if _is_model(kind):
        return kind.model_json_schema()
    raise NotImplementedError(f"{kind!r} has no JSON Schema")


def _convert_to(kind: Any, value: Any) -> Any:
    if _is_model(kind):
        try:
            return kind.model_validate(value)
        except ValueError as error:
            raise msgspec.ValidationError(str(error)) from error
    raise NotImplementedError(f"{kind!r} cannot be made from JSON")


def _encodable(value: Any) -> Any:
    if _is_model(type(value)):
        return value.model_dump(mode="json")
    raise NotImplementedError(f"{type(value).__name__} is no JSON")
