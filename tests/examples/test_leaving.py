"""Workers of the chat service come and go, and nothing is left behind or done twice."""

import asyncio
import signal
import subprocess
from pathlib import Path

import pytest

from examples.chat_service.desk import desk
from examples.chat_service.rehearsed import rehearsed
from tenure import Runtime
from tenure.runtime.sessions import DrainStatus
from tests.examples.caller import Caller
from tests.examples.service import PYTHON, ROOT, Service, Worker


def at_rest(service: Service) -> DrainStatus:
    """What the store says of whoever has what."""

    async def look() -> DrainStatus:
        agents = [desk(1, rehearsed())]
        async with Runtime(store=f"sqlite:///{service.store}", agents=agents) as rt:
            return await rt.drain_status()

    return asyncio.run(look())


def test_a_worker_that_leaves_in_the_middle_of_an_answer_holds_nothing(service: Service) -> None:
    worker = service.start()
    service.allow(3)
    caller = Caller(service.port)
    chat = caller.chat()
    caller.post(chat, "Hello!")
    caller.told(chat, "text")
    worker.terminate()
    worker.terminate()  # asked twice, it leaves once
    worker.left()
    status = at_rest(service)
    assert [turn.claim for turn in status.open_turns] == [None]
    assert status.lanes == ()


def test_a_worker_that_leaves_while_a_page_looks_on_is_not_held_by_it(service: Service) -> None:
    worker = service.start()
    caller = Caller(service.port)
    events = caller.events(caller.chat())
    assert next(events)["event"] == "hello"
    worker.terminate()
    assert list(events) == []  # the page is sent away
    worker.left()


def test_a_question_that_is_sent_again_while_workers_change_is_asked_once(
    service: Service,
) -> None:
    workers = [service.start(), service.start()]
    caller = Caller(service.port)
    chat = caller.chat()
    for number in range(1, 13):
        caller.post(chat, f"Order {number}, please", f"question-{number}")
        if number % 4 == 0 and workers:
            workers.append(service.start())
            workers.pop(0).terminate()
    events = caller.told(chat, "finished", post=12)
    asked = [event["text"] for event in events if event["event"] == "asked"]
    assert asked == [f"Order {number}, please" for number in range(1, 13)]
    answers = [event["result"]["text"] for event in events if event["event"] == "finished"]
    assert answers == [f"Order {n} was paid and delivered. Yours, Ada." for n in range(1, 13)]


def test_the_command_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    worker = Worker(["examples.chat_service", f"--store={tmp_path / 'chat.db'}"], tmp_path / "log")
    try:
        caller = Caller(int(worker.url.rpartition(":")[2]))
        chat = caller.chat()
        caller.post(chat, "What can you do?")
        finished = caller.told(chat, "finished")[-1]
        assert finished["result"]["text"] == "I am Ada, and this is what I can do: look_up, refund."
        worker.terminate(signal.SIGINT)
        worker.left()
    finally:
        worker.end()


def test_another_model_is_named_by_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_MODEL", "test")  # Pydantic AI's own, which calls every tool once
    worker = Worker(["examples.chat_service", f"--store={tmp_path / 'chat.db'}"], tmp_path / "log")
    try:
        caller = Caller(int(worker.url.rpartition(":")[2]))
        chat = caller.chat()
        caller.post(chat, "Hello!")
        (wait,) = caller.told(chat, "waiting")[-1]["waits"]
        caller.ask("POST", "/answers", {"wait": wait["key"], "yes": False})
        result = caller.told(chat, "finished")[-1]["result"]
        assert "Nobody agreed" in result["text"]
    finally:
        worker.end()


def test_a_worker_that_cannot_start_says_so_and_ends(tmp_path: Path) -> None:
    done = subprocess.run(
        [*PYTHON, "examples.chat_service", f"--store={tmp_path / 'none' / 'chat.db'}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode != 0
    assert "StoreUnavailable" in done.stderr
