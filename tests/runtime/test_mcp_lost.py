"""Servers that die, hang or are shut down, and what is known of the calls they had."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tenure import Agent
from tenure.faces.mcp_tools import McpPool, McpUnavailable, StdioServer
from tenure.runtime.machine.answers import Answer
from tenure.runtime.ports.provider import ModelRequest, Say
from tenure.testing.provider import ScriptedProvider, text
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
from tests.runtime.scene import Door, run, runtime, support, until
from tests.waiting import until as wait_until


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
        async with opened(plain(book, timeout=0.3)) as pool:
            result = await called(pool, "plain_hang")
            assert result.status == "unknown"
            assert "no answer within 0.3 s" in result.content
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
        async with opened(plain(book, connect_timeout=1.0, restart_first=0.2)) as pool:
            pid = book.pids()[0]
            book.break_off()
            os.kill(pid, signal.SIGKILL)
            result = await called(pool, "plain_echo", text="x")
            if result.status == "unknown":  # it was sent to the one that was dying
                result = await called(pool, "plain_echo", text="x")
            assert result.status == "error"
            assert "plain_echo was not called" in result.content

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
    assert book.lines()[-2:] == ["input ended", "told to end"]
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


HOST = """
import asyncio, sys
from pathlib import Path
from tests.runtime.mcp_scene import Book, Heard, plain
from tenure.faces.mcp_tools import McpPool

async def main():
    pool = McpPool([plain(Book(Path(sys.argv[1])))], said=Heard())
    await pool.open()
    print("open", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def test_a_killed_host_leaves_no_server_behind(book: Book):
    root = Path(__file__).resolve().parents[2]
    host = subprocess.Popen(
        [sys.executable, "-c", HOST, str(book.path)], cwd=root, stdout=subprocess.PIPE
    )
    assert host.stdout is not None
    assert host.stdout.readline() == b"open\n"
    host.kill()
    host.wait()
    host.stdout.close()
    wait_until(lambda: gone(book.pids()[0]), "the server's end")
    assert book.count("input ended") == 1


# replays


def test_an_outcome_that_is_recorded_is_not_asked_for_again(book: Book, shared: str):
    def clerk(pool: McpPool, provider: ScriptedProvider) -> Agent:
        return support(provider, pool.tools("plain"))

    asked, said = calling("plain_echo", text="hello")

    async def story() -> None:
        async with opened(plain(book)) as pool:
            stuck = Stuck(asked)
            async with runtime(shared, clerk(pool, stuck)) as rt:
                chat = await rt.session("a", agent="support")
                turn = asyncio.ensure_future(chat.turn("go", key="k"))
                await stuck.door.somebody()
                turn.cancel()
                await asyncio.wait((turn,))
        async with (
            opened(plain(book)) as pool,
            runtime(shared, clerk(pool, ScriptedProvider(asked, said))) as rt,
        ):
            result = await (await rt.session("a", agent="support")).turn("go", key="k")
            assert result.text == "ok: hello"

    run(story())
    assert book.count("echo") == 1


class Stuck(ScriptedProvider):
    """Asks for a call, and then thinks for ever."""

    def __init__(self, asked: Answer) -> None:
        super().__init__(asked)
        self.door = Door()

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """The call, and nothing after it."""
        if request.step > 1:
            await self.door.wait()
        return await super().answer(request, say)
