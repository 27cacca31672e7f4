"""`tenure sessions` looks into a session store that nobody has to be running."""

import asyncio
from pathlib import Path

import pytest

from tenure.faces.host import Runtime
from tenure.runtime.agent import Agent, Model
from tenure.runtime.tools.context import ToolContext
from tenure.runtime.tools.tool import tool
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.faces.calls import tenure


@pytest.fixture
def address(tmp_path: Path) -> str:
    """A store with a session that has a committed turn and one that is admitted."""
    address = f"sqlite:///{tmp_path}/agents.db"
    agent = Agent("support", instructions="help", model=Model(ScriptedProvider(text("Hi.")), "m"))

    async def fill() -> None:
        async with Runtime(store=address, agents=[agent]) as runtime:
            chat = await runtime.session("chat", agent="support")
            await chat.turn("Hello?", key="one")
            await chat.submit("And?", key="two")

    asyncio.run(fill())
    return address


def test_sessions_are_listed_a_page_at_a_time(tmp_path: Path, address: str) -> None:
    told = tenure(tmp_path, "sessions", "ls", "--store", address)
    assert (told.code, told.out) == (0, "chat  support  2 messages\n")
    found = tenure(tmp_path, "sessions", "ls", "--store", address, "--after", "chat", "--json")
    assert found.object["sessions"] == []


def test_a_session_shows_what_waits_in_it(tmp_path: Path, address: str) -> None:
    found = tenure(tmp_path, "sessions", "show", "chat", "--store", address, "--json").object
    assert found["session"]["head"] == 2
    assert [row["state"] for row in found["waiting"]] == ["pending"]
    assert found["open_turn"] is None


def test_a_session_shows_the_question_that_nobody_answered_and_keeps_its_key(
    tmp_path: Path,
) -> None:
    @tool
    async def refund(ctx: ToolContext[None]) -> str:
        """Refund an order."""
        return str(await ctx.approve("Refund 40 €?\nNow?"))

    script = ScriptedProvider(calls(("refund", {})), text("Done."))
    agent = Agent("support", instructions="help", model=Model(script, "m"), tools=[refund])
    address = f"sqlite:///{tmp_path}/asking.db"

    async def ask() -> str:
        async with Runtime(store=address, agents=[agent]) as runtime:
            chat = await runtime.session("chat", agent="support")
            await chat.submit("Refund it.")
            assert await runtime.drive_once() == []
            (wait,) = await runtime.waits("chat")
            return wait.key

    key = asyncio.run(ask())
    told = tenure(tmp_path, "sessions", "show", "chat", "--store", address)
    assert "\n  unanswered: Refund 40 €? Now?  (wait approve; " in told.out
    found = tenure(tmp_path, "sessions", "show", "chat", "--store", address, "--json")
    (wait,) = found.object["waits"]
    assert (wait["id"], wait["asked"]) == (key.partition(".")[0], "Refund 40 €?\nNow?")
    assert key not in told.out + found.out


def test_a_turn_is_asked_to_end_before_it_starts(tmp_path: Path, address: str) -> None:
    shown = tenure(tmp_path, "sessions", "show", "chat", "--store", address, "--json").object
    turn = f"turn-{shown['waiting'][0]['id']}"
    ended = tenure(tmp_path, "sessions", "cancel", turn, "--store", address, "--json")
    assert (ended.code, ended.object["requested"]) == (0, True)
    told = tenure(tmp_path, "sessions", "cancel", "turn-xx", "--store", address)
    assert told.out == "turn-xx was asked to end (no such turn is recorded yet)\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("ls", "--store", "sqlite:///nowhere.db"), 2, "no session store"),
        (("ls", "--store", "postgres://x"), 2, "no session store"),
        (("show", "--store", "{}"), 2, "needs the id of a session"),
        (("show", "nobody", "--store", "{}"), 3, "there is no session 'nobody'"),
        (("ls", "--limit", "0", "--store", "{}"), 2, "at least 1"),
    ],
)
def test_what_cannot_be_told_is_said_in_one_line(
    tmp_path: Path, address: str, words: tuple[str, ...], code: int, said: str
) -> None:
    told = tenure(tmp_path, "sessions", *(word.replace("{}", address) for word in words))
    assert told.code == code
    assert said in told.err
    assert told.err.count("\n") == 1
