"""Who observes turns in the tests: they note what they are shown, and leave and come back."""

import contextlib
from collections.abc import Sequence

from tenure import Runtime, StepFinished, TextDelta, TurnFinished
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
