"""Tables in Markdown, and how records and their types are written in them."""

import types
import typing
from collections.abc import Iterable, Sequence

import msgspec

_PLAIN = {str: "string", int: "integer", float: "number", bool: "true or false", type(None): "null"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def fields(struct: type[msgspec.Struct]) -> str:
    """A record, field by field."""
    hints = typing.get_type_hints(struct)
    return table(
        ("field", "type"),
        [(f"`{field.name}`", _type(hints[field.name])) for field in msgspec.structs.fields(struct)],
    )


def _type(hint: typing.Any) -> str:
    if hint is typing.Any:
        return "any JSON"
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return ", ".join(f"`{value}`" for value in inner)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_type(one) for one in inner)
    if origin is tuple and inner[-1] is not ...:
        return " and ".join(_type(one) for one in inner)
    if origin in (tuple, list):
        return f"array of {_type(inner[0])}"
    if origin is dict:
        return f"object, {_type(inner[0])} to {_type(inner[1])}"
    return f"{hint.__name__}"
