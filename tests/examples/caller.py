"""Somebody who sends requests to the chat service, and reads what a page is told."""

import http.client
import json
import secrets
from collections.abc import Iterator
from typing import Any

from tests.waiting import until

KEY = "0123456789abcdef"


class Answer:
    """An answer, read to its end."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.text = response.read().decode()

    @property
    def body(self) -> Any:
        return json.loads(self.text)


class Caller:
    """Somebody who sends requests to a service."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self, method: str, path: str, body: object = None, key: str = KEY, **headers: str
    ) -> Answer:
        """What is answered, by a service that is not too busy."""

        def sent() -> Answer | None:
            answer = self.ask_once(method, path, body, key, **headers)
            return None if answer.status == 503 else answer

        answer = until(sent, "the service has time")
        assert answer is not None
        return answer

    def ask_once(
        self, method: str, path: str, body: object = None, key: str = KEY, **headers: str
    ) -> Answer:
        """What is answered to one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        given = {"content-type": "application/json", "idempotency-key": key, **headers}
        try:
            connection.request(
                method,
                path,
                content,
                {name.replace("_", "-"): value for name, value in given.items()},
            )
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def chat(self, key: str | None = None) -> str:
        """A chat; a new one, unless a key says which."""
        answer = self.ask("POST", "/chats", {}, key=key or secrets.token_hex(16))
        assert answer.status == 201
        return str(answer.body["chat"])

    def post(self, chat: str, text: str, key: str | None = None) -> int:
        """Ask, as a page does: with one key until a worker answers; the number of the post."""
        key = key or secrets.token_hex(16)

        def sent() -> Answer | None:
            try:
                return self.ask("POST", f"/chats/{chat}/posts", {"text": text}, key=key)
            except (OSError, http.client.HTTPException):
                return None  # that worker is gone

        answer = until(sent, "a worker takes the question")
        assert answer is not None
        assert answer.status == 202, answer.text
        return int(answer.body["post"])

    def events(self, chat: str, place: str = "") -> Iterator[dict[str, Any]]:
        """What a page is told, until the caller has had enough."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", f"/chats/{chat}/events", headers={"last-event-id": place})
        response = connection.getresponse()
        assert response.status == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        name = ""
        try:
            for line in response:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                if field == "id":
                    name = value
                elif field == "data":
                    yield {**json.loads(value), "id": name}
                    name = ""
        finally:
            response.close()
            connection.close()

    def told(
        self, chat: str, last: str, place: str = "", *, post: int | None = None
    ) -> list[dict[str, Any]]:
        """All events up to the first of a kind, of one post or of any; sent away, it comes back."""
        found: list[dict[str, Any]] = []

        def over() -> bool:
            for event in self.events(chat, _place(found, place)):
                if event["event"] not in ("hello", "asked") or event not in found:
                    found.append(event)
                if event["event"] == last and post in (None, event["post"]):
                    return True
            return False

        until(over, f"{last} is told")
        return found


def _place(told: list[dict[str, Any]], otherwise: str) -> str:
    """Where somebody is who was told so much."""
    return next((event["id"] for event in reversed(told) if event["id"]), otherwise)
