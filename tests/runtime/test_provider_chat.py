"""The adapter over a real connection: OpenAI's streamed chat completions, on loopback."""

import asyncio
import gc
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tenure.faces.host import Runtime
from tenure.runtime.agent import Agent, Model
from tenure.runtime.errors import ProviderError, StreamCut
from tenure.runtime.model.event import TextDelta, TextRetracted, TurnEvent
from tenure.runtime.model.message import (
    AssistantMessage,
    Attachment,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from tenure.runtime.model.program import ToolSpec
from tenure.runtime.model.usage import Usage
from tenure.runtime.performing import RetryPolicy
from tenure.runtime.ports.provider import ModelRequest
from tenure.runtime.providers.pydantic_ai import PydanticAiProvider
from tests.runtime.chat_server import ChatServer, Reply, refused, tool_calls, words

Play = Callable[[ChatServer, PydanticAiProvider], Awaitable[None]]


def played(play: Play, *replies: Reply) -> None:
    async def run() -> None:
        server = ChatServer(*replies)
        async with server.running():
            provider = PydanticAiProvider({"small": server.model()})
            await play(server, provider)
            await provider.close()

    asyncio.run(run())


def asked(*messages: Message, **more: Any) -> ModelRequest:
    fields: dict[str, Any] = {
        "model": "small",
        "instructions": "Be brief.",
        "messages": messages or (UserMessage(text="hi"),),
        "tools": (),
        "settings": {},
        "session": "s1",
        "turn": "t1",
        "step": 1,
        "effect_key": "k",
    }
    return ModelRequest(**{**fields, **more})


def runtime(provider: PydanticAiProvider, **more: Any) -> Runtime:
    agent = Agent("a", instructions="help", model=Model(provider, "small"), **more)
    return Runtime(store="memory://", agents=[agent], retry=RetryPolicy(first=0.001))


# answers


def test_text_is_said_as_it_arrives_and_usage_is_the_vendors() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        said: list[str] = []
        answer = await provider.answer(asked(), said.append)
        assert said == ["One", " two", " three"]
        assert answer.text == "One two three"
        assert answer.usage == Usage(input_tokens=7, output_tokens=5)
        assert server.requests[0]["stream"] is True

    played(play, words("One", " two", " three"))


def test_an_answer_of_nothing_is_one() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        async with runtime(provider) as host:
            result = await (await host.session("s1", agent="a")).turn("hi")
        assert (result.status, result.text) == ("completed", "")

    played(play, words())


def test_calls_are_put_together_from_their_pieces() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        spec = ToolSpec(name="add", description="Adds.", schema={"type": "object"})
        answer = await provider.answer(asked(tools=(spec,)), lambda _: None)
        assert answer.calls == (
            ToolCall(id="x", name="add", arguments={"a": 1, "b": 2}),
            ToolCall(id="y", name="add", arguments={}),
            ToolCall(id="z", name="add", arguments='{"a": NaN}'),
        )
        assert server.requests[0]["tools"][0]["function"]["name"] == "add"

    played(
        play,
        tool_calls(
            (0, "x", "add", ""),
            (0, "", "", '{"a": 1,'),
            (0, "", "", ' "b": 2}'),
            (1, "y", "add", ""),
            (2, "z", "add", '{"a": NaN}'),
        ),
    )


def test_the_whole_history_is_sent_in_the_vendors_words() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        file = Attachment(digest="sha256:1", media_type="image/png", name="cat.png")
        called = ToolCall(id="x", name="add", arguments={"a": 1})
        broken = ToolCall(id="y", name="add", arguments='{"a"')
        failed = ToolMessage(call="y", name="add", status="error", content="not JSON")
        await provider.answer(
            asked(
                UserMessage(text="look", attachments=(file,)),
                AssistantMessage(text="well", calls=(called, broken)),
                ToolMessage(call="x", name="add", status="ok", content="2"),
                failed,
                AssistantMessage(stopped="cancelled: enough"),
                UserMessage(text="go on"),
                settings={"temperature": 0.5, "max_tokens": 9, "extra_body": {"top_k": 3}},
            ),
            lambda _: None,
        )
        sent = server.requests[0]
        assert (sent["temperature"], sent["top_k"]) == (0.5, 3)
        assert 9 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
        texts = [(m["role"], m.get("content")) for m in sent["messages"]]
        assert texts == [
            ("system", "Be brief."),
            ("user", "look\n[attachment cat.png: image/png]"),
            ("assistant", "well"),
            ("tool", "2"),
            ("tool", "[error] not JSON"),
            ("assistant", "[cancelled: enough]"),
            ("user", "go on"),
        ]
        arguments = [c["function"]["arguments"] for c in sent["messages"][2]["tool_calls"]]
        assert arguments == ['{"a":1}', '{"invalid":"{\\"a\\""}']

    played(play, words("fine"))


def test_tools_are_called_and_their_results_sent_back() -> None:
    async def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        async with runtime(provider, tools=[add]) as host:
            chat = await host.session("s1", agent="a")
            result = await chat.turn("1 + 2, 3 + 4?")
        assert (result.status, result.text) == ("completed", "3 and 7")
        assert result.usage == Usage(requests=2, input_tokens=7, output_tokens=5, tool_calls=2)
        sent = [m.get("content") for m in server.requests[1]["messages"] if m["role"] == "tool"]
        assert sent == ["3", "7"]

    played(
        play,
        tool_calls((0, "x", "add", '{"a":1,"b":2}'), (1, "y", "add", '{"a":3,"b":4}')),
        words("3 and 7"),
    )


# errors


@pytest.mark.parametrize(
    ("reply", "retryable"),
    [
        (refused(500), True),
        (refused(503), True),
        (refused(429), True),
        (refused(429, "insufficient_quota"), False),
        (refused(400), False),
        (refused(401), False),
        (refused(404), False),
    ],
)
def test_only_what_may_pass_is_worth_another_try(reply: Reply, retryable: bool) -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        with pytest.raises(ProviderError) as caught:
            await provider.answer(asked(), lambda _: None)
        assert caught.value.fields["retryable"] is retryable
        assert len(server.requests) == 1, "the vendor's client repeats nothing by itself"

    played(play, reply)


def test_a_vendor_that_does_not_answer_is_worth_another_try() -> None:
    async def run() -> None:
        server = ChatServer()
        async with server.running():
            pass
        provider = PydanticAiProvider({"small": server.model()})
        with pytest.raises(ProviderError) as caught:
            await provider.answer(asked(), lambda _: None)
        assert not isinstance(caught.value, StreamCut)
        assert caught.value.fields["retryable"] is True
        await provider.close()

    asyncio.run(run())


def test_retry_after_is_waited_for_as_the_vendor_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        await real(0)

    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        async with runtime(provider) as host:
            monkeypatch.setattr(asyncio, "sleep", sleep)
            result = await (await host.session("s1", agent="a")).turn("hi")
            monkeypatch.undo()
        assert result.text == "fine"
        assert {7.0, 0.25} <= set(waited)
        assert len(server.requests) == 3

    played(play, refused(429, Retry_After="7"), refused(503, retry_after_ms="250"), words("fine"))


def test_a_bad_request_ends_the_turn_at_once_and_says_why() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        async with runtime(provider) as host:
            result = await (await host.session("s1", agent="a")).turn("hi")
        assert result.status == "stopped"
        assert "400" in result.reason
        assert len(server.requests) == 1

    played(play, refused(400))


@pytest.mark.parametrize("end", ["unfinished", "reset"])
def test_a_stream_that_is_cut_is_no_answer(end: Any) -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        with pytest.raises(StreamCut) as caught:
            await provider.answer(asked(), lambda _: None)
        assert caught.value.fields["retryable"] is True

    played(play, words("half an", reason=None, end=end))


@pytest.mark.parametrize("reason", ["length", "content_filter", "a_reason_of_their_own"])
def test_any_reason_that_the_vendor_gives_is_its_own_end(reason: str) -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        answer = await provider.answer(asked(), lambda _: None)
        assert answer.text == "all"

    played(play, words("all", reason=reason))


def test_the_text_of_a_cut_stream_is_retracted_before_it_is_asked_again() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        events: list[TurnEvent] = []
        async with runtime(provider) as host:
            chat = await host.session("s1", agent="a")
            events += [event async for event in chat.stream("hi")]
            messages = await chat.messages()
        told = [e for e in events if isinstance(e, TextDelta | TextRetracted)]
        assert [e.text if isinstance(e, TextDelta) else None for e in told] == [
            "half",
            None,
            "quarter",
            None,
            "whole",
        ]
        assert messages[-1] == AssistantMessage(text="whole")

    played(
        play,
        words("half", reason=None, end="reset"),
        words("quarter", reason=None, end="unfinished"),
        words("whole"),
    )


# connections


def test_a_turn_cancelled_in_the_middle_of_a_stream_closes_its_connection() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        async with runtime(provider) as host:
            chat = await host.session("s1", agent="a")
            seen: list[TurnEvent] = []
            async for event in chat.stream("hi", key="k"):
                seen.append(event)
                if isinstance(event, TextDelta):
                    await host.cancel_turn(event.turn, reason="enough")
            await server.all_closed()
            assert server.opened == 1
            last = (await chat.messages())[-1]
            assert isinstance(last, AssistantMessage)
            assert (last.text, last.stopped) == ("", "cancelled: enough")
            assert (await chat.turn("again")).text == "whole"

    played(play, words("half", reason=None, end="open"), words("whole"))


def test_close_closes_pooled_connections_and_may_be_repeated() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        for _ in range(2):
            await provider.answer(asked(), lambda _: None)
        assert (server.opened, server.closed) == (1, 0), "one connection, used again"
        await provider.close()
        await server.all_closed()
        await provider.close()
        await provider.answer(asked(), lambda _: None)
        assert server.opened == 2, "it can be used after that"

    played(play, words("a"), words("b"), words("c"))


def test_many_first_requests_at_once_leave_nothing_open() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        answers = [provider.answer(asked(), lambda _: None) for _ in range(8)]
        assert [a.text for a in await asyncio.gather(*answers)] == ["a"] * 8
        await provider.close()
        await server.all_closed()

    played(play, *[words("a")] * 8)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_provider_outlives_the_event_loop_it_was_used_on() -> None:
    server, ready, over = ChatServer(words("a"), words("b")), threading.Event(), threading.Event()

    async def serve() -> None:
        async with server.running():
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(60)
        provider = PydanticAiProvider({"small": server.model()})
        assert asyncio.run(provider.answer(asked(), lambda _: None)).text == "a"
        assert asyncio.run(provider.answer(asked(), lambda _: None)).text == "b"
        asyncio.run(provider.close())
    finally:
        over.set()
        thread.join()
        gc.collect()  # nobody can close the connection of a loop that was closed first


def test_close_reaches_the_event_loop_of_another_thread() -> None:
    async def play(server: ChatServer, provider: PydanticAiProvider) -> None:
        asyncio.get_running_loop().set_debug(True)  # it minds being called from another thread
        await provider.answer(asked(), lambda _: None)
        await asyncio.to_thread(asyncio.run, provider.close())
        await server.all_closed()

    played(play, words("a"))


def test_a_client_that_the_host_made_stays_open() -> None:
    import httpx2

    async def run() -> None:
        server = ChatServer(words("a"))
        async with server.running(), httpx2.AsyncClient() as client:
            theirs = OpenAIProvider(base_url=server.url, api_key="none", http_client=client)
            provider = PydanticAiProvider({"small": OpenAIChatModel("m", provider=theirs)})
            await provider.answer(asked(), lambda _: None)
            await provider.close()
            assert not client.is_closed

    asyncio.run(run())
