"""Hosts without an event loop, and hosts that admit in a transaction of their own."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import Future
from pathlib import Path

import apsw
import pytest

from tenure import Event, Runtime, TurnFinished
from tenure.runtime.errors import (
    BlobMissing,
    RuntimeClosed,
    SessionBusy,
    SessionDeleted,
    TurnMissing,
    WiringError,
    WorkConflict,
)
from tenure.runtime.model.message import Attachment
from tenure.runtime.model.work import ActiveTurn
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.architecture.source import ROOT
from tests.runtime.scene import DoorProvider, echo, line, run, runtime, support
from tests.runtime.scene import until as eventually
from tests.waiting import until


def path_of(store: str) -> str:
    return store.removeprefix("sqlite:///")


# turns of plain threads


def test_a_plain_thread_has_its_turn(store: str) -> None:
    provider = echo()
    with runtime(store, support(provider)) as rt:
        first = rt.turn_sync("chat", "one", agent="support", key="k")
        assert first.text == "re: one"
        assert rt.turn_sync("chat", "one", agent="support", key="k") == first
        assert len(provider.requests) == 1


def test_many_threads_share_one_loop(store: str) -> None:
    loops, before = set(), set(threading.enumerate())

    async def where() -> str:
        loops.add(threading.current_thread().name)
        return "here"

    provider = ScriptedProvider(calls(("where", {})), lambda r: text(results(r)[0]))
    with runtime(store, support(provider, where)) as rt:
        answers: list[str] = []

        def ask(n: int) -> None:
            answers.append(rt.turn_sync(f"chat-{n % 3}", f"q{n}", agent="support").text)

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == ["ok: here"] * 9
        assert loops == {"tenure-loop"}
    assert set(threading.enumerate()) <= before


def test_waiting_inside_a_running_loop_is_refused_before_anything_happens(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            with pytest.raises(WiringError, match="runs an event loop"):
                rt.turn_sync("chat", "one", agent="support")
            assert await rt.inventory() == []
            answer = await asyncio.to_thread(rt.turn_sync, "chat", "one", agent="support")
            assert answer.text == "re: one"

    run(story())


def test_a_turn_of_a_thread_and_one_of_the_loop_see_the_same_events(store: str) -> None:
    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider)) as rt:
            asking = asyncio.ensure_future(
                asyncio.to_thread(rt.turn_sync, "chat", "one", agent="support", key="k")
            )
            await provider.door.somebody()
            chat = await rt.session("chat", agent="support")

            async def watch() -> list[Event]:
                return [event async for event in chat.stream("one", key="k")]

            watching = asyncio.ensure_future(watch())
            assert await rt.cancel_turn(rt.turn_id("chat", "k"), "enough")
            assert (await asking).status == "cancelled"
            events = await watching
            assert isinstance(events[-1], TurnFinished)

    run(story())


def test_closing_ends_the_turns_of_threads(shared: str) -> None:
    provider = DoorProvider()
    rt = runtime(shared, support(provider))
    failures: list[BaseException] = []

    def ask() -> None:
        try:
            rt.turn_sync("chat", "one", agent="support", key="k")
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: provider.door.came, "the model is asked")
    rt.close()
    rt.close()
    thread.join()
    assert len(failures) == 1
    with pytest.raises(RuntimeClosed):
        rt.turn_sync("chat", "two", agent="support")
    with runtime(shared, support(echo())) as again:
        assert again.turn_sync("chat", "one", agent="support", key="k").text == "re: one"


# admission


def test_a_plain_thread_admits_and_whoever_drives_drives_it(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo())) as rt:
            turn = await asyncio.to_thread(rt.submit, "chat", "one", agent="support", key="k")
            assert turn == rt.turn_id("chat", "k")
            assert rt.submit("chat", "one", agent="support", key="k") == turn
            with pytest.raises(WorkConflict):
                rt.submit("chat", "two", agent="support", key="k")
            with pytest.raises(SessionBusy):
                rt.submit("chat", "two", agent="support", on_busy="fail")
            (result,) = await rt.drive_once()
            assert (result.turn, result.text) == (turn, "re: one")

    run(story())


async def over(rt: Runtime, turn: str) -> bool:
    record, _ = await rt.wiring.asking.call(lambda: rt.wiring.store.turn(turn))
    return record is not None and record.over


def test_what_a_thread_admits_wakes_the_driver(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(echo()), poll=3600) as rt:
            driving = asyncio.ensure_future(rt.drive())
            await asyncio.sleep(0)
            turn = await asyncio.to_thread(rt.submit, "chat", "one", agent="support")
            await eventually(lambda: over(rt, turn), "the driver looks although it is not time")
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)

    run(story())


def test_admitted_with_the_hosts_own_row_or_not_at_all(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, support(echo())) as rt:
            host = apsw.Connection(path_of(shared))
            host.execute("CREATE TABLE ticket (id INTEGER PRIMARY KEY, turn TEXT)")
            host.execute("BEGIN IMMEDIATE")
            turn = rt.submit("chat", "lost", agent="support", connection=host)
            host.execute("INSERT INTO ticket VALUES (1, ?)", (turn,))
            host.execute("ROLLBACK")
            assert await rt.drive_once() == []
            assert await rt.inventory() == []

            host.execute("BEGIN IMMEDIATE")
            turn = rt.submit("chat", "kept", agent="support", connection=host)
            host.execute("INSERT INTO ticket VALUES (1, ?)", (turn,))
            assert (await rt.inventory()) == [], "not before it commits"
            host.execute("COMMIT")
            (result,) = await rt.drive_once()
            assert (result.turn, result.text) == (turn, "re: kept")
            assert list(host.execute("SELECT turn FROM ticket")) == [(turn,)]
            host.close()

    run(story())


def test_a_refusal_leaves_the_hosts_transaction_as_it_was(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, support(echo())) as rt:
            rt.submit("chat", "one", agent="support", key="k")
            host = apsw.Connection(path_of(shared))
            host.execute("CREATE TABLE ticket (id INTEGER PRIMARY KEY)")
            host.execute("BEGIN IMMEDIATE")
            host.execute("INSERT INTO ticket VALUES (1)")
            with pytest.raises(WorkConflict):
                rt.submit("chat", "two", agent="support", key="k", connection=host)
            assert host.in_transaction
            host.execute("COMMIT")
            assert list(host.execute("SELECT id FROM ticket")) == [(1,)]
            assert len(await rt.drive_once(9)) == 1
            host.close()

    run(story())


def test_what_fails_half_way_is_undone_in_the_hosts_transaction(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, support(echo())) as rt:
            await rt.session("chat", agent="support")
            nobody = ActiveTurn(turn="turn-nobody")
            lost = rt.intake.prepare("chat", "support", "x", active=nobody)
            host = apsw.Connection(path_of(shared))
            host.execute("BEGIN IMMEDIATE")
            with rt.wiring.access.inside(host) as store, pytest.raises(TurnMissing):
                store.admit(lost.work, lost.program)
            assert list(host.execute("SELECT digest FROM program")) == []
            host.execute("COMMIT")
            host.close()

    run(story())


def test_connections_that_would_lose_rows_are_refused_by_name(shared: str, tmp_path: Path) -> None:
    with runtime(shared, support(echo())) as rt:
        theirs = sqlite3.connect(tmp_path / "theirs.db")
        with pytest.raises(WiringError, match="a sqlite3 connection cannot share a file"):
            rt.submit("chat", "one", agent="support", connection=theirs)
        theirs.close()
        with pytest.raises(WiringError, match="a builtins connection"):
            rt.submit("chat", "one", agent="support", connection="agents.db")
        elsewhere = apsw.Connection(os.fspath(tmp_path / "other.db"))
        elsewhere.execute("BEGIN")
        with pytest.raises(WiringError, match=r"other\.db"):
            rt.submit("chat", "one", agent="support", connection=elsewhere)
        elsewhere.close()
        ours = apsw.Connection(path_of(shared))
        with pytest.raises(WiringError, match="has no transaction open"):
            rt.submit("chat", "one", agent="support", connection=ours)
        ours.close()


def test_a_store_in_memory_has_no_connection() -> None:
    with (
        runtime("memory://", support(echo())) as rt,
        pytest.raises(WiringError, match="leave `connection` out"),
    ):
        rt.submit("chat", "one", agent="support", connection=apsw.Connection(":memory:"))


def test_what_cannot_be_admitted_is_not_by_a_thread_either(store: str) -> None:
    with runtime(store, support(echo())) as rt:
        missing = Attachment(digest="0" * 64, media_type="text/plain")
        with pytest.raises(BlobMissing):
            rt.submit("chat", "one", agent="support", attachments=(missing,))
        rt.submit("chat", "one", agent="support")
        assert asyncio.run(rt.delete_session("chat"))
        with pytest.raises(SessionDeleted):
            rt.submit("chat", "one", agent="support")


def test_a_thread_that_is_interrupted_hands_its_turn_back(
    shared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt reaches the main thread as an exception inside the wait for the answer."""
    provider = DoorProvider()

    def interrupted(future: object, timeout: float | None = None) -> object:
        until(lambda: provider.door.came, "the model is asked")
        raise KeyboardInterrupt

    with runtime(shared, support(provider)) as rt:
        with monkeypatch.context() as patch:
            patch.setattr(Future, "result", interrupted)
            with pytest.raises(KeyboardInterrupt):
                rt.turn_sync("chat", "one", agent="support", key="k")
        with runtime(shared, support(echo())) as other:
            assert other.turn_sync("chat", "one", agent="support", key="k").text == "re: one"


