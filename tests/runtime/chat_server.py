"""A server on loopback that speaks OpenAI's streamed chat completions, by a script."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

import msgspec
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

#: done: with its terminator. unfinished: the body ends properly, the answer does not. reset: the
#: connection is cut. open: nothing more comes.
End = Literal["done", "unfinished", "reset", "open"]


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What one request is answered with: chunks of a stream, or a status that is none."""

    chunks: Sequence[dict[str, Any]] = ()
    end: End = "done"
    status: int = 200
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}


def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {
        "id": "r1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }


def words(*said: str, reason: str | None = "stop", end: End = "done") -> Reply:
    """Text in pieces, and the usage that OpenAI tells last."""
    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": word}) for word in said]
    if reason is not None:
        chunks.append(chunk({}, reason))
    if end == "done":
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        chunks.append({**chunk({}), "choices": [], "usage": usage})
    return Reply(chunks=chunks, end=end)


def tool_calls(*pieces: tuple[int, str, str, str]) -> Reply:
    """Calls of tools: index, id, name and a piece of the arguments of each chunk."""
    chunks = []
    for index, call_id, name, arguments in pieces:
        function: dict[str, str] = {"arguments": arguments}
        call: dict[str, Any] = {"index": index, "function": function}
        if call_id:
            call.update(id=call_id, type="function")
            function["name"] = name
        chunks.append(chunk({"tool_calls": [call]}))
    return Reply(chunks=[*chunks, chunk({}, "tool_calls")])


def refused(status: int, code: str = "", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(
        status=status, headers=named, body={"error": {"message": "no", "type": code, "code": code}}
    )


class ChatServer:
    """Answers each request with the next of its replies, and keeps what was asked."""

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.url = ""
        self.requests: list[dict[str, Any]] = []
        self.opened = 0
        self.closed = 0
        self._change = asyncio.Condition()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["ChatServer"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}/v1"
        try:
            yield self
        finally:
            server.close()

    def model(self) -> OpenAIChatModel:
        return OpenAIChatModel("m", provider=OpenAIProvider(base_url=self.url, api_key="none"))

    async def all_closed(self) -> None:
        """Returns when every connection is."""
        async with self._change:
            await self._change.wait_for(lambda: self.opened == self.closed)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        try:
            while await self._answered(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            async with self._change:
                self.closed += 1
                self._change.notify_all()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection lives on."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(x for x in head.split("\r\n") if x.startswith("content-length:"))
        body = await reader.readexactly(int(length.split(":")[1]))
        self.requests.append(json.loads(body))
        reply = self._replies.pop(0)
        if reply.status != 200:
            _write_refusal(writer, reply)
            await writer.drain()
            return True
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")
        writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
        for data in reply.chunks:
            _write_event(writer, json.dumps(data))
        await writer.drain()
        return await _ended(reader, writer, reply.end)


def _write_refusal(writer: asyncio.StreamWriter, reply: Reply) -> None:
    body = json.dumps(reply.body).encode()
    headers = {
        **reply.headers,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {reply.status} No\r\n{lines}\r\n".encode() + body)


def _write_event(writer: asyncio.StreamWriter, data: str) -> None:
    event = f"data: {data}\n\n".encode()
    writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")


async def _ended(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, end: End) -> bool:
    if end == "open":
        await reader.read()  # returns when the other side hangs up
        return False
    if end == "reset":
        writer.transport.abort()
        return False
    if end == "done":
        _write_event(writer, "[DONE]")
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True
