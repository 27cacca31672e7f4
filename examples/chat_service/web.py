"""Requests and answers. Whoever may use the service may use every chat: put your own sign-in before it."""

import asyncio
import contextlib
import html
import json
import re
from pathlib import Path
from typing import Any

import apsw
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from examples.chat_service.chats import Chats, OtherText, Post
from examples.chat_service.stream import Place, events
from tenure import Runtime
from tenure.kernel.errors import Doubt
from tenure.runtime.errors import WaitKeyUnknown, WiringError

STATIC = Path(__file__).parent / "static"

#: The longest body of a request, in bytes, and the longest question, in characters.
BODY, QUESTION = 64 * 1024, 8_000

#: What the service may be called. Other names may be tricks of a page from elsewhere.
HOSTS = ["127.0.0.1", "localhost"]

#: A page of ours runs our scripts, and nothing that anybody said.
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " connect-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class Web:
    """The requests of one worker. `hello` is what a page is told of it."""

    def __init__(self, rt: Runtime, chats: Chats, hello: dict[str, Any]) -> None:
        self._rt = rt
        self._chats = chats
        self._hello = hello
        self.leaving = asyncio.Event()  #: set, pages are sent away; they come back elsewhere
        self.app = Starlette(
            routes=[
                Route("/", self.index),
                Route("/chats", self.begin, methods=["POST"]),
                Route("/chats/{chat}", self.page),
                Route("/chats/{chat}/events", self.events),
                Route("/chats/{chat}/posts", self.post, methods=["POST"]),
                Route("/chats/{chat}/posts/{number}/cancel", self.cancel, methods=["POST"]),
                Route("/answers", self.answer, methods=["POST"]),
                Mount("/static", StaticFiles(directory=STATIC)),
            ],
            middleware=[
                Middleware(Headed),
                Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS),
            ],
            exception_handlers={HTTPException: refused, Doubt: busy, apsw.BusyError: busy},
        )

    async def index(self, _: Request) -> Response:
        """The chats there are."""
        rows = await asyncio.to_thread(self._chats.latest)
        items = "".join(
            f'<li><a href="/chats/{chat}">{html.escape(text) or "Nothing was said yet"}</a></li>'
            for chat, text in rows
        )
        template = (STATIC / "index.html").read_text(encoding="utf-8")
        return HTMLResponse(template.replace("<!-- chats -->", items))

    async def begin(self, request: Request) -> Response:
        """A new chat. Asked again with the same key, the same one."""
        chat = await asyncio.to_thread(self._chats.begin, _key(request))
        return JSONResponse({"chat": chat}, status_code=201)

    async def page(self, request: Request) -> Response:
        """The page of a chat. All that it shows comes as events."""
        await self._chat(request)
        return FileResponse(STATIC / "chat.html")

    async def events(self, request: Request) -> Response:
        """What happens in a chat, after the event that the page had last."""
        chat = await self._chat(request)
        seen = request.headers.get("last-event-id") or request.query_params.get("after", "")
        try:
            place = Place.read(seen)
        except ValueError:
            raise HTTPException(400, "there is no such place in a chat") from None
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        if request.method == "HEAD":
            return Response(headers=headers, media_type="text/event-stream")
        told = events(self._rt, self._chats, chat, place, self._hello, self.leaving)
        return StreamingResponse(told, headers=headers, media_type="text/event-stream")

    async def post(self, request: Request) -> Response:
        """Ask something. It is admitted when this answers, once, however often it is sent."""
        chat, key = await self._chat(request), _key(request)
        text = (await _body(request)).get("text")
        if not isinstance(text, str) or not text.strip() or len(text) > QUESTION:
            raise HTTPException(400, f"ask with a text of up to {QUESTION} characters")
        try:
            post = await asyncio.to_thread(self._chats.post, self._rt, chat, text, key)
        except OtherText:
            raise HTTPException(409, "this key was used for another text") from None
        except WiringError as error:
            raise HTTPException(400, str(error)) from error
        return JSONResponse({"post": post.number}, status_code=202)

    async def answer(self, request: Request) -> Response:
        """Answer what a turn waits for. Whoever comes second is told what the first one said."""
        body = await _body(request)
        wait, yes = body.get("wait"), body.get("yes")
        if not isinstance(wait, str) or not isinstance(yes, bool):
            raise HTTPException(400, "answer a wait with yes or no")
        try:
            answered = await self._rt.resolve(wait, yes)
        except WaitKeyUnknown:
            raise HTTPException(404, "nothing waits for that") from None
        how = answered.resolution
        return JSONResponse({"first": answered.first, "word": how.word, "value": how.value})

    async def cancel(self, request: Request) -> Response:
        """Ask for the end of a turn. Whoever drives it ends it."""
        post = await self._post(await self._chat(request), request.path_params["number"])
        counts = await self._rt.cancel_turn(post.turn, "stopped by hand")
        return JSONResponse({"cancelled": counts}, status_code=202)

    async def _chat(self, request: Request) -> str:
        """The chat that is named. Raises: HTTPException: 400 for no id of one, 404 for none."""
        chat = str(request.path_params["chat"])
        if not re.fullmatch(r"[0-9a-f]{16}", chat):
            raise HTTPException(400, "that is no id of a chat")
        if not await asyncio.to_thread(self._chats.known, chat):
            raise HTTPException(404, "there is no such chat")
        return chat

    async def _post(self, chat: str, number: str) -> Post:
        if not re.fullmatch(r"[1-9][0-9]{0,8}", number):
            raise HTTPException(400, "that is no number of a post")
        found = await asyncio.to_thread(self._chats.posts, chat, int(number) - 1)
        if not found or found[0].number != int(number):
            raise HTTPException(404, "there is no such post")
        return found[0]


def _key(request: Request) -> str:
    """What the browser calls this request, however often it sends it."""
    key = request.headers.get("idempotency-key", "")
    if not re.fullmatch(r"[A-Za-z0-9_-]{8,64}", key):
        raise HTTPException(400, "send an Idempotency-Key of 8 to 64 letters and digits")
    return key


async def _body(request: Request) -> dict[str, Any]:
    """A JSON object. Only a script of our own origin can send that type unasked."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise HTTPException(415, "send application/json")
    content = b""
    async for chunk in request.stream():
        content += chunk
        if len(content) > BODY:
            raise HTTPException(413, f"send at most {BODY} bytes")
    with contextlib.suppress(ValueError, RecursionError):
        body = json.loads(content)
        if isinstance(body, dict):
            return body
    raise HTTPException(400, "send a JSON object")


async def refused(request: Request, error: Exception) -> Response:
    """A refusal: for people where a page was asked for, for scripts elsewhere."""
    assert isinstance(error, HTTPException)
    if "text/html" not in request.headers.get("accept", ""):
        return JSONResponse({"error": error.detail}, status_code=error.status_code)
    template = (STATIC / "refused.html").read_text(encoding="utf-8")
    said = template.replace("<!-- why -->", html.escape(error.detail.capitalize()))
    return HTMLResponse(said, status_code=error.status_code)


async def busy(request: Request, error: Exception) -> Response:
    """It is unknown whether it was done. Asked again under its key, it is done once."""
    del error
    return await refused(request, HTTPException(503, "the service is busy; ask again"))


class Headed:
    """Adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass it on."""

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(scope, receive, headed)
