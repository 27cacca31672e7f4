"""What the runtime's benches share: one agent with a scripted model, and raw commits beside it."""

import asyncio
import sys
from collections.abc import Coroutine, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import apsw

from bench.place import ROOT

sys.path.insert(0, str(ROOT / "src"))

from tenure.faces.host import Runtime
from tenure.runtime.agent import Agent, Model
from tenure.runtime.machine.answers import Answer
from tenure.runtime.ports.provider import ModelRequest, Provider, Say
from tenure.testing.provider import calls, text

#: Model, tool, model.
EFFECTS = 3
SAID = "hello " * 30
FOUND = "found it " * 20
ANSWER = "done and done " * 60
#: What one turn adds to a session, in bytes that somebody said.
PAYLOAD = len(SAID) + len(FOUND) + len(ANSWER)


class Quick(Provider):
    """Asks for the tool, and then says the next of its answers, at once."""

    def __init__(self, answers: Sequence[str]) -> None:
        self._call = calls(("look", {"q": "x"}))
        self._answers = cycle([text(answer) for answer in answers])

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        """The scripted answer of this step."""
        answer = self._call if request.step == 1 else next(self._answers)
        say(answer.text)
        return answer


def runtime(store: Path, *, answers: Sequence[str] = (ANSWER,)) -> Runtime:
    """A runtime whose agent calls one tool. The model is shown twenty turns."""

    async def look(q: str) -> str:
        """Look something up."""
        del q
        return FOUND

    model = Model(Quick(answers), "scripted")
    agent = Agent("clerk", instructions="Do it.", model=model, tools=[look], history=20)
    return Runtime(store=f"sqlite:///{store}", agents=[agent])


class RawCommits:
    """A store that promises nothing but durability: one table, one insertion a commit."""

    def __init__(self, path: Path) -> None:
        self._connection = apsw.Connection(str(path))
        for statement in (
            "PRAGMA journal_mode = WAL",
            "PRAGMA synchronous = FULL",
            "CREATE TABLE IF NOT EXISTS raw (id INTEGER PRIMARY KEY, body TEXT NOT NULL)",
        ):
            list(self._connection.execute(statement))

    def commit(self, commits: int, size: int) -> None:
        """So many transactions of so many bytes."""
        for _ in range(commits):
            list(self._connection.execute("BEGIN IMMEDIATE"))
            list(self._connection.execute("INSERT INTO raw (body) VALUES (?)", ("x" * size,)))
            list(self._connection.execute("COMMIT"))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


def stepper() -> tuple[asyncio.Runner, Any]:
    """An event loop that plain functions can step, for `measuring.interleaved`."""
    runner = asyncio.Runner()

    def step(coroutine: Coroutine[Any, Any, Any]) -> Any:
        return runner.run(coroutine)

    return runner, step
