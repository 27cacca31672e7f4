"""Traces: what a turn did, the same whoever did it and however often it was interrupted."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tenure import Agent, Runtime
from tenure.runtime.errors import WiringError
from tenure.runtime.ports.tracing import Span, TraceSink
from tenure.runtime.tools.tool import tool
from tenure.runtime.tracing.jsonl import JsonlTraceSink
from tenure.runtime.tracing.opentelemetry import DerivedIds, OpenTelemetryTraceSink
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import Door, run, runtime, support


class Collected:
    """Spans of one process, exported through OpenTelemetry."""

    def __init__(self) -> None:
        self.exporter, ids = InMemorySpanExporter(), DerivedIds()
        self.provider = TracerProvider(id_generator=ids)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.sink = OpenTelemetryTraceSink(self.provider, ids)

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())


#: A span by what it is: its name, its trace, its id and its parent's.
Identity = tuple[str, int, int, int | None]


def identity(span: ReadableSpan) -> Identity:
    assert span.context is not None
    parent = None if span.parent is None else span.parent.span_id
    return span.name, span.context.trace_id, span.context.span_id, parent


def replayed(span: ReadableSpan) -> bool:
    assert span.attributes is not None
    return bool(span.attributes["tenure.replayed"])


def two_tools(slow: Door, in_doubt: Any) -> Agent:
    """Calls a tool that returns at once and one behind a door, then says so."""

    async def fast() -> str:
        """Returns."""
        return "fast"

    @tool(in_doubt=in_doubt)
    async def behind() -> str:
        """Waits."""
        await slow.wait()
        return "slow"

    script = ScriptedProvider(calls(("fast", {}), ("behind", {})), text("both"))
    return support(script, fast, behind)


async def one_turn(rt: Runtime) -> str:
    chat = await rt.session("s1", agent="support")
    return (await chat.turn("go", key="k")).status


def clean() -> list[ReadableSpan]:
    """What an uninterrupted turn exports."""

    async def story() -> list[ReadableSpan]:
        door, got = Door(), Collected()
        door.open()
        async with runtime("memory://", two_tools(door, "rerun"), trace_sink=got.sink) as rt:
            assert await one_turn(rt) == "completed"
        return got.spans

    return run(story())


def test_a_turn_is_one_trace_of_what_it_did() -> None:
    spans = clean()
    assert sorted(span.name for span in spans) == [
        "chat m1",
        "chat m1",
        "execute_tool behind",
        "execute_tool fast",
        "invoke_agent support",
    ]
    (root,) = [span for span in spans if span.parent is None]
    assert root.name == "invoke_agent support"
    assert root.attributes is not None
    assert root.attributes["gen_ai.conversation.id"] == "s1"
    assert {identity(span)[1] for span in spans} == {identity(root)[1]}
    assert {identity(s)[3] for s in spans if s is not root} == {identity(root)[2]}
    assert len({identity(span)[2] for span in spans}) == 5
    assert not any(replayed(span) for span in spans)
    chats = [span.attributes for span in spans if span.name == "chat m1"]
    assert [a["gen_ai.usage.output_tokens"] for a in chats if a is not None] == [5, 1]


@pytest.mark.parametrize("in_doubt", ["rerun", "report"])
def test_an_interrupted_turn_exports_what_a_clean_one_does(shared: str, in_doubt: str) -> None:
    async def story() -> tuple[list[ReadableSpan], list[ReadableSpan]]:
        first, second, door = Collected(), Collected(), Door()
        async with runtime(shared, two_tools(door, in_doubt), trace_sink=first.sink) as rt:
            rt.submit("s1", "go", agent="support", key="k")
            driving = asyncio.create_task(rt.drive())
            await door.somebody()
            driving.cancel()
            await asyncio.wait([driving])
        door.open()
        async with runtime(shared, two_tools(door, in_doubt), trace_sink=second.sink) as rt:
            assert await one_turn(rt) == "completed"
        assert door.came == (2 if in_doubt == "rerun" else 1)
        return first.spans, second.spans

    before, after = run(story())
    whole = {identity(span) for span in clean()}
    assert {identity(span) for span in before} < whole
    assert {identity(span) for span in after} == whole, "who resumes tells all of it"
    again = {span.name for span in after if replayed(span)}
    assert {"chat m1", "execute_tool fast"} <= again
    assert "invoke_agent support" not in again
    assert ("execute_tool behind" in again) is (in_doubt == "report")
    assert len([span for span in after if span.name == "chat m1" and not replayed(span)]) == 1


def test_what_failed_is_marked_as_failed() -> None:
    async def story() -> list[ReadableSpan]:
        async def broken() -> str:
            """Fails."""
            raise RuntimeError("no")

        got = Collected()
        agent = support(ScriptedProvider(calls(("broken", {})), text("so what")), broken)
        async with runtime("memory://", agent, trace_sink=got.sink) as rt:
            assert await one_turn(rt) == "completed"
        return got.spans

    failed = [span for span in run(story()) if span.status.status_code is StatusCode.ERROR]
    assert [(span.name, span.status.description) for span in failed] == [
        ("execute_tool broken", "error")
    ]


def test_the_hosts_own_spans_are_not_mixed_up_with_a_turns() -> None:
    async def story() -> list[ReadableSpan]:
        got, door = Collected(), Door()
        door.open()
        tracer = got.provider.get_tracer("host")
        async with runtime("memory://", two_tools(door, "rerun"), trace_sink=got.sink) as rt:
            with tracer.start_as_current_span("request"):
                await one_turn(rt)
            with tracer.start_as_current_span("request"):
                pass
        return got.spans

    spans = run(story())
    turn = {identity(s) for s in spans if s.name != "request"}
    assert turn == {identity(span) for span in clean()}
    requests = [identity(s) for s in spans if s.name == "request"]
    assert len({number for _, number, _, _ in requests} | {turn.pop()[1]}) == 3
    assert len({identity(span)[2] for span in spans}) == len(spans)


def test_a_provider_with_ids_of_its_own_is_refused() -> None:
    with pytest.raises(WiringError, match="id_generator"):
        OpenTelemetryTraceSink(TracerProvider(), DerivedIds())


def test_flushing_asks_the_hosts_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    got, asked = Collected(), []
    monkeypatch.setattr(got.provider, "force_flush", lambda: asked.append(1))
    got.sink.flush()
    assert asked == [1]
    assert trace.get_tracer_provider() is not got.provider, "nothing global is touched"


# a sink that fails


class Broken(TraceSink):
    """Fails whenever it is told to."""

    def __init__(self) -> None:
        self.broken = True
        self.took: list[str] = []

    def span(self, span: Span) -> None:
        if self.broken:
            raise OSError("the disk is gone")
        self.took.append(span.name)


def test_a_sink_that_fails_fails_no_turn_and_is_told_once_until_it_works_again(store: str) -> None:
    sink = Broken()
    told: list[BaseException] = []

    async def story() -> None:
        agent = support(ScriptedProvider(text("fine")))
        async with runtime(store, agent, trace_sink=sink) as rt:
            chat = await rt.session("s1", agent="support")
            assert (await chat.turn("one")).completed
            assert (await chat.turn("two")).completed
            assert len(told) == 1
            sink.broken = False
            assert (await chat.turn("three")).completed
            assert sink.took == ["chat m1", "invoke_agent support"]
            sink.broken = True
            assert (await chat.turn("four")).completed

    async def watched() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(context["exception"]))
        await story()

    asyncio.run(watched())
    assert [str(error) for error in told] == ["the disk is gone"] * 2


# lines of JSON


def a_span(number: int = 1) -> Span:
    return Span(
        id=f"{number:016x}",
        trace="0" * 31 + "1",
        parent=None,
        kind="turn",
        name="n",
        started_wall_ns=1,
        ended_wall_ns=2,
    )


def test_a_trace_in_a_file_has_a_line_for_each_span(tmp_path: Path) -> None:
    async def story() -> None:
        door, sink = Door(), JsonlTraceSink(tmp_path / "trace.jsonl")
        door.open()
        async with runtime("memory://", two_tools(door, "rerun"), trace_sink=sink) as rt:
            await one_turn(rt)
        # nothing is kept back: whoever is killed now has written all of it
        lines = (tmp_path / "trace.jsonl").read_text().splitlines()
        spans = [json.loads(line) for line in lines]
        assert {(s["name"], int(s["id"], 16)) for s in spans} == {
            (name, span) for name, _, span, _ in map(identity, clean_spans)
        }
        sink.close()

    clean_spans = clean()
    run(story())


def test_flush_waits_for_the_disk_and_for_the_files_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "trace.jsonl", []
    sink = JsonlTraceSink(path)

    def fsync(descriptor: int) -> None:
        synced.append((os.readlink(f"/proc/self/fd/{descriptor}"), path.stat().st_size))

    monkeypatch.setattr(os, "fsync", fsync)
    sink.span(a_span())
    assert synced == []
    sink.flush()
    size = path.stat().st_size
    assert synced == [(str(path), size), (str(tmp_path), size)]
    sink.span(a_span(2))
    sink.close()
    assert synced[2:] == [(str(path), 2 * size)], "closing flushes; the name is there already"
    sink.close()
    sink.flush()
    assert len(synced) == 3
    with pytest.raises(ValueError, match="closed"):
        sink.span(a_span())


def test_a_line_cut_off_for_want_of_room_spoils_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, room = tmp_path / "trace.jsonl", [1000]
    sink, real = JsonlTraceSink(path), os.write

    def write(descriptor: int, data: bytes) -> int:
        if os.readlink(f"/proc/self/fd/{descriptor}") != str(path):
            return real(descriptor, data)
        if not room[0]:
            raise OSError(28, "No space left on device")
        wrote = real(descriptor, bytes(data)[: min(len(data), room[0], 50)])
        room[0] -= wrote
        return wrote

    monkeypatch.setattr(os, "write", write)
    sink.span(a_span(1))
    room[0] = 60
    with pytest.raises(OSError, match="No space"):
        sink.span(a_span(2))
    room[0] = 1000
    sink.span(a_span(3))
    sink.close()
    found = []
    for line in path.read_bytes().splitlines():
        try:
            found.append(json.loads(line)["id"])
        except ValueError:
            found.append("torn")
    assert found == [f"{1:016x}", "torn", f"{3:016x}"]
