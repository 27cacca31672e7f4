"""The rows of guest sessions in SQLite."""

from collections.abc import Sequence
from typing import Any

import apsw

from tenure.kernel.stores.sqlite.connection import Value
from tenure.kernel.stores.sqlite.connection import run as execute
from tenure.kernel.stores.sqlite.statements import Statements, beside

#: The runtime's own statements.
RUNTIME = Statements(beside(__file__, "queries"))
#: SQLite's word for no limit.
ALL = -1


class SqliteGuestRows:
    """`tenure.runtime.store.ItemRows`, beside the runtime's other rows of a transaction."""

    _connection: apsw.Connection

    def _key_of(self, session: str) -> int | None:
        raise NotImplementedError

    def _rows(self, statement: str, where: Sequence[Value]) -> list[tuple[Any, ...]]:
        return execute(self._connection, RUNTIME[statement], where)

    # items

    def items(self, session: str, limit: int | None) -> list[tuple[int, str]]:
        where = (self._key_of(session), ALL if limit is None else limit)
        found = self._rows("list_last_items", where)
        return [(number, body) for number, body in reversed(found)]

    def call_of_item(self, session: str, number: int) -> str | None:
        rows = self._rows("read_call_of_item", (self._key_of(session), number))
        return rows[0][0] if rows else None

    def add_items(self, session: str, first: int, call: str, bodies: Sequence[str]) -> None:
        key = self._key_of(session)
        said = [
            (key, number, call if number == first else None, body)
            for number, body in enumerate(bodies, first)
        ]
        self._connection.executemany(RUNTIME["add_item"], said)

    def remove_items(self, session: str, first: int) -> None:
        self._rows("remove_items", (self._key_of(session), first))

    def _remove_guest(self, key: int | None) -> None:
        """Drop whatever a session has here."""
        self._rows("remove_items", (key, 0))
