"""Plain functions beside the event loop, each in a thread of its own."""

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[[], T]) -> T:
    """What the function returns, called in a daemon thread with the caller's context.

    Cancelled, it does not wait: the thread goes on and what it returns is dropped. It keeps
    neither other tools nor the end of the process waiting, as a thread of a pool would.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            value = context.run(function)
        except BaseException as error:
            failure = _carried(error)
            _settle(loop, future, lambda: future.set_exception(failure))
        else:
            _settle(loop, future, lambda: future.set_result(value))

    threading.Thread(target=run, name="tenure-tool", daemon=True).start()
    return await future


def _settle(
    loop: asyncio.AbstractEventLoop, future: "asyncio.Future[T]", settle: Callable[[], None]
) -> None:
    def told() -> None:
        if not future.done():
            settle()

    try:
        loop.call_soon_threadsafe(told)
    except RuntimeError:
        pass  # the loop is gone, and whoever waited with it


def _carried(error: BaseException) -> Exception:
    """What a future can carry: an end of the thread, or of its iteration, is a failure here."""
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {error}")
