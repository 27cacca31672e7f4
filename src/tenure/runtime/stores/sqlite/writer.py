"""The writer: one thread that owns the connection and commits many calls at once.

No answer leaves before the commit of everything that was answered with it. There is no
waiting for company: whatever has queued up while the last commit was on its way to the disk
is the next batch.
"""

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from tenure.runtime.errors import RuntimeClosed, WiringError
from tenure.runtime.stores.sqlite.batch import BatchDatabase, Entangled

T = TypeVar("T")
_Asked = asyncio.Future[Any] | concurrent.futures.Future[Any]  #: by a loop, or by a plain thread
_Call = tuple[Callable[[], Any], _Asked]
_Answer = tuple[_Asked, Any, BaseException | None]

_BATCH = 256  #: calls in one commit at most


class _Answered(asyncio.Future[Any]):
    """The answer to a call that is made whatever happens: whoever waits for it and is cancelled
    learns of that once it is there."""

    def cancel(self, msg: Any = None) -> bool:
        """It cannot be."""
        del msg
        return False


class Writer:
    """`Offload` by one thread. `opened` makes the database in that thread, which then owns it."""

    def __init__(self, opened: Callable[[], BatchDatabase]) -> None:
        self._opened = opened
        self._queue: SimpleQueue[_Call | None] = SimpleQueue()  #: None is the last
        self._open = threading.Lock()  #: nothing may come after the last
        self._closing = False
        self._started = threading.Event()
        self._failed: BaseException | None = None
        self._pid = os.getpid()
        self.database: BatchDatabase | None = None
        self._thread = threading.Thread(target=self._work, name="tenure-writer", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failed is not None:
            raise self._failed

    async def call(self, work: Callable[[], T]) -> T:
        """The answer of one store call, made in the writer's thread."""
        future: asyncio.Future[Any] = _Answered(loop=asyncio.get_running_loop())
        self._put(work, future)
        answer: T = await future
        return answer

    def ask(self, work: Callable[[], T]) -> T:
        """The same for a plain thread."""
        future: concurrent.futures.Future[T] = concurrent.futures.Future()
        self._put(work, future)
        return future.result()

    def close(self) -> None:
        """Answer what was asked, then end the thread and close the store. Idempotent."""
        if self._pid != os.getpid():
            return  # the thread is the parent's
        with self._open:
            if not self._closing:
                self._closing = True
                self._queue.put(None)
        self._thread.join()

    def _put(self, work: Callable[[], Any], future: _Asked) -> None:
        if self._pid != os.getpid():
            raise WiringError(
                what="this runtime was opened before a fork, and its thread stayed behind",
                next="open a runtime in each process, after the fork",
            )
        with self._open:
            if self._closing:
                raise RuntimeClosed
            self._queue.put((work, future))

    def _work(self) -> None:
        try:
            self.database = self._opened()
        except BaseException as error:
            self._failed = error
            return
        finally:
            self._started.set()
        ending = False
        while not ending:
            taken = [self._queue.get()]
            waiting = min(self._queue.qsize(), _BATCH)  # nobody else takes
            taken += [self._queue.get() for _ in range(waiting)]
            batch = [call for call in taken if call is not None]
            ending = len(batch) < len(taken)
            if batch:
                self._perform(batch)
        self.database.close()

    def _perform(self, batch: list[_Call]) -> None:
        """Make every call of a batch, commit once, and only then answer."""
        try:
            answers = self._made(batch, savepoints=False)
        except Entangled:
            try:
                answers = self._made(batch, savepoints=True)
            except BaseException as error:
                answers = [(future, None, error) for _, future in batch]
        except BaseException as error:  # the commit: nobody knows what of the batch happened
            answers = [(future, None, error) for _, future in batch]
        _tell(answers)

    def _made(self, batch: list[_Call], *, savepoints: bool) -> list[_Answer]:
        assert self.database is not None, "the thread works once its database is open"
        answers: list[_Answer] = []
        with self.database.batch(savepoints=savepoints):
            for work, future in batch:
                try:
                    answers.append((future, work(), None))
                except Exception as error:
                    answers.append((future, None, error))
        return answers


def _tell(answers: list[_Answer]) -> None:
    """Answer every loop that asked, each with one wake, and every thread."""
    asked: dict[asyncio.AbstractEventLoop, list[_Answer]] = {}
    for answer in answers:
        if isinstance(answer[0], asyncio.Future):
            asked.setdefault(answer[0].get_loop(), []).append(answer)
        else:
            _settle([answer])
    for loop, told in asked.items():
        try:
            loop.call_soon_threadsafe(_settle, told)
        except RuntimeError:
            pass  # the loop that asked is gone


def _settle(answers: list[_Answer]) -> None:
    for future, value, error in answers:
        if future.done():
            continue
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)
