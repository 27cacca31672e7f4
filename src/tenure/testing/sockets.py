"""A provider with pooled WebSockets, and the server it talks to: to see how connections end.

Needs `websockets`. The wire is one JSON object a message: a request, then pieces of text, then
the whole answer, which is the terminator.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from tenure.runtime.errors import ProviderError, StreamCut
from tenure.runtime.machine.answers import Answer
from tenure.runtime.ports.provider import ModelRequest, Provider, Say


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One message of the server: more text, or the answer."""

    text: str = ""
    answer: Answer | None = None


class SocketProvider(Provider):
    """Keeps one connection for each model it was asked for, and ends all of them properly."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._pool: dict[str, ClientConnection] = {}

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """Ask over the pooled connection."""
        connection = await self._connection(request.model)
        try:
            await connection.send(msgspec.json.encode({"step": request.step}))
            async for message in connection:
                piece = msgspec.json.decode(message, type=Piece)
                if piece.answer is not None:
                    return piece.answer
                say(piece.text)
        except ConnectionClosed as error:
            raise self._cut(request.model) from error
        raise self._cut(request.model)

    def _cut(self, model: str) -> StreamCut:
        """The connection is of no more use, and what came over it is no answer."""
        self._pool.pop(model, None)
        return StreamCut(provider=model, retryable=True, retry_after=None)

    async def _connection(self, model: str) -> ClientConnection:
        known = self._pool.get(model)
        if known is None:
            try:
                known = self._pool[model] = await connect(self._address)
            except OSError as error:
                raise ProviderError(
                    provider=model, what=str(error), retryable=True, retry_after=None
                ) from error
        return known

    async def close(self) -> None:
        """End every connection with a close frame, and wait until the server has answered it."""
        while self._pool:
            _, connection = self._pool.popitem()
            await connection.close()


class SocketServer:
    """Answers every request with the next of its answers, and notes how connections end.

    An answer of None cuts the connection in the middle of the stream, without a close frame.
    """

    def __init__(self, *answers: Answer | None) -> None:
        self._answers = list(answers)
        self.address = ""
        self.ended: list[int | None] = []  #: the code of each close frame received, None for none
        self.opened = 0
        self._over = asyncio.Condition()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["SocketServer"]:
        """Serve on a free port of the loopback interface."""
        async with serve(self._talk, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            self.address = f"ws://127.0.0.1:{port}"
            yield self

    async def _talk(self, connection: ServerConnection) -> None:
        self.opened += 1
        try:
            async for _ in connection:
                answer = self._answers.pop(0)
                words = "and so" if answer is None else answer.text
                await connection.send(msgspec.json.encode(Piece(text=words)))
                if answer is None:
                    connection.transport.abort()
                    return
                await connection.send(msgspec.json.encode(Piece(answer=answer)))
        except ConnectionClosed:
            pass
        finally:
            received = connection.protocol.close_rcvd
            async with self._over:
                self.ended.append(None if received is None else received.code)
                self._over.notify_all()

    async def all_ended(self) -> list[int | None]:
        """How every connection ended, once all have."""
        async with self._over:
            await self._over.wait_for(lambda: len(self.ended) == self.opened)
        return self.ended
