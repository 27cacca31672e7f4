"""JSON as records are stored in it and objects are printed."""

import msgspec

from tenure.gate.text import readable

_encoder = msgspec.json.Encoder()


def encoded(value: object) -> bytes:
    """`value` as JSON. Text that no encoding has, as in the path of a checkout, is made readable.

    Such text is for people: whoever has to find the path again keeps its bytes elsewhere.
    """
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(_made_readable(msgspec.to_builtins(value)))


def _made_readable(value: object) -> object:
    match value:
        case str():
            return readable(value)
        case dict():
            return {_made_readable(key): _made_readable(item) for key, item in value.items()}
        case list() | tuple():
            return [_made_readable(item) for item in value]
    return value
