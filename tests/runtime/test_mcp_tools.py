"""Tools of MCP servers: one connection for everybody, and what models are told."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from tenure.faces.mcp_tools import HttpServer, McpPool, StdioServer
from tenure.runtime.errors import WiringError
from tenure.runtime.mcp.tool import name_of
from tenure.runtime.model.message import ToolMessage
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.mcp_scene import (
    Book,
    Heard,
    agent,
    at,
    called,
    calling,
    free_port,
    opened,
    plain,
    shop,
    web,
)
from tests.runtime.scene import run, runtime, support, until
from tests.waiting import until as wait_until


@pytest.fixture
def book(tmp_path: Path) -> Book:
    return Book(tmp_path / "book")


# one connection


def test_sessions_share_one_connection(book: Book, shared: str):
    async def story() -> None:
        async with opened(shop(book)) as pool:
            clerk = agent(pool, *calling("shop_slow", order=1), server="shop")
            async with runtime(shared, clerk) as rt:
                chats = [await rt.session(f"s{n}", agent="support") for n in range(3)]
                turns = [asyncio.ensure_future(chat.turn("go")) for chat in chats]
                await until(lambda: book.count("slow 1") == 3, "three calls at once")
                book.order("go")
                assert [turn.text for turn in await asyncio.gather(*turns)] == ["ok: done"] * 3
            assert pool.connections("shop") == 1

    run(story())
    assert len(book.pids()) == 1
    assert book.count("end") == 1


def test_calls_come_from_any_thread_and_loop(book: Book, shared: str):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            clerk = agent(pool, *calling("plain_echo", text="hello"))
            async with runtime(shared, clerk) as rt:
                sync = asyncio.to_thread(rt.turn_sync, "a", "go", agent="support")
                chat = await rt.session("b", agent="support")
                both = await asyncio.gather(sync, chat.turn("go"))
                assert [result.text for result in both] == ["ok: hello", "ok: hello"]

    run(story())
    assert book.count("initialize") == 1


def test_a_host_without_a_loop_opens_it_too(book: Book, shared: str):
    pool = McpPool([plain(book)], said=Heard())
    pool.open_sync()
    clerk = agent(pool, *calling("plain_echo", text="hello"))
    with runtime(shared, clerk, plugins=[pool]) as rt:
        assert rt.turn_sync("a", "go", agent="support").text == "ok: hello"
        asyncio.run(rt.shutdown())
    assert book.count("input ended") == 1


def test_at_most_so_many_calls_are_under_way(book: Book):
    async def story() -> None:
        async with opened(plain(book, concurrency=2)) as pool:
            waiting = [asyncio.ensure_future(called(pool, "plain_hang")) for _ in range(5)]
            await until(lambda: book.count("hang") == 2, "two calls")
            for call in waiting[2:]:
                call.cancel()
            await asyncio.wait(waiting[2:])
            for call in waiting[:2]:
                call.cancel()
            await asyncio.wait(waiting)

    run(story())
    assert book.count("hang") == 2  # whoever had no place was not called


# what a tool is


def test_hints_say_what_a_lost_call_is_and_the_host_has_the_last_word(book: Book):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            found = {tool.name: tool.spec.in_doubt for tool in pool.tools("plain").tools()}
            assert found["plain_echo"] == "report"
            assert found["plain_odd_name_of_a_tool_dbd503bc"] == "rerun"  # read-only
            assert found["plain_die_idempotent"] == "rerun"
        named = {"echo": "wait", "die_idempotent": "report"}
        async with opened(plain(book, in_doubt=named)) as pool:
            found = {tool.name: tool.spec.in_doubt for tool in pool.tools("plain").tools()}
            assert (found["plain_echo"], found["plain_die_idempotent"]) == ("wait", "report")
        async with opened(plain(book, in_doubt="report")) as pool:
            assert {tool.spec.in_doubt for tool in pool.tools("plain").tools()} == {"report"}

    run(story())


def test_a_name_is_one_that_every_model_takes_and_nobody_else_has():
    server = StdioServer(name="s", command=["x"])
    bare = StdioServer(name="s", command=["x"], prefix="")
    assert name_of(server, "read-file") == "s_read-file"
    assert name_of(server, "a.b") != name_of(server, "a/b")
    assert name_of(bare, "7up")[0] == "_"
    long = [name_of(server, "x" * 100 + end) for end in "ab"]
    assert [len(name) <= 64 for name in long] == [True, True]
    assert long[0] != long[1]


def test_two_tools_of_one_name_are_refused(book: Book, tmp_path: Path, shared: str):
    async def story() -> None:
        other = Book(tmp_path / "other")
        async with opened(plain(book), plain(other, name="other", prefix="plain_")) as pool:
            both = (pool.tools("plain"), pool.tools("other", only=["echo"]))
            clerk = support(ScriptedProvider(text("hi")), *both)
            async with runtime(shared, clerk) as rt:
                chat = await rt.session("a", agent="support")
                with pytest.raises(WiringError, match="two tools called 'plain_echo'"):
                    await chat.turn("go")
            parted = (pool.tools("plain", only=["die"]), pool.tools("other", only=["echo"]))
            clerk = support(ScriptedProvider(text("hi")), *parted)
            assert set(clerk.tools) == {"plain_die", "plain_echo"}

    run(story())


def test_what_a_host_got_wrong_is_said_at_once(book: Book):
    unknown: Any = {"x": "retry"}
    for wrong in (
        lambda: StdioServer(name="a b", command=["x"]),
        lambda: StdioServer(name="a", command="x"),
        lambda: StdioServer(name="a", command=["x"], timeout=0),
        lambda: StdioServer(name="a", command=["x"], in_doubt=unknown),
        lambda: HttpServer(name="a", url="localhost:80"),
        lambda: McpPool([plain(book), plain(book)]),
        lambda: McpPool([plain(book)]).tools("shop"),
        lambda: McpPool([plain(book)]).tools("plain").tools(),
    ):
        with pytest.raises(WiringError):
            wrong()
    assert "secret" not in repr(StdioServer(name="a", command=["x"], env={"TOKEN": "secret"}))

    async def story() -> None:
        pool = McpPool([plain(book, in_doubt={"ehco": "rerun"})], said=Heard())
        try:
            with pytest.raises(WiringError, match="'ehco'"):
                await pool.open()
        finally:
            await pool.release()

    run(story())


# what comes back


def test_what_a_server_returns_is_told_as_text(book: Book):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            picture = await called(pool, "plain_picture")
            assert picture.status == "ok"
            assert picture.content == (
                "[image: image/png, 5 bytes, not shown]\n"
                "[resource: report, file:///r.txt]\n"
                '{"size":5}'
            )
            both = await called(pool, "plain_both")
            assert both.content == '{"size":  5}'  # said twice, told once
            refused = await called(pool, "plain_refuse")
            assert (refused.status, refused.content) == ("error", "no such order")
            odd = await called(pool, "plain_odd_name_of_a_tool_dbd503bc", n=1)
            assert odd.content == "odd"

    run(story())


def test_a_result_is_bounded_and_costs_nobody_else_anything(book: Book):
    async def story() -> None:
        heard = Heard()
        limits = {"output_bytes": 1000, "message_bytes": 100_000}
        async with opened(plain(book, in_doubt="rerun", **limits), said=heard) as pool:
            fits = await called(pool, "plain_big", bytes=1000)
            assert (fits.status, len(fits.content)) == ("ok", 1000)
            over = await called(pool, "plain_big", bytes=1001)
            assert over.status == "error"
            assert "returned 1001 bytes, 1000 are allowed" in over.content
            for backwards in (False, True):
                huge = await called(pool, "plain_big", bytes=1_000_000, backwards=backwards)
                assert huge.status == "error"
                assert "100000 are read at once (its message_bytes)" in huge.content
            assert (await called(pool, "plain_echo", text="still here")).content == "still here"
            assert pool.connections("plain") == 1
        assert book.count("big") == 4  # an answer that is too large is an answer

    run(story())


def test_nothing_a_server_says_beside_the_protocol_is_lost(book: Book):
    async def story() -> None:
        heard = Heard()
        async with opened(plain(book), said=heard) as pool:
            assert (await called(pool, "plain_garbage")).content == "after garbage"
            assert (await called(pool, "plain_speak")).content == "spoken"
        lines = [line for _, line in heard]
        assert any("this is no message" in line for line in lines)
        assert "first line" in lines
        assert "".join(lines).count("y") >= 20_000
        assert lines[-1].endswith("last, without an end")

    run(story())


# tools that change


def test_the_next_turn_has_the_tools_that_there_are_by_then(book: Book, shared: str):
    async def story() -> None:
        async with opened(plain(book)) as pool:
            script = ScriptedProvider(
                calls(("plain_change", {})), calls(("plain_echo", {"text": "x"})), text("done")
            )
            clerk = support(script, pool.tools("plain"))
            async with runtime(shared, clerk) as rt:
                chat = await rt.session("a", agent="support")
                before = set(clerk.tools)

                def changed() -> bool:
                    return "plain_newcomer" in clerk.tools

                script._script = (
                    calls(("plain_change", {})),
                    lambda _: _seen(changed, calls(("plain_echo", {"text": "x"}))),
                    text("done"),
                )
                await chat.turn("go")
                told = [m for m in await chat.messages() if isinstance(m, ToolMessage)]
                assert [m.status for m in told] == ["ok", "unavailable"]
                assert {tool.name for tool in script.requests[1].tools} == before
                await chat.turn("again")
                names = {tool.name for tool in script.requests[-1].tools}
                assert "plain_newcomer" in names
                assert "plain_echo" not in names

    run(story())


def _seen(question: Any, answer: Any) -> Any:
    wait_until(question, "the tools that changed")
    return answer


def test_changes_are_heard_of_in_the_newer_protocol_too(book: Book):
    async def story() -> None:
        async with opened(shop(book)) as pool:
            before = pool.tools("shop").tools()
            assert pool.tools("shop").tools() is before
            await called(pool, "shop_grow", "shop")
            await until(
                lambda: "shop_more" in {tool.name for tool in pool.tools("shop").tools()},
                "one more tool",
            )

    run(story())


# over HTTP


def test_over_http_it_is_the_same(book: Book, shared: str):
    async def story(port: int) -> None:
        async with opened(at(port)) as pool:
            clerk = agent(pool, *calling("shop_look", order=7), server="shop")
            async with runtime(shared, clerk) as rt:
                chats = [await rt.session(f"s{n}", agent="support") for n in range(2)]
                got = await asyncio.gather(*(chat.turn("go") for chat in chats))
                assert ['"items": 3' in turn.text for turn in got] == [True, True]
            assert pool.connections("shop") == 1

    with web(book, "--json") as (port, _):
        run(story(port))
    assert book.count("start") == 1


def test_over_http_a_call_is_lost_or_was_not_made(book: Book):
    async def story() -> None:
        port = free_port()
        async with contextlib.AsyncExitStack() as stack:
            with web(book, port=port):
                pool = await stack.enter_async_context(
                    opened(at(port, restart_first=1e3, restart_longest=1e3))
                )
                book.order("die")
                lost = await called(pool, "shop_refund", "shop", order=7)
                assert lost.status == "unknown"
            away = await called(pool, "shop_refund", "shop", order=8)
            assert (away.status, away.content.partition(":")[0]) == (
                "error",
                "shop_refund was not called",
            )
            with web(book, port=port):
                there = await called(pool, "shop_refund", "shop", order=9)
                assert there.content == "order 9 refunded"

    run(story())
    assert [line.split()[1] for line in book.lines("refund")] == ["7", "9"]
