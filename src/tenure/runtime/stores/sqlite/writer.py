"""The writer: one thread that owns the connection and commits many calls at once.

Each call is a savepoint of its own inside one commit, and no answer leaves before that
commit. There is no waiting for company: whatever has queued up while the last commit was
on its way to the disk is the next batch.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from tenure.kernel.errors import Doubt, StoreUnavailable
from tenure.kernel.store import Transaction
from tenure.kernel.stores.sqlite.connection import run
from tenure.kernel.stores.sqlite.store import SqliteDatabase, SqliteTransaction
from tenure.runtime.offload import answered

T = TypeVar("T")
_Reply = Callable[[], None]

_BATCH = 256  #: calls in one commit at most


class BatchDatabase:
    """A `Database` whose write transactions are savepoints while a batch is open."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._open: SqliteTransaction | None = None

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Everything written in the block commits together."""
        with self._database.write() as tx:
            self._open = tx
            try:
                yield
            finally:
                self._open = None

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction, or a part of the open batch that is undone alone if it raises."""
        if self._open is None:
            with self._database.write() as tx:
                yield tx
            return
        connection = self._open.connection
        run(connection, "SAVEPOINT call")
        try:
            yield self._open
        except BaseException:
            run(connection, "ROLLBACK TO call")
            raise
        finally:
            run(connection, "RELEASE call")

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A view of the store; in a batch, what the batch has written so far included."""
        if self._open is not None:
            yield self._open
            return
        with self._database.read() as tx:
            yield tx

    def close(self) -> None:
        """Let go of the store."""
        self._database.close()


class Writer:
    """`Offload` by one thread. `opened` makes the database in that thread, which then owns it."""

    def __init__(self, opened: Callable[[], BatchDatabase]) -> None:
        self._opened = opened
        self._queue: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._ready = threading.Condition()
        self._closing = False
        self._started: threading.Event = threading.Event()
        self._failed: BaseException | None = None
        self.database: BatchDatabase | None = None
        self._thread = threading.Thread(target=self._work, name="tenure-writer", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failed is not None:
            raise self._failed

    async def call(self, work: Callable[[], T]) -> T:
        """The answer of one store call, made in the writer's thread."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._put(work, future)
        answer: T = await answered(future)
        return answer

    def call_sync(self, work: Callable[[], T]) -> T:
        """The same from a thread without an event loop."""
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(self.call(work))
        finally:
            loop.close()

    def close(self) -> None:
        """Answer what was asked, then end the thread and close the store. Idempotent."""
        with self._ready:
            self._closing = True
            self._ready.notify()
        self._thread.join()

    def _put(self, work: Callable[[], Any], future: "asyncio.Future[Any]") -> None:
        with self._ready:
            if self._closing:
                raise StoreUnavailable(
                    store="the session store", reason="it was closed", hint="open another runtime"
                )
            self._queue.append((work, future))
            self._ready.notify()

    def _work(self) -> None:
        try:
            self.database = self._opened()
        except BaseException as error:
            self._failed = error
            return
        finally:
            self._started.set()
        while True:
            with self._ready:
                while not self._queue and not self._closing:
                    self._ready.wait()
                if not self._queue:
                    break
                batch = [self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))]
            self._perform(batch)
        self.database.close()

    def _perform(self, batch: list[tuple[Callable[[], Any], "asyncio.Future[Any]"]]) -> None:
        """Make every call of a batch, commit once, and only then answer."""
        assert self.database is not None
        replies: list[_Reply] = []
        try:
            with self.database.batch():
                for work, future in batch:
                    replies.append(_made(work, future))
        except Doubt as doubt:  # the commit, or its start: nobody knows what of it happened
            replies = [_failing(future, doubt) for _, future in batch]
        except BaseException as error:
            replies = [_failing(future, error) for _, future in batch]
        for reply in replies:
            reply()


def _made(work: Callable[[], Any], future: "asyncio.Future[Any]") -> _Reply:
    try:
        value = work()
    except Exception as error:
        return _failing(future, error)
    return lambda: _answer(future, lambda: future.set_result(value))


def _failing(future: "asyncio.Future[Any]", error: BaseException) -> _Reply:
    return lambda: _answer(future, lambda: future.set_exception(error))


def _answer(future: "asyncio.Future[Any]", settle: Callable[[], None]) -> None:
    def told() -> None:
        if not future.done():
            settle()

    try:
        future.get_loop().call_soon_threadsafe(told)
    except RuntimeError:
        pass  # the loop that asked is gone
