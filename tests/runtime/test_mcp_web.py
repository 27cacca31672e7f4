"""What a failing request over HTTP says of the call it carried."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tenure.runtime.mcp.lost import FORGOTTEN, LOST, NOT_SENT, TOO_LARGE
from tenure.runtime.mcp.web import Guarded

MOST = 1000


def failing(error: type[httpx2.TransportError]) -> Callable[[httpx2.Request], httpx2.Response]:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise error("so it is")

    return answer


def answering(status: int, body: bytes = b"", **headers: str) -> Callable[..., httpx2.Response]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: httpx2.Response(status, headers=named, stream=httpx2.ByteStream(body))


async def posted(answer: Callable[..., httpx2.Response], **headers: str) -> httpx2.Response:
    transport = Guarded(httpx2.MockTransport(answer), MOST)
    async with httpx2.AsyncClient(transport=transport) as client:
        return await client.post("http://x/mcp", json={}, headers=headers)


def code(answer: Callable[..., httpx2.Response], **headers: str) -> int:
    """The code that a call gets in the place of an answer."""
    response = asyncio.run(posted(answer, **headers))
    assert response.status_code == 503
    error = json.loads(response.content)["error"]
    return int(error["code"])


@pytest.mark.parametrize(
    "error",
    [httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout],
)
def test_what_fails_before_it_is_sent_was_not_sent(error: Any):
    assert code(failing(error)) == NOT_SENT


@pytest.mark.parametrize(
    "error",
    [
        httpx2.ReadError,
        httpx2.ReadTimeout,
        httpx2.WriteError,
        httpx2.WriteTimeout,
        httpx2.RemoteProtocolError,
    ],
)
def test_what_fails_later_may_have_arrived(error: Any):
    assert code(failing(error)) == LOST


def test_a_gateway_says_nothing_of_who_is_behind_it():
    assert code(answering(502, b"<html>", content_type="text/html")) == LOST
    assert code(answering(504)) == LOST


def test_a_refusal_is_one():
    assert code(answering(429)) == NOT_SENT
    assert code(answering(400)) == 400
    own = answering(400, b'{"error": 1}', content_type="application/json")
    assert asyncio.run(posted(own)).content == b'{"error": 1}'


def test_a_session_that_is_not_known_any_more_took_nothing():
    assert code(answering(404), **{"mcp-session-id": "1"}) == FORGOTTEN


def test_whoever_authenticates_sees_that_it_has_to():
    assert asyncio.run(posted(answering(401))).status_code == 401


def test_a_body_is_bounded():
    fits = answering(200, b"x" * MOST, content_type="application/json")
    assert asyncio.run(posted(fits)).content == b"x" * MOST
    assert code(answering(200, b"x" * (MOST + 1), content_type="application/json")) == TOO_LARGE
    packed = answering(200, b"x", content_type="application/json", content_encoding="zip")
    assert code(packed) == LOST