FORKS = """
import asyncio, os, sys
from tenure.runtime.errors import WiringError
from tests.architecture.source import ROOT
from tests.runtime.scene import echo, runtime, support

rt = runtime(sys.argv[1], support(echo()))
child = os.fork()
if child == 0:
    try:
        asyncio.run(rt.inventory())
    except WiringError as error:
        os._exit(7 if "before a fork" in str(error) else 1)
    os._exit(2)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_after_a_fork_the_child_is_told_to_open_its_own(shared: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS, shared], check=False, cwd=ROOT
    )
    assert done.returncode == 7


def test_history_of_threads_is_the_sessions(store: str) -> None:
    with runtime(store, support(echo())) as rt:
        for n in range(3):
            rt.turn_sync("chat", f"q{n}", agent="support")

        async def read() -> list[str]:
            return line(await (await rt.session("chat", agent="support")).messages())

        assert run(read())[-2:] == ["user: q2", "assistant: re: q2"]


def watching(rt: Runtime) -> int:
    return sum(len(watchers) for watchers in rt.wiring.watchers._of.values())


@pytest.mark.parametrize("elsewhere", [False, True])
def test_whoever_waits_is_told_at_once_when_somebody_else_is_done(
    store: str, elsewhere: bool
) -> None:
    """It is an hour until anybody would look."""

    async def story() -> None:
        provider = DoorProvider()
        async with runtime(store, support(provider), poll=3600) as rt:
            if elsewhere:
                driving: asyncio.Future[object] = asyncio.ensure_future(
                    asyncio.to_thread(rt.turn_sync, "chat", "one", agent="support", key="k")
                )
            else:
                driver = await rt.session("chat", agent="support")
                driving = asyncio.ensure_future(driver.turn("one", key="k"))
            await provider.door.somebody()
            chat = await rt.session("chat", agent="support")
            waiting = asyncio.ensure_future(chat.turn("one", key="k"))
            await eventually(lambda: watching(rt) == 2, "both watch")
            provider.door.open()
            assert await waiting == await driving

    run(story())
