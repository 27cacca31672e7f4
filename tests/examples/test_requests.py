"""What the chat service answers to requests, right ones and others."""

from collections.abc import Iterator
from itertools import islice

import apsw
import pytest

from tests.examples.caller import KEY, Caller
from tests.examples.service import Service
from tests.waiting import until


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One worker, for all tests here."""
    with Service(tmp_path_factory.mktemp("service")) as service:
        service.start()
        yield service


@pytest.fixture
def caller(service: Service) -> Caller:
    return Caller(service.port)


MISSING = "0" * 16


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"/chats/{MISSING}", 404),
        ("GET", f"/chats/{MISSING}/events", 404),
        ("POST", f"/chats/{MISSING}/posts", 404),
        ("POST", f"/chats/{MISSING}/posts/1/cancel", 404),
        ("GET", "/chats/no-such-id", 400),
        ("GET", f"/chats/{MISSING}%00", 400),
        ("GET", f"/chats/{MISSING}%0a", 400),
        ("GET", "/chats/%F0%9F%92%A5", 400),
        ("GET", "/chats/..%2F..%2Fetc%2Fpasswd", 404),
        ("GET", "/static/..%2Fdesk.py", 404),
        ("GET", "/nowhere", 404),
        ("DELETE", f"/chats/{MISSING}", 405),
    ],
)
def test_what_is_not_there_is_refused(caller: Caller, method: str, path: str, status: int) -> None:
    answer = caller.ask(method, path, {"text": "x"} if method == "POST" else None)
    assert answer.status == status
    assert answer.body["error"]


def test_a_person_is_told_on_a_page_what_is_not_there(caller: Caller) -> None:
    answer = caller.ask("GET", f"/chats/{MISSING}", accept="text/html,*/*")
    assert answer.status == 404
    assert "There is no such chat." in answer.text


def test_bad_requests_are_refused_and_admit_nothing(caller: Caller, service: Service) -> None:
    chat = caller.chat()
    posts = f"/chats/{chat}/posts"
    for body, headers, status in (
        (b"{", {}, 400),
        (b"[]", {}, 400),
        (b"[" * 60_000, {}, 400),
        (b"\xff", {}, 400),
        ({}, {}, 400),
        ({"text": ""}, {}, 400),
        ({"text": "  \n"}, {}, 400),
        ({"text": 7}, {}, 400),
        ({"text": "\ud800"}, {}, 400),
        ({"text": "x" * 8001}, {}, 400),
        ({"text": "x" * 70_000}, {}, 413),
        ({"text": "x"}, {"key": "short"}, 400),
        ({"text": "x"}, {"key": "x" * 65}, 400),
        ({"text": "x"}, {"key": "not / allowed"}, 400),
        ({"text": "x"}, {"content_type": "text/plain"}, 415),
    ):
        answer = caller.ask("POST", posts, body, **headers)
        assert (answer.status, body if answer.status != status else "") == (status, "")
        assert answer.body["error"]
    for place in ("x", "1", "1.", "0.x", "1.ä", "1." + "x" * 300):
        refused = caller.ask("GET", posts.replace("posts", "events?after=") + http_safe(place))
        assert refused.status == 400
    for number in ("0", "-1", "x", "9999999999"):
        assert caller.ask("POST", f"{posts}/{number}/cancel", {}).status == 400
    assert caller.ask("POST", f"{posts}/1/cancel", {}).status == 404
    assert service.calls(chat) == {}


def http_safe(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


def test_a_request_that_is_sent_again_is_carried_out_once(caller: Caller, service: Service) -> None:
    chat = caller.chat("a-key-of-ours")
    assert caller.chat("a-key-of-ours") == chat
    path = f"/chats/{chat}/posts"
    answers = [caller.ask("POST", path, {"text": "Can you help?"}) for _ in range(3)]
    assert [(one.status, one.body["post"]) for one in answers] == [(202, 1)] * 3
    other = caller.ask("POST", path, {"text": "Can you run?"})
    assert (other.status, other.body) == (409, {"error": "this key was used for another text"})
    second = caller.ask("POST", path, {"text": "Can you help?"}, key="another-key")
    assert second.body == {"post": 2}
    until(lambda: service.calls(chat) == {1: 2}, "both are answered")


def test_a_wait_is_answered_once_and_only_by_its_key(caller: Caller, service: Service) -> None:
    chat = caller.chat()
    caller.ask("POST", f"/chats/{chat}/posts", {"text": "Refund 40 € for order 7"})
    (wait,) = caller.told(chat, "waiting")[-1]["waits"]
    assert wait["asked"] == "Refund 40 € for order 7?"
    forged = wait["key"][:-1] + ("0" if wait["key"][-1] != "0" else "1")
    assert caller.ask("POST", "/answers", {"wait": forged, "yes": True}).status == 404
    assert caller.ask("POST", "/answers", {"wait": wait["key"], "yes": "yes"}).status == 400
    first, again = [
        caller.ask("POST", "/answers", {"wait": wait["key"], "yes": yes}) for yes in (False, True)
    ]
    assert first.body == {"first": True, "word": "value", "value": False}
    assert again.body == {"first": False, "word": "value", "value": False}
    finished = caller.told(chat, "finished")[-1]
    assert finished["result"]["text"].startswith("Nobody agreed, so nothing was paid.")
    assert service.paid() == []


def test_a_page_that_was_cut_off_after_any_event_is_told_the_rest(
    caller: Caller, service: Service
) -> None:
    chat = caller.chat()
    service.allow(5)
    caller.post(chat, "Hello!")
    whole = list(islice(caller.events(chat), 7))
    assert [event["event"] for event in whole] == ["hello", "asked", *["text"] * 5]
    for place in range(2, 6):
        left = 7 - place - 1
        rest = list(islice(caller.events(chat, whole[place]["id"]), 2 + left))
        assert rest[2:] == whole[place + 1 :]
    service.allow(None)
    ends = [caller.told(chat, "finished", event["id"])[-1]["result"] for event in whole[1:]]
    assert ends == [ends[0]] * 6
    assert ends[0]["text"].startswith("Hello, this is Ada.")
    assert service.calls(chat) == {1: 1}


def test_a_page_that_knows_another_past_is_told_to_begin_anew(caller: Caller) -> None:
    chat = caller.chat()
    caller.post(chat, "Can you help?")
    caller.told(chat, "finished")
    events = [event["event"] for event in caller.events(chat, "1.nothing-like-that")]
    assert events == ["hello", "asked", "anew"]


def test_the_service_answers_to_its_own_name_alone(caller: Caller) -> None:
    assert caller.ask("GET", "/").status == 200
    assert caller.ask("GET", "/", host="elsewhere.invalid").status == 400


def test_a_store_that_is_busy_is_no_failure_and_no_admission(
    caller: Caller, service: Service
) -> None:
    chat = caller.chat()
    other = apsw.Connection(str(service.store))
    other.execute("BEGIN IMMEDIATE")
    try:
        answer = caller.ask_once("POST", f"/chats/{chat}/posts", {"text": "Can you help?"})
        assert (answer.status, answer.body) == (503, {"error": "the service is busy; ask again"})
    finally:
        other.execute("ROLLBACK")
        other.close()
    assert caller.post(chat, "Can you help?", KEY) == 1
    caller.told(chat, "finished")
    assert service.calls(chat) == {1: 1}


def test_every_answer_forbids_scripts_that_are_not_ours(caller: Caller) -> None:
    for path in ("/", f"/chats/{caller.chat()}", "/static/chat.js", "/nowhere"):
        policy = caller.ask("GET", path).headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self';" in policy
        assert "unsafe" not in policy


def test_a_question_about_the_events_alone_gets_no_stream(caller: Caller) -> None:
    answer = caller.ask("HEAD", f"/chats/{caller.chat()}/events")
    assert (answer.status, answer.text) == (200, "")
