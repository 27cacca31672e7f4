"""Servers that die, hang or are shut down, and what is known of the calls they had."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tenure import Runtime
from tenure.faces.mcp_tools import McpPool, McpUnavailable, StdioServer
from tenure.testing.provider import results, text
from tests.runtime.mcp_host import ASKED, LEASE
from tests.runtime.mcp_scene import (
    Book,
    Heard,
    agent,
    called,
    calling,
    gone,
    opened,
    plain,
)
from tests.runtime.scene import run, runtime, until

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "book")


# calls that are lost


def test_a_server_killed_in_a_call_leaves_its_outcome_unknown(book: Book, shared: str):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            clerk = agent(pool, *calling("plain_die", once=True))
            async with runtime(shared, clerk) as rt:
                result = await (await rt.session("a", agent="support")).turn("go")
                assert result.text.startswith("unknown: plain_die was called, and whether it")
                again = await (await rt.session("b", agent="support")).turn("go")
                assert again.text == "ok: alive"
            assert pool.connections("plain") == 2

    run(story())
    first, second = book.lines("die ")
    assert first != second  # one for each turn, with its own key
    assert not first.endswith("None")


def test_what_may_be_run_again_is_when_its_server_is_killed(book: Book, shared: str):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            clerk = agent(pool, *calling("plain_die_idempotent", once=True))
            async with runtime(shared, clerk) as rt:
                result = await (await rt.session("a", agent="support")).turn("go")
                assert result.text == "ok: alive"

    run(story())
    first, second = book.lines("die_idempotent")
    assert first == second  # with the same key
    assert len(book.pids()) == 2


def test_what_kills_every_server_is_not_run_again_for_ever(book: Book):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            result = await called(pool, "plain_die_idempotent")
            assert result.status == "error"
            assert "ended with code -9" in result.content

    run(story())
    assert book.count("die_idempotent") == 2


def test_a_lost_call_can_wait_for_whoever_knows(book: Book, shared: str):
    async def story() -> None:
        async with opened(plain(book, in_doubt={"die": "wait"})) as pool:
            clerk = agent(pool, *calling("plain_die"))
            async with runtime(shared, clerk) as rt:
                chat = await rt.session("a", agent="support")
                turn = asyncio.ensure_future(chat.turn("go"))
                (wait,) = await until(rt.waits, "a question")
                assert wait.asked["in_doubt"]["name"] == "plain_die"
                await rt.resolve(wait.key, "it was paid")
                assert (await turn).text == "ok: it was paid"

    run(story())
    assert book.count("die ") == 1


def test_a_call_that_times_out_is_told_to_the_server_and_unknown(book: Book):
    async def story() -> None:
        async with opened(plain(book, timeout=3.0)) as pool:
            result = await called(pool, "plain_hang")
            assert result.status == "unknown"
            assert "no answer within 3 s" in result.content
            await until(lambda: book.count("cancelled"), "the protocol's cancellation")
            assert (await called(pool, "plain_echo", text="on")).content == "on"
            assert pool.connections("plain") == 1

    run(story())


def test_a_cancelled_turn_cancels_its_call(book: Book, shared: str):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            clerk = agent(pool, *calling("plain_hang"))
            async with runtime(shared, clerk) as rt:
                chat = await rt.session("a", agent="support")
                turn = asyncio.ensure_future(chat.turn("go", key="k"))
                await until(lambda: book.count("hang"), "a call")
                await rt.cancel_turn(rt.turn_id("a", "k"), "enough")
                assert (await turn).status == "cancelled"
                await until(lambda: book.count("cancelled"), "the protocol's cancellation")

    run(story())


def test_a_server_that_cannot_be_started_is_not_started_at_any_pace(book: Book):
    server = plain(book, restart_first=0.1, restart_longest=1.0)
    assert [server.pause(n) for n in range(6)] == [0.0, 0.1, 0.2, 0.4, 0.8, 1.0]

    async def story() -> None:
        heard = Heard()
        server = plain(book, timeout=3.0, restart_first=0.4)
        async with opened(server, said=heard) as pool:
            pid = book.pids()[0]
            book.break_off()
            os.kill(pid, signal.SIGKILL)
            await until(lambda: pool._links["plain"]._client is None, "the loss to be noticed")
            result = await called(pool, "plain_echo", text="x")
            assert result.status == "error"
            assert "plain_echo was not called" in result.content
        starts = [line for _, line in heard if "IsADirectoryError" in line]
        assert len(starts) <= 4  # the fourth rests until 6.0 s have gone by

    run(story())


def test_a_server_that_is_not_there_is_said_with_its_last_words(book: Book, tmp_path: Path):
    async def story() -> None:
        broken = StdioServer(
            name="broken", command=[sys.executable, "-c", "raise SystemExit('no key is set')"]
        )
        missing = StdioServer(name="missing", command=[str(tmp_path / "nothing")])
        for server, word in ((broken, "no key is set"), (missing, "FileNotFoundError")):
            pool = McpPool([plain(book), server], said=Heard())
            try:
                with pytest.raises(McpUnavailable, match=word):
                    await pool.open()
                assert (await called(pool, "plain_echo", text="up")).content == "up"
            finally:
                await pool.release()

    run(story())


# the end


def test_shutdown_ends_every_server(book: Book, tmp_path: Path, shared: str):
    async def story() -> None:
        other = Book(tmp_path / "other")
        pool = McpPool([plain(book), plain(other, name="other")], said=Heard())
        await pool.open()
        rt = runtime(shared, agent(pool, text("hi")), plugins=[pool])
        await rt.shutdown()
        await rt.shutdown()
        await rt.aclose()
        assert [gone(pid) for pid in book.pids() + other.pids()] == [True, True]
        result = await called(pool, "plain_echo", text="x")
        assert (result.status, result.content.partition(":")[0]) == (
            "error",
            "plain_echo was not called",
        )
        assert not [t for t in threading.enumerate() if t.name == "tenure-mcp"]

    run(story())
    assert book.count("input ended") == 1


def test_a_server_that_will_not_end_is_ended(book: Book):
    async def story() -> None:
        async with opened(plain(book, "--stubborn")):
            pass

    run(story())
    assert book.count("told to end") == 1
    assert gone(book.pids()[0])


def test_a_call_under_way_at_shutdown_is_no_worse_off_than_after_a_kill(book: Book):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            call = asyncio.ensure_future(called(pool, "plain_hang"))
            await until(lambda: book.count("hang"), "a call")
            await pool.release()
            assert (await call).status == "unknown"
            again = asyncio.ensure_future(called(pool, "plain_die_idempotent"))
            done, _ = await asyncio.wait((again,), timeout=0.2)
            assert not done  # the next owner makes it, as after a kill; so it has no outcome here
            again.cancel()
            await asyncio.wait((again,))
            assert again.cancelled()

    run(story())


def test_a_killed_host_leaves_no_server_behind_and_its_next_owner_asks_for_nothing_twice(
    book: Book, shared: str
):
    host = subprocess.Popen(
        [sys.executable, "-m", "tests.runtime.mcp_host", shared, str(book.path)], cwd=ROOT
    )

    async def story() -> None:
        script = (ASKED, lambda request: text("; ".join(results(request))))
        async with (
            opened(plain(book)) as pool,
            runtime(shared, agent(pool, *script), lease_timings=LEASE) as rt,
        ):
            await until(lambda: book.count("hang"), "the call that does not return")
            await until(lambda: _recorded(rt), "the other's outcome in the journal")
            host.kill()
            host.wait()
            first, second = book.pids()
            await until(lambda: gone(first) or gone(second), "the end of the killed host's server")
            result = await (await rt.session("a", agent="support")).turn("go", key="k")
            assert result.text.startswith("ok: hello; unknown: This call was started, and whether")

    try:
        run(story())
    finally:
        host.kill()
        host.wait()
    assert (book.count("echo"), book.count("hang")) == (1, 1)
    assert book.count("input ended") == 2


async def _recorded(rt: Runtime) -> bool:
    """Whether the turn under way has one call without an outcome, and that is all."""
    return len((await rt.drain_status()).in_doubt) == 1
