"""Tools do everything wrong that tools can do, and the turn goes on or ends in good order."""

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import Any, TypedDict

import pytest

from tenure import Tool, ToolContext, tool
from tenure.kernel.errors import StoreBusy
from tenure.kernel.lease import LeaseTimings
from tenure.runtime.errors import WiringError
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.message import ToolCall, ToolMessage, dangling
from tenure.runtime.tools.context import ToolContext as Context
from tenure.testing.faults import Faults
from tenure.testing.provider import ScriptedProvider, calls, results, text
from tests.runtime.scene import Door, line, run, runtime, support, until


def told(store: str, *tools: Any, ask: tuple[str, Any], **more: Any) -> str:
    """What the model is told that one call returned."""

    async def story() -> str:
        provider = ScriptedProvider(calls(ask), lambda r: text(results(r)[0]))
        async with runtime(store, support(provider, *tools), **more) as rt:
            chat = await rt.session("chat", agent="support")
            answer = await chat.turn("Go.")
            assert answer.completed
            assert dangling(await chat.messages()) == []
            return answer.text

    return run(story())


async def refund(order: int) -> str:
    return f"refunded {order}"


def test_a_tool_that_raises_is_told_to_the_model(store: str) -> None:
    async def broken() -> str:
        raise LookupError("no such order")

    assert told(store, broken, ask=("broken", {})) == "error: LookupError: no such order"


def test_a_plain_function_runs_beside_the_loop_and_may_raise_too(store: str) -> None:
    def where() -> str:
        return threading.current_thread().name

    def broken() -> str:
        raise StopIteration("odd")

    assert told(store, where, ask=("where", {})) == "ok: tenure-tool"
    assert told(store, broken, ask=("broken", {})) == "error: RuntimeError: StopIteration: odd"


def test_arguments_that_do_not_fit_never_reach_the_tool(store: str) -> None:
    came = []

    async def refund(order: int, note: str = "") -> str:
        came.append(order)
        return "done"

    for arguments in ({"order": "seven"}, {}, {"order": 7, "more": 1}, "{broken", None, [7]):
        assert told(store, refund, ask=("refund", arguments)).startswith(
            "error: the arguments do not fit"
        )
    assert came == []
    assert told(store, refund, ask=("refund", {"order": 7})) == "ok: done"


def test_no_arguments_at_all_are_none(store: str) -> None:
    async def look() -> str:
        return "seen"

    assert told(store, look, ask=("look", None)) == "ok: seen"


def test_a_tool_nobody_has_is_told_as_unknown(store: str) -> None:
    assert told(store, refund, ask=("refnd", {})) == "error: no tool is called 'refnd'"


def test_five_megabytes_are_refused_by_name_and_lever(store: str) -> None:
    async def dump() -> str:
        return "x" * 5_000_000

    assert told(store, dump, ask=("dump", {})) == (
        "error: dump returned 5000000 bytes, 262144 are allowed (its output_bytes)"
    )


def test_a_tool_that_may_return_more_does(store: str) -> None:
    @tool(output_bytes=400_000)
    async def dump() -> str:
        return "x" * 400_000

    assert told(store, dump, ask=("dump", {})) == "ok: " + "x" * 400_000


def test_what_is_larger_than_the_host_keeps_is_an_error_that_says_so(store: str) -> None:
    async def dump() -> str:
        return "x" * 9_000_000

    wide = tool(output_bytes=10_000_000)(dump)
    assert "this host keeps 8388608 at most" in told(store, wide, ask=("dump", {}))


def test_what_is_no_json_is_an_error(store: str) -> None:
    async def odd() -> object:
        return object()

    assert told(store, odd, ask=("odd", {})).startswith("error: it returned what is no JSON")


def test_text_that_no_json_can_carry_is_mended(store: str) -> None:
    async def odd() -> str:
        return "half \udc80 of a pair"

    async def broken() -> str:
        raise ValueError("half \udc80")

    assert told(store, odd, ask=("odd", {})) == "ok: half ? of a pair"
    assert told(store, broken, ask=("broken", {})) == "error: ValueError: half ?"


@dataclass
class Order:
    number: int
    lines: list[str]


class Place(TypedDict):
    city: str


def test_arguments_and_results_have_types(store: str) -> None:
    async def ship(order: Order, to: Place, fast: bool = False) -> Order:
        return Order(order.number + 1, [*order.lines, to["city"], str(fast)])

    ask = ("ship", {"order": {"number": 1, "lines": ["a"]}, "to": {"city": "Rome"}})
    assert told(store, ship, ask=ask) == 'ok: {"number":2,"lines":["a","Rome","False"]}'


