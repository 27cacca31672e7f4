"""A server at an address: one request's failure is one call's, and no body is larger than allowed.

To the SDK a failing request is the end of its whole connection, and calls that have nothing to do
with it are lost too; a plain JSON body has no bound. Both are mended beneath it, where HTTP is.
"""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from tenure.runtime.mcp.lost import FORGOTTEN, LOST, NOT_SENT, TOO_LARGE
from tenure.runtime.mcp.server import HttpServer

_READ_SECONDS = 300.0  #: of silence on a stream that is only listened to; then it is opened again

#: Failures before anything was sent.
_BEFORE = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)


@asynccontextmanager
async def address(server: HttpServer) -> AsyncIterator[Any]:
    """The streams of a connection to it. Its session is ended after, if it gives sessions."""
    timeout = httpx2.Timeout(
        server.connect_timeout, read=max(_READ_SECONDS, server.timeout + server.connect_timeout)
    )
    client = httpx2.AsyncClient(
        headers={"accept-encoding": "identity", **server.headers},
        auth=server.auth,
        timeout=timeout,
        transport=Guarded(httpx2.AsyncHTTPTransport(), server.message_bytes),
    )
    streams: AbstractAsyncContextManager[Any] = streamable_http_client(
        server.url, http_client=client, max_sse_event_size=server.message_bytes
    )
    async with client, streams as pair:
        yield pair


class Guarded(httpx2.AsyncBaseTransport):
    """A transport whose requests fail each for itself."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, most: int) -> None:
        self._inner = inner
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response; for one that cannot be had, an error in the protocol's own words."""
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError as error:
            code = NOT_SENT if isinstance(error, _BEFORE) else LOST
            return _failed(request, code, f"{type(error).__name__}: {error}")
        kind = response.headers.get("content-type", "").lower()
        if request.method == "POST" and response.status_code >= 400:
            instead = _refused(request, response, kind)
            if instead is not None:
                await response.aclose()
                return instead
        if kind.startswith("text/event-stream"):
            return response  # the SDK bounds each event
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()  # how large it is, is not known before it is in memory
            return _failed(request, LOST, "it compressed its answer, which was not asked for")
        try:
            body = await self._read(response)
        except httpx2.TransportError as error:
            return _failed(request, LOST, f"{type(error).__name__}: {error}")
        finally:
            await response.aclose()
        if body is None:
            why = f"it sent more than {self._most} bytes (its message_bytes)"
            return _failed(request, TOO_LARGE, why)
        return httpx2.Response(response.status_code, headers=response.headers, content=body)

    async def _read(self, response: httpx2.Response) -> bytes | None:
        """A body; None if it is too large."""
        parts, size = [], 0
        async for part in response.aiter_raw():
            size += len(part)
            if size > self._most:
                return None
            parts.append(part)
        return b"".join(parts)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._inner.aclose()


def _refused(
    request: httpx2.Request, response: httpx2.Response, kind: str
) -> httpx2.Response | None:
    """What a status means for a call, where the body does not say it; None where it may."""
    status = response.status_code
    if status == 404 and "mcp-session-id" in request.headers:
        return _failed(request, FORGOTTEN, "it does not know this session any more")
    if status in (401, 403) or kind.startswith("application/json"):
        return None  # `auth` has to see the first two
    why = f"it answered with the status {status}"
    if status >= 500:
        return _failed(request, LOST, why)  # a gateway's word says nothing of who is behind it
    return _failed(request, NOT_SENT if status == 429 else status, why)


def _failed(request: httpx2.Request, code: int, why: str) -> httpx2.Response:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": why}}
    return httpx2.Response(
        503,
        headers={"content-type": "application/json"},
        content=json.dumps(error).encode(),
        request=request,
    )
