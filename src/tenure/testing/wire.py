"""A store at the other end of a wire: calls and answers get lost."""

from collections.abc import Iterator
from contextlib import contextmanager

from tenure.kernel.errors import ReplyLost
from tenure.kernel.store import Database, Transaction


class Wire:
    """One handle whose next calls, or whose next answers, are lost.

    Implements `tenure.kernel.store.Database`. Whoever calls sees `ReplyLost` either way and
    cannot tell the two apart, as with a real wire.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._calls = 0
        self._answers = 0

    def lose_call(self, times: int = 1) -> None:
        """The next writes never reach the store."""
        self._calls = times

    def lose_answer(self, times: int = 1) -> None:
        """The next writes commit, and their answers are lost. Writes that raise, raise."""
        self._answers = times

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction of the store behind."""
        if self._calls > 0:
            self._calls -= 1
            raise ReplyLost(call="write")
        with self._database.write() as tx:
            yield tx
        if self._answers > 0:
            self._answers -= 1
            raise ReplyLost(call="write")

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A view of the store behind. Reads are not lost: asking again is all there is."""
        with self._database.read() as tx:
            yield tx

    def close(self) -> None:
        """Let go of the store behind."""
        self._database.close()
