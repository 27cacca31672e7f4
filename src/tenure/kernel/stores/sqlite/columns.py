"""How a record lies in columns: plain fields as they are, nested values as JSON text.

A row comes back exactly as it was written or not at all: whatever does not parse is
`RecordUnreadable`, never a missing row and never a default.
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec

from tenure.kernel.errors import ConfigurationError, RecordUnreadable
from tenure.kernel.stores.sqlite.connection import Value

Record = TypeVar("Record", bound=msgspec.Struct)

_PLAIN = frozenset({str, int, bool})

#: What parsing a row, or building its record, raises.
_UNREADABLE = (
    msgspec.MsgspecError,
    ConfigurationError,
    AssertionError,
    KeyError,
    TypeError,
    ValueError,
)


class Columns(Generic[Record]):
    """Encodes and decodes the rows of one record type, whose columns are its fields in order.

    `plain` names the fields that are columns as they are, beside those of type str, int and
    bool. `noun` is what a record is called in errors; its first field is its id.
    """

    def __init__(self, record: type[Record], noun: str, *, plain: frozenset[str]) -> None:
        self._record = record
        self._noun = noun
        self._key = record.__struct_fields__[0]
        self._encoder = msgspec.json.Encoder()
        fields = msgspec.structs.fields(record)
        self._flags = frozenset(field.name for field in fields if field.type is bool)
        self._nested = {
            field.name: msgspec.json.Decoder(field.type)
            for field in fields
            if field.type not in _PLAIN and field.name not in plain
        }

    def name(self, key: object) -> str:
        """What errors call the record with this key."""
        return f"{self._noun} {key}"

    def encode(self, record: Record) -> dict[str, Value]:
        """The bindings of a record, by field."""
        row: dict[str, Value] = msgspec.structs.asdict(record)
        for name in self._nested:
            if row[name] is not None:
                row[name] = self._encoder.encode(row[name]).decode()
        return row

    def decode(self, row: Sequence[Any]) -> Record:
        """The record of a row.

        Raises:
            RecordUnreadable: the row does not say what such a record says.
        """
        try:
            values = dict(zip(self._record.__struct_fields__, row, strict=True))
            for name, decoder in self._nested.items():
                if values[name] is not None:
                    values[name] = decoder.decode(values[name])
            for name in self._flags:
                values[name] = {0: False, 1: True}[values[name]]
            return msgspec.convert(values, self._record)
        except _UNREADABLE as error:
            raise RecordUnreadable(record=self.name(row[0]), reason=str(error)) from error