def test_a_tool_may_know_what_call_it_serves(store: str) -> None:
    seen: list[Context[str]] = []

    async def look(ctx: ToolContext[str], at: int) -> str:
        seen.append(ctx)
        return ctx.deps

    made = told(store, look, ask=("look", {"at": 1}), deps=lambda: "a connection")
    assert made == "ok: a connection"
    (ctx,) = seen
    assert (ctx.session, ctx.call, len(ctx.effect_key)) == ("chat", "c0", 32)
    assert "ctx" not in str(Tool(look).spec.schema)


def test_deps_that_cannot_be_made_fail_the_call_and_not_the_turn(store: str) -> None:
    def deps() -> str:
        raise OSError("no database")

    assert told(store, refund, ask=("refund", {"order": 1}), deps=deps) == (
        "error: OSError: no database"
    )


def test_a_tool_that_takes_too_long_is_told_and_left_behind(store: str) -> None:
    ended = threading.Event()

    @tool(timeout=0.01)
    async def slow() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    @tool(timeout=0.01)
    def stuck() -> str:
        ended.wait(60)
        return ""

    assert told(store, slow, ask=("slow", {})) == (
        "error: it did not return within 0.01 s (its timeout)"
    )
    assert ended.is_set()
    ended.clear()
    assert "did not return within" in told(store, stuck, ask=("stuck", {}))
    ended.set()


def test_a_tool_that_cancels_itself_ends_its_call_alone(store: str) -> None:
    async def odd() -> str:
        raise asyncio.CancelledError

    assert told(store, odd, ask=("odd", {})) == "error: it was cancelled by itself"


def test_a_loop_that_is_blocked_past_the_lease_loses_nothing_without_a_thief(store: str) -> None:
    timings = LeaseTimings(ttl=0.03, renew_interval=0.01)

    async def block() -> str:
        blocked = time.monotonic() + 0.1
        while time.monotonic() < blocked:
            pass
        return "woke"

    assert told(store, block, ask=("block", {}), lease_timings=timings) == "ok: woke"


def test_a_blocked_loop_that_was_robbed_commits_nothing_and_gets_the_thiefs_result(
    shared: str,
) -> None:
    timings = LeaseTimings(ttl=0.03, renew_interval=0.01)
    thief_is_done = threading.Event()
    started = threading.Event()
    runs: list[str] = []

    async def owner() -> None:
        async def block(who: str = "owner") -> str:
            runs.append(who)
            started.set()
            thief_is_done.wait(60)  # blocks the whole loop
            return "from the owner"

        provider = ScriptedProvider(calls(("block", {})), lambda r: text(results(r)[0]))
        async with runtime(shared, support(provider, block), lease_timings=timings) as rt:
            chat = await rt.session("chat", agent="support")
            answer = await chat.turn("Go.", key="k")
            assert answer.text.startswith("unknown: This call was started")
            assert len(await chat.messages()) == 4

    async def thief() -> None:
        async def block(who: str = "thief") -> str:
            runs.append(who)
            return "from the thief"

        provider = ScriptedProvider(calls(("block", {})), lambda r: text(results(r)[0]))
        async with runtime(shared, support(provider, block), lease_timings=timings) as rt:
            chat = await rt.session("chat", agent="support")
            answer = await chat.turn("Go.", key="k")
            assert answer.text.startswith("unknown: This call was started")

    async def rob() -> None:
        await asyncio.to_thread(started.wait, 60)
        await thief()

    def robbing() -> None:
        try:
            run(rob())
        finally:
            thief_is_done.set()

    thread = threading.Thread(target=robbing)
    thread.start()
    run(owner())
    thread.join()
    assert runs == ["owner"], "what was started and not recorded is not run again by itself"


def test_a_cancelled_turn_does_not_wait_for_a_tool_that_ignores_it(store: str) -> None:
    async def story() -> None:
        door = Door()
        refused = 0

        async def deaf() -> str:
            nonlocal refused
            while True:
                try:
                    await door.wait()
                    return "late"
                except asyncio.CancelledError:
                    refused += 1

        provider = ScriptedProvider(calls(("deaf", {})), text("Done."))
        async with runtime(store, support(provider, deaf), cancel_grace=0.01) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("Go.")
            waiting = asyncio.ensure_future(chat.wait(turn))
            await door.somebody()
            assert await rt.cancel_turn(turn, "enough")
            assert (await waiting).status == "cancelled"
            assert refused >= 1
            before = await chat.messages()
            door.open()
            await until(lambda: len(asyncio.all_tasks()) < 3, "the deaf tool's end")
            assert await chat.messages() == before, "what it returns too late is dropped"
            assert dangling(before) == []

    run(story())


def test_a_tool_that_finishes_although_it_was_asked_to_end_is_told_truly(store: str) -> None:
    async def story() -> None:
        door = Door()

        async def careful() -> str:
            try:
                await door.wait()
            except asyncio.CancelledError:
                return "cleaned up"
            return "never"

        provider = ScriptedProvider(calls(("careful", {})), text("Done."))
        async with runtime(store, support(provider, careful)) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("Go.")
            waiting = asyncio.ensure_future(chat.wait(turn))
            await door.somebody()
            await rt.cancel_turn(turn, "enough")
            await waiting
            assert line(await chat.messages())[2:] == [
                "careful: ok: cleaned up",
                "cancelled: enough",
            ]

    run(story())


