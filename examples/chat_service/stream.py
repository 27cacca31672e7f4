"""What a page is told of a chat: what is asked, and what happens in the turns that answer.

One line of events, from the beginning or after any of them. The page knows nothing else, so a
reload, a second window and a page that was cut off are all the same to it.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence
from typing import Any, NamedTuple

import msgspec

from examples.chat_service.chats import Chats, Post
from tenure import Runtime
from tenure.runtime.errors import CursorUnknown

#: How soon a page asks again once it was cut off, in milliseconds.
RETRY = 300
#: How often it is looked for what was asked through another worker, in seconds.
LOOK = 0.2
#: How often something is said to keep a silent connection, in seconds.
PING = 15.0


class Place(NamedTuple):
    """How far a page is: in this post, after this cursor of its turn."""

    post: int = 1
    cursor: str | None = None

    @classmethod
    def read(cls, text: str) -> "Place":
        """The place that an event's id says; the beginning, if it is empty.

        Raises: ValueError: it is no such id.
        """
        if not text:
            return cls()
        found = re.fullmatch(r"([1-9]\d{0,8})\.([!-~]{1,200})", text)
        if found is None:
            raise ValueError(text)
        return cls(int(found[1]), found[2])


async def events(
    rt: Runtime,
    chats: Chats,
    chat: str,
    place: Place,
    hello: dict[str, Any],
    leaving: asyncio.Event,
) -> AsyncGenerator[str, None]:
    """Server-sent events until `leaving` is set or the caller leaves. Nothing is driven by it."""
    told: asyncio.Queue[str] = asyncio.Queue(1)  # a slow page holds up its own observation alone
    asked: asyncio.Queue[Post] = asyncio.Queue()

    async def posts() -> None:
        last = place.post - 1
        while True:
            for post in await asyncio.to_thread(chats.posts, chat, last):
                await told.put(_asked(post))
                asked.put_nowait(post)
                last = post.number
            await asyncio.sleep(LOOK)

    async def turns() -> None:
        while True:  # turns of a chat come one after the other
            post = await asked.get()
            after = place.cursor if post.number == place.post else None
            try:
                async for seen in rt.observe(post.turn, after=after):
                    said = {**msgspec.to_builtins(seen.event), "post": post.number}
                    await told.put(_event(said, f"{post.number}.{seen.cursor}"))
            except CursorUnknown:  # the page knows another past than the store does
                await told.put(_event({"event": "anew"}))
                return

    running = [asyncio.ensure_future(one) for one in (posts(), turns(), leaving.wait())]
    try:
        yield f"retry: {RETRY}\n" + _event({"event": "hello", **hello})
        while (event := await _next(told, running)) is not None:
            yield event
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _next(told: "asyncio.Queue[str]", running: Sequence["asyncio.Future[Any]"]) -> str | None:
    """The next event, a comment if there is none for long, None once anything has ended.

    Raises: what ended it.
    """
    getting = asyncio.ensure_future(told.get())
    try:
        await asyncio.wait((getting, *running), timeout=PING, return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
        for ended in (task for task in running if task.done()):
            ended.result()
            return None
        return ": still here\n\n"
    finally:
        getting.cancel()


def _asked(post: Post) -> str:
    return _event({"event": "asked", "post": post.number, "key": post.key, "text": post.text})


def _event(data: dict[str, Any], name: str = "") -> str:
    """One event as it is sent. Only those with an id move a page's place."""
    return (f"id: {name}\n" if name else "") + f"data: {msgspec.json.encode(data).decode()}\n\n"
