"""One event loop in a thread of its own, for hosts that have none and for what must not block theirs."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from tenure.runtime.errors import RuntimeClosed, WiringError

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for plain threads and for other loops. Its thread starts with the first of them."""

    def __init__(self, name: str = "tenure-loop") -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The answer of a coroutine. An interrupt of the calling thread cancels it.

        Raises:
            WiringError: the calling thread runs an event loop, which this would block.
            RuntimeClosed: it was closed.
        """
        if running_loop() is not None:
            raise WiringError(
                what="this thread runs an event loop, and waiting here would stop it",
                next="await the asynchronous method of the same name, or call from another thread",
            )
        with self._lock:  # so that what is begun is begun before a `close` ends it
            loop = self._started()
            future = asyncio.run_coroutine_threadsafe(make(), loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def hand_over(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """`run` for a coroutine of another loop. A cancellation is passed on and not waited for.

        Raises: RuntimeClosed.
        """
        with self._lock:
            loop = self._started()
            future = asyncio.run_coroutine_threadsafe(make(), loop)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Cancel what runs, wait until it has ended, and end the thread. Idempotent."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        try:
            loop.call_soon_threadsafe(loop.stop)
        except RuntimeError:
            pass  # closed before
        thread.join()

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._closed:
            raise RuntimeClosed
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=_serve, args=(self._loop,), name=self._name, daemon=True
            )
            self._thread.start()
        return self._loop


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that the calling thread runs, if it runs one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()