def test_a_pinned_tool_that_this_process_lacks_is_told_as_unavailable(shared: str) -> None:
    async def story() -> None:
        provider = ScriptedProvider(calls(("refund", {"order": 7})), lambda r: text(results(r)[0]))
        async with runtime(shared, support(provider, refund)) as old:
            chat = await old.session("chat", agent="support")
            await chat.submit("Refund.", key="k")
        async with runtime(shared, support(provider)) as new:
            chat = await new.session("chat", agent="support")
            answer = await chat.turn("Refund.", key="k")
            assert answer.text == "unavailable: the tool 'refund' is not available any more"
            (told,) = [m for m in await chat.messages() if isinstance(m, ToolMessage)]
            assert told.status == "unavailable"

    run(story())


def test_a_tool_that_was_added_later_is_not_of_an_older_turn(shared: str) -> None:
    async def story() -> None:
        provider = ScriptedProvider(calls(("refund", {"order": 7})), lambda r: text(results(r)[0]))
        async with runtime(shared, support(provider)) as old:
            await (await old.session("chat", agent="support")).submit("Refund.", key="k")
        async with runtime(shared, support(provider, refund)) as new:
            chat = await new.session("chat", agent="support")
            assert (await chat.turn("Refund.", key="k")).text == (
                "error: no tool is called 'refund'"
            )
            assert (await chat.turn("Refund.", key="k2")).text == "ok: refunded 7"

    run(story())


def test_ids_that_a_model_repeats_are_told_apart(store: str) -> None:
    async def story() -> None:
        asked = calls(("refund", {"order": 1}), ("refund", {"order": 2}))
        same = tuple(ToolCall(id="x", name=c.name, arguments=c.arguments) for c in asked.calls)
        provider = ScriptedProvider(Answer(calls=same), lambda r: text(" ".join(results(r))))
        async with runtime(store, support(provider, refund)) as rt:
            chat = await rt.session("chat", agent="support")
            assert (await chat.turn("Go.")).text == "ok: refunded 1 ok: refunded 2"
            assert dangling(await chat.messages()) == []

    run(story())


def test_outcomes_are_recorded_one_by_one(shared: str) -> None:
    """The first of two tools is in the journal before the second returns."""

    async def story() -> None:
        door = Door()

        async def quick() -> str:
            return "quick"

        async def slow() -> str:
            await door.wait()
            return "slow"

        provider = ScriptedProvider(calls(("quick", {}), ("slow", {})), text("Done."))
        async with runtime(shared, support(provider, quick, slow)) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("Go.")
            waiting = asyncio.ensure_future(chat.wait(turn))
            recorded: dict[str, bool] = {}

            async def first_is_recorded() -> bool:
                _, journal = await rt.wiring.asking.call(lambda: rt.wiring.store.turn(turn))
                recorded.update({entry.key: entry.outcome is not None for entry in journal})
                return recorded.get("tool:1.0", False)

            await until(first_is_recorded, "the first tool is recorded")
            assert recorded["tool:1.1"] is False
            door.open()
            assert (await waiting).completed

    run(story())


def nothing() -> None: ...


def star(*orders: int) -> None: ...


def positional(order: int, /) -> None: ...


def untyped(order) -> None: ...  # the point


def foreign(order: threading.Thread) -> None: ...


@pytest.mark.parametrize(
    ("function", "options", "said"),
    [
        (star, {}, "cannot be given by its name"),
        (positional, {}, "cannot be given by its name"),
        (untyped, {}, "has no type"),
        (foreign, {}, "has no JSON Schema"),
        (lambda: None, {}, "is no name for a tool"),
        (nothing, {"name": "no such name"}, "is no name for a tool"),
        (nothing, {"timeout": 0}, "leave a tool nothing"),
        (nothing, {"output_bytes": 0}, "leave a tool nothing"),
        (nothing, {"in_doubt": "hope"}, "is not supported by this version"),
        (7, {"name": "seven"}, "cannot be read"),
    ],
)
def test_what_can_be_no_tool_is_refused_when_it_is_made(
    function: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(WiringError, match=said):
        Tool(function, **options)


def test_a_turn_goes_on_when_its_store_is_busy_for_a_while(shared: str) -> None:
    def busy() -> None:
        raise StoreBusy(store="the store")

    timings = LeaseTimings(ttl=3, renew_interval=0.05)
    with Faults() as faults:
        for name in ("journal:begin", "accept:begin", "commit:begin", "assign:begin"):
            for _ in range(3):
                faults.at(name, busy)
        made = told(shared, refund, ask=("refund", {"order": 7}), lease_timings=timings)
    assert made == "ok: refunded 7"
    assert faults.passed["commit:begin"] == 4
