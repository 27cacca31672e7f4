"""Effects that run in this process: tasks of one loop, ended together."""

import asyncio
from typing import Any

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

    def start(self, effect: Effect) -> None:
        """Carry an effect out from now on."""
        self._tasks[asyncio.ensure_future(self._perform(effect))] = effect.key

    @property
    def arrived(self) -> bool:
        """Whether the next outcome is there."""
        return any(task.done() for task in self._tasks)

    async def next(self, ended: "asyncio.Future[None]") -> Happened | None:
        """The next outcome, None if `ended` comes first. Several at once come as they started."""
        awaited: set[asyncio.Future[Any]] = {*self._tasks, ended}
        await asyncio.wait(awaited, return_when=asyncio.FIRST_COMPLETED)
        for task, key in self._tasks.items():
            if task.done():
                del self._tasks[task]
                return Happened(key, task.result())
        return None

    async def stop(self) -> list[Happened]:
        """End every task; what those returned that returned something.

        A task that does not end is left alone: whatever it still does, its outcome is dropped.
        """
        tasks, self._tasks = self._tasks, {}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._patience)
        for task in tasks:
            if not task.done():
                _left_to_themselves.add(task)
                task.add_done_callback(_forget)
        return [Happened(key, task.result()) for task, key in tasks.items() if _returned(task)]


def _returned(task: "asyncio.Task[Outcome]") -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def _forget(task: "asyncio.Task[Outcome]") -> None:
    _left_to_themselves.discard(task)
    if not task.cancelled():
        task.exception()  # looked at, so that nobody is told of it
