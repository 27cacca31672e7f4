"""A provider that answers by a script: for tests of hosts, without a model.

What such a test names besides, the request that a function of a script gets and the answer it
returns, can be imported from here as well.
"""

from collections.abc import Callable, Sequence

from tenure.runtime.errors import ProviderError
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import ToolCall, ToolMessage
from tenure.runtime.model.usage import Usage
from tenure.runtime.ports.provider import ModelRequest, Provider, Say

__all__ = [
    "Answer",
    "ModelRequest",
    "ProviderError",
    "Scripted",
    "ScriptedProvider",
    "calls",
    "results",
    "text",
]

#: One answer, an error to raise, or a function of the request that returns or raises one.
Scripted = Answer | ProviderError | Callable[[ModelRequest], Answer]


class ScriptedProvider(Provider):
    """Answers by what was said so far, so that a replay in another process is answered alike.

    `script` has one entry for each model call of a turn, counted by the request's step; the
    last one serves every later step. `requests` are all that came, in order.
    """

    def __init__(self, *script: Scripted) -> None:
        self._script = script
        self.requests: list[ModelRequest] = []
        self.closed = 0

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """The scripted answer of this step, said word by word."""
        self.requests.append(request)
        scripted = self._script[min(request.step, len(self._script)) - 1]
        if isinstance(scripted, ProviderError):
            raise scripted
        answer = scripted if isinstance(scripted, Answer) else scripted(request)
        for word in answer.text.split(" "):
            if word:
                say(word)
        return answer

    async def close(self) -> None:
        """Count it."""
        self.closed += 1


def text(said: str) -> Answer:
    """An answer of text."""
    return Answer(text=said, usage=Usage(input_tokens=10, output_tokens=len(said.split())))


def calls(*wanted: tuple[str, Json]) -> Answer:
    """An answer that calls tools by name and arguments."""
    made = [
        ToolCall(id=f"c{index}", name=name, arguments=arguments)
        for index, (name, arguments) in enumerate(wanted)
    ]
    return Answer(calls=tuple(made), usage=Usage(input_tokens=10, output_tokens=5))


def results(request: ModelRequest) -> Sequence[str]:
    """What the tools of the last answer returned, as the model is told."""
    found: list[str] = []
    for message in reversed(request.messages):
        if not isinstance(message, ToolMessage):
            break
        found.insert(0, f"{message.status}: {message.content}")
    return found
