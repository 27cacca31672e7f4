"""Watching turns: a hint to whoever waits for one, whenever something happens to it here."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tenure.runtime import mishap
from tenure.runtime.loop_thread import running_loop
from tenure.runtime.model.event import TurnEvent

Emit = Callable[[TurnEvent], None]


class Watchers:
    """Who watches which turn. A watcher is called on the loop on which it began to watch."""

    def __init__(self) -> None:
        self._of: dict[str, dict[object, tuple[asyncio.AbstractEventLoop, Emit]]] = {}

    @contextmanager
    def watching(self, turn: str, emit: Emit) -> Iterator[None]:
        """Be told of a turn's events for the length of the block."""
        mark = object()
        self._of.setdefault(turn, {})[mark] = (asyncio.get_running_loop(), emit)
        try:
            yield
        finally:
            left = self._of.get(turn, {})
            left.pop(mark, None)
            if not left:
                self._of.pop(turn, None)

    def emit(self, event: TurnEvent) -> None:
        """Tell an event. What a watcher raises is its own affair."""
        watchers = self._of.get(event.turn)
        if not watchers:
            return
        here = running_loop()  # none in a plain thread
        for loop, emit in tuple(watchers.values()):
            if loop is here:
                _told(emit, event)
            else:
                _told_elsewhere(loop, emit, event)


def _told(emit: Emit, event: TurnEvent) -> None:
    try:
        emit(event)
    except Exception as error:
        mishap.tell("a watcher of a turn failed; the turn goes on", error)


def _told_elsewhere(loop: asyncio.AbstractEventLoop, emit: Emit, event: TurnEvent) -> None:
    try:
        loop.call_soon_threadsafe(_told, emit, event)
    except RuntimeError:
        pass  # that loop is gone, and its watcher with it


async def until_set(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, or for the time; whether it was the event."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
