"""A model that knows a few lines by heart, so that the example runs without a key or a network."""

import asyncio
import re

from tenure import Model, Provider
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import ToolCall, ToolMessage, UserMessage
from tenure.runtime.model.usage import Usage
from tenure.runtime.ports.provider import ModelRequest, Say

GREETING = """\
Hello, this is {name}. I answer from a script, word by word and slowly, so that you can see how an \
answer arrives. Reload the page in the middle of it, open it in a second window, or stop the process \
that says this: nothing that was said is lost, and nobody is asked twice. Then ask me to refund \
40 € for order 7, and take your time to agree."""


class Rehearsed(Provider):
    """Answers by what was said in the turn. `pace` is how long a word takes, in seconds."""

    def __init__(self, pace: float) -> None:
        self._pace = pace

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """The line for this step, a word at a time."""
        answer = line(request)
        for word in re.findall(r"\s*\S+", answer.text):
            await self.breathe(request)
            say(word)
        return answer

    async def breathe(self, request: ModelRequest) -> None:
        """The time between two words."""
        del request
        await asyncio.sleep(self._pace)


def rehearsed(pace: float = 0.06) -> Model:
    """The model of the desk, if no other is asked for."""
    return Model(Rehearsed(pace), "rehearsed")


def line(request: ModelRequest) -> Answer:
    """What comes next: a call, or the words that end the turn."""
    told = _told(request)
    asked = next(m.text for m in reversed(request.messages) if isinstance(m, UserMessage))
    order, euros = re.search(r"(?i)order (\d+)", asked), re.search(r"(\d+)\s*(?:€|euro)", asked)
    name = _found(r"You are (\w+)", request.instructions)
    offered = {spec.name for spec in request.tools}
    if order and euros and "refund" in offered:
        number = int(order[1])
        if "refund" not in told:
            return _call("refund", order=number, euros=int(euros[1]))
        if "Check" in request.instructions and "look_up" not in told:
            return _call("look_up", order=number)
        return _say(f"{told['refund'].content} {_checked(told)} Yours, {name}.")
    if order and "look_up" in offered and not told:
        return _call("look_up", order=int(order[1]))
    if order and told:
        return _say(f"{told['look_up'].content} Yours, {name}.")
    if re.search(r"(?i)\b(help|can you)\b", asked):
        return _say(f"I am {name}, and this is what I can do: {', '.join(sorted(offered))}.")
    if re.search(r"(?i)\b(hi|hello|hey)\b", asked):
        return _say(GREETING.format(name=name))
    return _say(f"You said “{asked}”. I have no line for that; say hello, or ask for help. {name}.")


def _told(request: ModelRequest) -> dict[str, ToolMessage]:
    """What the tools said in this turn, by their names."""
    told: dict[str, ToolMessage] = {}
    for message in reversed(request.messages):
        if isinstance(message, UserMessage):
            break
        if isinstance(message, ToolMessage):
            told.setdefault(message.name, message)
    return told


def _checked(told: dict[str, ToolMessage]) -> str:
    known = told.get("look_up")
    if known is None:
        return "I wish you a lovely day."
    return (
        known.content if known.status == "ok" else f"I could not check the order: {known.status}."
    )


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else "nobody"


def _say(text: str) -> Answer:
    return Answer(text=text, usage=Usage(input_tokens=10, output_tokens=len(text.split())))


def _call(name: str, **arguments: Json) -> Answer:
    call = ToolCall(id="c0", name=name, arguments=arguments)
    return Answer(calls=(call,), usage=Usage(input_tokens=10, output_tokens=5))
