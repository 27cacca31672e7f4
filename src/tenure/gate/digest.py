"""One canonical hash for everything the gate compares: typed, length-prefixed, order-free where order is.

Two values share an encoding only if they are equal and of the same type, so a digest never
depends on a separator, on a sentinel, or on the order in which a set or a mapping was built.
A list and a tuple are the same thing, a sequence. What is absent is not what is empty.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

try:  # hashlib loads OpenSSL first, which costs the fast path 2 ms it has no use for
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_SIZE = 32


def digest(kind: str, value: object) -> str:
    """The hexadecimal digest of `value` as a `kind`; digests of different kinds never meet.

    Raises:
        TypeError: `value` contains something that `canonical` does not take.
    """
    return blake2b(canonical((kind, value)), digest_size=_SIZE).hexdigest()


def keyed(secret: bytes, name: str, value: str | bytes | None) -> str:
    """A digest of an environment value that says nothing about it without the `secret`.

    It binds the variable's name, and None (unset) differs from the empty string. The secret
    is up to 64 bytes and is never part of any output.
    """
    assert secret, "a keyed digest needs a secret"
    return blake2b(canonical((name, value)), key=secret, digest_size=_SIZE).hexdigest()


def content_hash() -> blake2b:
    """A hash to feed the content of a file to, piece by piece."""
    return blake2b(digest_size=_SIZE)


def canonical(value: object) -> bytes:
    """The one encoding of `value`: str, bytes, int, bool, float, None, sequences, mappings, sets.

    Any string is accepted, lone surrogates (undecodable bytes of a path) included.

    Raises:
        TypeError: the value, or something inside it, is of another type.
    """
    match value:
        case None:
            return b"n0:"
        case bool():
            return b"t1:1" if value else b"t1:0"
        case str():
            return _framed(b"s", value.encode("utf-8", "surrogatepass"))
        case bytes():
            return _framed(b"b", value)
        case int():
            return _framed(b"i", b"%x" % value)
        case float():
            return _framed(b"f", value.hex().encode())
        case tuple() | list():
            return _framed(b"l", b"".join([canonical(item) for item in value]))
        case Mapping():
            pairs = sorted((canonical(key), canonical(item)) for key, item in value.items())
            return _framed(b"d", b"".join([key + item for key, item in pairs]))
        case AbstractSet():
            return _framed(b"u", b"".join(sorted([canonical(item) for item in value])))
    raise TypeError(f"{type(value).__qualname__} has no canonical form")


def _framed(tag: bytes, body: bytes) -> bytes:
    return b"%s%d:%s" % (tag, len(body), body)
