"""Effects that run in this process: tasks of one loop, ended together."""

import asyncio
from collections import deque

from tenure.runtime.model.effect import Effect
from tenure.runtime.ports.effects import Happened, Perform

#: Keeps tasks that would not end from being collected while they still run.
_left_to_themselves: set["asyncio.Task[None]"] = set()


class Running:
    """What one drive has in flight. `patience` is how long it waits for tasks that it ends."""

    def __init__(self, perform: Perform, patience: float) -> None:
        self._perform = perform
        self._patience = patience
        self._tasks: list[asyncio.Task[None]] = []
        self._arrived: deque[Happened] = deque()
        self._failed: BaseException | None = None
        self._waiter: asyncio.Future[None] | None = None

    def start(self, effect: Effect) -> None:
        """Carry an effect out from now on."""
        self._tasks.append(asyncio.ensure_future(self._carry_out(effect)))

    async def _carry_out(self, effect: Effect) -> None:
        """Perform an effect, and wake whoever waits for one."""
        try:
            self._arrived.append(Happened(effect.key, await self._perform(effect)))
        except BaseException as error:
            self._failed = self._failed or error
        self._wake()

    def _wake(self, _: "asyncio.Future[None] | None" = None) -> None:
        """Have `next` look again."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    @property
    def arrived(self) -> bool:
        """Whether the next outcome is there."""
        return bool(self._arrived) or self._failed is not None

    async def next(self, ended: "asyncio.Future[None]") -> Happened | None:
        """The next outcome, None if `ended` comes first. They come as they arrived."""
        if not self.arrived and not ended.done():
            self._waiter = asyncio.get_running_loop().create_future()
            ended.add_done_callback(self._wake)
            try:
                await self._waiter
            finally:
                ended.remove_done_callback(self._wake)
                self._waiter = None
        if self._failed is not None:
            raise self._failed
        return self._arrived.popleft() if self._arrived else None

    async def stop(self) -> list[Happened]:
        """End every task; what those returned that returned something.

        A task that does not end is left alone: whatever it still does, its outcome is dropped.
        """
        tasks = [task for task in self._tasks if not task.done()]
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._patience)
        for task in tasks:
            if not task.done():
                _left_to_themselves.add(task)
                task.add_done_callback(_forget)
        arrived, self._arrived, self._failed = list(self._arrived), deque(), None
        return arrived


def _forget(task: "asyncio.Task[None]") -> None:
    _left_to_themselves.discard(task)
    if not task.cancelled():
        task.exception()  # looked at, so that nobody is told of it
