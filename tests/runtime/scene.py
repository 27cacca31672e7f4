"""The people of the runtime's tests: a support agent, its tools, and doors they wait at."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from tenure import Agent, Model, Runtime
from tenure.kernel.lease import LeaseTimings
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.message import AssistantMessage, Message, ToolMessage, UserMessage
from tenure.runtime.ports.provider import ModelRequest, Provider, Say
from tenure.testing.provider import ScriptedProvider, text

T = TypeVar("T")

#: Longest wait for another party, in seconds. Only a test that is failing waits this long.
PATIENCE = 60.0

#: So short that nobody waits for a look, so long that a machine at work keeps up.
POLL = 0.02
LEASE = LeaseTimings(ttl=60, renew_interval=20)


def run(main: Coroutine[Any, Any, T], mishaps: list[str] | None = None) -> T:
    """Run one test's story. What the loop's exception handler is told fails it, unless asked for."""
    told: list[str] = []

    async def watched() -> T:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: told.append(_sentence(context)))
        async with asyncio.timeout(PATIENCE):
            return await main

    result = asyncio.run(watched())
    if mishaps is None:
        assert told == []
    else:
        mishaps += told
    return result


def _sentence(context: dict[str, Any]) -> str:
    return f"{context['message']}: {context.get('exception')!r}"


async def until(question: Callable[[], Any], what: str) -> Any:
    """Ask until the answer is true, or the one awaited is, letting the loop go on meanwhile."""
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while not (answer := await _answer(question())):
        assert asyncio.get_running_loop().time() < deadline, f"{what}: last answer {answer!r}"
        await asyncio.sleep(0.002)
    return answer


async def _answer(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given


class Door:
    """Something waits here until it is opened; who came is counted."""

    def __init__(self) -> None:
        self.came = 0
        self._open = asyncio.Event()

    async def wait(self) -> None:
        """Wait until it is open."""
        self.came += 1
        await self._open.wait()

    async def somebody(self, number: int = 1) -> None:
        """Wait until so many have come."""
        await until(lambda: self.came >= number, f"{number} at the door")

    def open(self) -> None:
        """Open it for good."""
        self._open.set()


class DoorProvider(Provider):
    """Answers behind a door, and counts what it was asked."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.door = Door()
        self.requests: list[ModelRequest] = []
        self._answer = answer or text("Done.")

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """The answer, once the door is open."""
        self.requests.append(request)
        await self.door.wait()
        return self._answer


def support(provider: Provider, *tools: Any, **more: Any) -> Agent:
    """The agent `support`."""
    more.setdefault("instructions", "Help.")
    return Agent("support", model=Model(provider, "m1"), tools=tools, **more)


def runtime(store: str, *agents: Agent, **more: Any) -> Runtime:
    """A runtime that looks often."""
    more = {"lease_timings": LEASE, "poll": POLL, "cancel_poll": POLL, **more}
    return Runtime(store=store, agents=agents, **more)


def echo() -> ScriptedProvider:
    """Answers with what was said last."""
    return ScriptedProvider(lambda request: text(f"re: {_last(request).text}"))


def _last(request: ModelRequest) -> UserMessage:
    last = request.messages[-1]
    assert isinstance(last, UserMessage)
    return last


def line(messages: Sequence[Message]) -> list[str]:
    """A history in short: who said what."""
    return [_told(message) for message in messages]


def _told(message: Message) -> str:
    if isinstance(message, UserMessage):
        return f"user: {message.text}"
    if isinstance(message, ToolMessage):
        return f"{message.name}: {message.status}: {message.content}"
    called = ", ".join(call.name for call in message.calls)
    if message.stopped:
        return message.stopped
    return f"assistant: {message.text}" + (f" [{called}]" if called else "")


def last_answer(messages: Sequence[Message]) -> AssistantMessage:
    """The last thing that the agent said."""
    return next(m for m in reversed(messages) if isinstance(m, AssistantMessage))
