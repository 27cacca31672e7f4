"""Canonical JSON: the same bytes for the same value, for hashes and for storage."""

import hashlib
from typing import Any

import msgspec

#: Anything JSON can say. Checked where it enters, not at every step inside.
Json = Any

_DIGITS = 32  #: 128 bits, more than anybody finds two values for

_encoder = msgspec.json.Encoder(order="deterministic")


def canonical(value: Json) -> bytes:
    """The value as JSON with sorted keys and no spaces.

    Raises:
        TypeError, msgspec.EncodeError: it is nothing that JSON can say.
    """
    return _encoder.encode(value)


def plain(value: Json) -> Json:
    """The value as it comes back from storage: made of dicts, lists and scalars alone."""
    return msgspec.json.decode(canonical(value))


def storable(text: str) -> str:
    """The text without what no JSON can carry, which are halves of surrogate pairs."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def digest(kind: str, value: Json) -> str:
    """A digest of the value, in hexadecimal; `kind` keeps digests of different things apart."""
    hashed = hashlib.sha256(kind.encode() + b"\0")
    hashed.update(canonical(value))
    return hashed.hexdigest()[:_DIGITS]
