"""What one connection knows of its rows: those that it read or wrote itself.

A row that is known need not be read again as long as nobody else wrote to the file. SQLite
tells that exactly: if a transaction that excludes other writers finds the data version that
this connection's last commit left behind, nobody committed in between.
"""

from typing import Any

#: Beyond this many rows everything is forgotten; that costs a few reads.
_MOST = 4096


class Known:
    """Rows by table and key. None is knowledge too: there is no such row."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str | int, ...], Any] = {}
        self._version = -1

    def begun(self, version: int) -> None:
        """A transaction found that version: forget everything if it is not what we left."""
        if version != self._version or len(self.rows) > _MOST:
            self.rows.clear()

    def committed(self, version: int) -> None:
        """Our own commit left that version behind."""
        self._version = version

    def forget(self) -> None:
        """Something was undone."""
        self.rows.clear()
