"""Who observes turns in the tests: they note what they are shown, and leave and come back."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

import msgspec

from tenure import Agent, Runtime, StepFinished, TextDelta, TurnFinished
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.event import (
    InputAccepted,
    ModelRetried,
    Observed,
    Resync,
    TextRetracted,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnWaiting,
    WaitEnded,
)
from tenure.runtime.ports.provider import ModelRequest, Provider, Say
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import Door, support


async def watched(
    rt: Runtime, turn: str, after: str | None = None, *, most: int | None = None, buffer: int = 1024
) -> list[Observed]:
    """What an observer is shown until the turn is over, or of that the first few."""
    shown: list[Observed] = []
    async with contextlib.aclosing(rt.observe(turn, after, buffer=buffer)) as events:
        async for observed in events:
            shown.append(observed)
            if most is not None and len(shown) >= most:
                break
    return shown


def happenings(shown: Sequence[Observed]) -> list[str]:
    """Those that anybody is shown at any time, in short."""
    return [told(o.event) for o in shown if not isinstance(o.event, PIECES)]


PIECES = (TextDelta, TextRetracted, ModelRetried, Resync)


def story(shown: Sequence[Observed]) -> list[str]:
    """Everything, in short."""
    return [told(observed.event) for observed in shown]


def told(event: TurnEvent) -> str:
    """One event in short."""
    match event:
        case TextDelta():
            return f"{event.step}: {event.text}"
        case TextRetracted():
            return f"{event.step} retracted"
        case ModelRetried():
            return f"{event.step} tried {event.tries}"
        case StepFinished():
            return f"step {event.step}: {event.text}"
        case ToolStarted():
            return f"{event.name} {event.call} begins"
        case ToolFinished():
            return f"{event.name} {event.call}: {event.status}"
        case InputAccepted():
            return "input"
        case TurnWaiting():
            return f"waits: {', '.join(wait.name for wait in event.waits)}"
        case WaitEnded():
            return f"answer: {event.resolution.word}"
        case TurnFinished():
            return f"{event.result.status}: {event.result.text}"
        case Resync():
            return f"resync {event.step} {event.text!r} {event.reason}"
        case _:
            raise AssertionError(event)


ALL = [
    "1: Let",
    "1: me",
    "1: look.",
    "step 1: Let me look.",
    "look c0 begins",
    "look c1 begins",
    "look c1: ok",
    "look c0: error",
    "2: All",
    "2: seen.",
    "step 2: All seen.",
    "completed: All seen.",
]
HAPPENINGS = [ALL[index] for index in (3, 4, 5, 6, 7, 10, 11)]


def saying(said: str, answer: Answer) -> Answer:
    """The same answer, with something said."""
    return msgspec.structs.replace(answer, text=said)


def looker(**more: Any) -> Agent:
    """Says something, calls two tools that end in the other order, and says something."""
    later = asyncio.Event()

    async def look(n: int) -> str:
        if n == 0:
            await later.wait()
            raise ValueError("nothing there")
        asyncio.get_running_loop().call_later(0.01, later.set)
        return "seen"

    asked = saying("Let me look.", calls(("look", {"n": 0}), ("look", {"n": 1})))
    return support(ScriptedProvider(asked, text("All seen.")), look, **more)


def asked_of(agent: Agent) -> int:
    """How often its model was called."""
    provider = agent.model.provider
    assert isinstance(provider, ScriptedProvider)
    return len(provider.requests)


class SlowTalker(Provider):
    """Says a word whenever it is told to, and then answers."""

    def __init__(self, *words: str) -> None:
        self.doors = [Door() for _ in words]
        self._words = words

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """Word by word, as the doors are opened."""
        for word, door in zip(self._words, self.doors, strict=True):
            await door.wait()
            say(word)
        return text(" ".join(self._words))
