"""Pooled transports end properly: a real server on loopback sees real close frames."""

import asyncio
from collections.abc import Awaitable, Callable

from tenure.faces.host import Runtime
from tenure.runtime.agent import Agent, Model
from tenure.runtime.model.event import TextDelta, TextRetracted
from tenure.runtime.model.message import AssistantMessage
from tenure.runtime.performing import RetryPolicy
from tenure.testing.provider import text
from tenure.testing.sockets import SocketProvider, SocketServer

NORMAL = 1000  #: RFC 6455, section 7.4.1


def played(server: SocketServer, play: Callable[[SocketProvider], Awaitable[None]]) -> None:
    async def run() -> None:
        async with server.running():
            await play(SocketProvider(server.address))

    asyncio.run(run())


def runtime(provider: SocketProvider) -> Runtime:
    agents = [Agent(name, instructions="help", model=Model(provider, name)) for name in ("a", "b")]
    return Runtime(store="memory://", agents=agents, retry=RetryPolicy(first=0.001))


def test_close_sends_a_close_frame_on_every_pooled_connection() -> None:
    server = SocketServer(text("one"), text("two"), text("three"))

    async def play(provider: SocketProvider) -> None:
        async with runtime(provider) as host:
            for session, agent in (("s1", "a"), ("s2", "b"), ("s1", "a")):
                chat = await host.session(session, agent=agent)
                assert (await chat.turn("?")).completed
                await chat.close()
        assert server.opened == 2, "one connection for each model, used again"
        assert server.ended == [], "closing the runtime closes no provider"
        await provider.close()
        assert await server.all_ended() == [NORMAL, NORMAL]
        await provider.close()

    played(server, play)


def test_a_stream_without_its_terminator_is_no_answer_and_its_text_is_retracted() -> None:
    server = SocketServer(None, text("whole"))

    async def play(provider: SocketProvider) -> None:
        async with runtime(provider) as host:
            chat = await host.session("s1", agent="a")
            events = [event async for event in chat.stream("?")]
            said = [e for e in events if isinstance(e, TextDelta | TextRetracted)]
            assert [type(e) for e in said] == [TextDelta, TextRetracted, TextDelta]
            assert (await chat.messages())[-1] == AssistantMessage(text="whole")
            assert len(await chat.messages()) == 2
        await provider.close()
        assert await server.all_ended() == [None, NORMAL]

    played(server, play)
