"""The rows of guest sessions in memory."""

from collections.abc import Sequence
from typing import Any


class MemoryGuestRows:
    """`tenure.runtime.store.ItemRows`, beside the runtime's other rows of a transaction."""

    _items: Any

    # items

    def items(self, session: str, limit: int | None) -> list[tuple[int, str]]:
        """The last items with their numbers, in order."""
        found = sorted((row[1], row[3]) for row in self._items.values() if row[0] == session)
        return found if limit is None else found[len(found) - min(limit, len(found)) :]

    def call_of_item(self, session: str, number: int) -> str | None:
        """The call that appended from this number on, if one began there."""
        row = self._items.get(f"{session} {number}")
        return None if row is None else row[2]

    def add_items(self, session: str, first: int, call: str, bodies: Sequence[str]) -> None:
        """Append items, numbered from `first` on."""
        for number, body in enumerate(bodies, first):
            began = call if number == first else None
            self._items[f"{session} {number}"] = (session, number, began, body)

    def remove_items(self, session: str, first: int) -> None:
        """Drop the items from number `first` on."""
        rows = [(key, row) for key, row in self._items.items() if row[0] == session]
        for key, row in rows:
            if row[1] >= first:
                del self._items[key]

    def _remove_guest(self, session: str) -> None:
        """Drop whatever a session has here."""
        self.remove_items(session, 0)
