"""The block of one write transaction, with the moments at which a test may strike."""

from types import TracebackType

from tenure.kernel.points import point
from tenure.kernel.store import Database, Transaction


class Writing:
    """The block of a write transaction. A class, because a turn has a dozen of them."""

    __slots__ = ("_block", "_database", "_operation")

    def __init__(self, database: Database, operation: str) -> None:
        self._database = database
        self._operation = operation

    def __enter__(self) -> Transaction:
        point(f"{self._operation}:begin")
        self._block = self._database.write()
        return self._block.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                point(f"{self._operation}:written")
            except BaseException as struck:
                self._block.__exit__(type(struck), struck, struck.__traceback__)
                raise
        self._block.__exit__(kind, error, trace)
