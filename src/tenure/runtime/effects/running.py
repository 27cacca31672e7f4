"""Effects that run in this process: tasks of one loop, ended together."""

import asyncio
from collections import deque

from tenure.runtime.model.effect import Effect, Outcome
from tenure.runtime.ports.effects import Happened, Perform

#: Keeps tasks that would not end from being collected while they still run.
_left_to_themselves: set["asyncio.Task[Outcome]"] = set()


class Running:
    """What one drive has in flight. `patience` is how long it waits for tasks that it ends."""

    def __init__(self, perform: Perform, patience: float) -> None:
        self._perform = perform
        self._patience = patience
        self._tasks: dict[asyncio.Task[Outcome], str] = {}
        self._arrived: deque[tuple[str, asyncio.Task[Outcome]]] = deque()
        self._waiter: asyncio.Future[None] | None = None

    def start(self, effect: Effect) -> None:
        """Carry an effect out from now on."""
        task = asyncio.ensure_future(self._perform(effect))
        self._tasks[task] = effect.key
        task.add_done_callback(self._landed)

    def _landed(self, task: "asyncio.Task[Outcome]") -> None:
        key = self._tasks.pop(task, None)
        if key is not None:  # else it was left to itself
            self._arrived.append((key, task))
            self._wake()

    def _wake(self, _: "asyncio.Future[None] | None" = None) -> None:
        """Have `next` look again."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    @property
    def arrived(self) -> bool:
        """Whether the next outcome is there."""
        return bool(self._arrived)

    async def next(self, ended: "asyncio.Future[None]") -> Happened | None:
        """The next outcome, None if `ended` comes first. They come as they arrived."""
        if not self._arrived and not ended.done():
            self._waiter = asyncio.get_running_loop().create_future()
            ended.add_done_callback(self._wake)
            try:
                await self._waiter
            finally:
                ended.remove_done_callback(self._wake)
                self._waiter = None
        if not self._arrived:
            return None
        key, task = self._arrived.popleft()
        return Happened(key, task.result())

    async def stop(self) -> list[Happened]:
        """End every task; what those returned that returned something.

        A task that does not end is left alone: whatever it still does, its outcome is dropped.
        """
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=self._patience)
        left, self._tasks = self._tasks, {}
        arrived, self._arrived = self._arrived, deque()
        arrived.extend((key, task) for task, key in left.items() if task.done())
        for task in left:
            if not task.done():
                _left_to_themselves.add(task)
                task.add_done_callback(_forget)
        return [Happened(key, task.result()) for key, task in arrived if _returned(task)]


def _returned(task: "asyncio.Task[Outcome]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def _forget(task: "asyncio.Task[Outcome]") -> None:
    _left_to_themselves.discard(task)
    if not task.cancelled():
        task.exception()  # looked at, so that nobody is told of it
