"""Wrong or missing wiring is refused by name, before anything happens."""

import asyncio
from typing import Any

import apsw
import pytest

from tenure import (
    Agent,
    CommitBudget,
    LeaseTimings,
    Model,
    Provider,
    RetryPolicy,
    Runtime,
    Tool,
    TurnBudget,
)
from tenure.kernel import mounts
from tenure.kernel.errors import ConfigurationError
from tenure.runtime.errors import (
    AgentUnknown,
    HostMismatch,
    ProviderError,
    ReplayMismatch,
    SessionDeleted,
    StreamCut,
    WiringError,
)
from tenure.runtime.machine.answers import Answer
from tenure.runtime.model.event import ModelRetried, TextDelta, TextRetracted
from tenure.runtime.ports.provider import ModelRequest, Say
from tenure.testing.provider import ScriptedProvider, calls, text
from tests.runtime.scene import Door, DoorProvider, echo, line, run, runtime, support, until


def look() -> None: ...


def named(name: str = "support", **more: Any) -> Agent:
    return Agent(name, instructions="Help.", model=Model(echo(), "m1"), **more)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Runtime(store="memory://", agents=[]), "without agents"),
        (lambda: Runtime(store="memory://", agents=[named(), named()]), "two agents are called"),
        (lambda: Runtime(store="agents.db", agents=[named()]), "no address of a store"),
        (lambda: Runtime(store="sqlite:///", agents=[named()]), "no address of a store"),
        (lambda: Runtime(store="mysql://x", agents=[named()]), "no address of a store"),
        (lambda: Runtime(store="memory://", agents=[named()], poll=0), "never rests"),
        (lambda: Runtime(store="memory://", agents=[named()], cancel_poll=-1), "never rests"),
        (lambda: named(""), "an agent's name is empty"),
        (lambda: named(tools=[look, look]), "two tools called 'look'"),
        (lambda: named(tools=[Tool(look, name="final_result")]), "two tools called"),
        (lambda: named(history=-1), "-1 past turns"),
        (lambda: named(budget=TurnBudget(steps=0)), "allows nothing"),
        (lambda: named(commit_budget=CommitBudget(rows=0)), "allows nothing"),
        (lambda: named(output=asyncio.Event), "has no JSON Schema"),
        (lambda: Model(echo(), ""), "a model's name is empty"),
        (lambda: Model(echo(), "m1", stop=object()), "are no JSON"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_made(make: Any, said: str) -> None:
    with pytest.raises(WiringError, match=said):
        make()


def test_leases_that_cannot_survive_two_missed_renewals_are_refused() -> None:
    with pytest.raises(ConfigurationError):
        LeaseTimings(ttl=29, renew_interval=10)


@pytest.mark.parametrize("bad", ["", "\0", "half \udc80", 7, None])
def test_an_id_that_is_none_is_refused(store: str, bad: Any) -> None:
    async def story() -> None:
        async with runtime(store, named()) as rt:
            with pytest.raises(WiringError, match="a session's id is"):
                await rt.session(bad, agent="support")
            chat = await rt.session("chat", agent="support")
            if bad is not None:
                with pytest.raises(WiringError, match="a key is"):
                    await chat.turn("one", key=bad)
            assert len(await rt.inventory()) == 1
            assert await chat.messages() == []

    run(story())


@pytest.mark.parametrize("bad", ["half \udc80", b"bytes", 7, None])
def test_what_is_no_text_is_not_admitted(store: str, bad: Any) -> None:
    async def story() -> None:
        async with runtime(store, named()) as rt:
            chat = await rt.session("chat", agent="support")
            with pytest.raises(WiringError, match="is no text"):
                await chat.turn(bad)
            with pytest.raises(WiringError, match="are no JSON"):
                chat.set(theme=object())
            assert (await chat.turn("")).completed, "an empty question is one"

    run(story())


def test_a_session_belongs_to_one_agent(store: str) -> None:
    async def story() -> None:
        async with runtime(store, named(), named("sales")) as rt:
            await rt.session("chat", agent="support")
            with pytest.raises(WiringError, match="belongs to agent 'support'"):
                await rt.session("chat", agent="sales")
            with pytest.raises(WiringError, match="belongs to agent 'support'"):
                await asyncio.to_thread(rt.submit, "chat", "x", agent="sales")
            with pytest.raises(AgentUnknown):
                await rt.session("chat", agent="nobody")
            with pytest.raises(AgentUnknown):
                rt.submit("chat", "x", agent="nobody")

    run(story())


def test_an_id_is_used_once(store: str) -> None:
    async def story() -> None:
        async with runtime(store, named()) as rt:
            chat = await rt.session("chat", agent="support")
            await chat.turn("one", key="k")
            await rt.delete_session("chat")
            with pytest.raises(SessionDeleted):
                await rt.session("chat", agent="support")
            with pytest.raises(SessionDeleted):
                await chat.turn("one", key="k")
            with pytest.raises(SessionDeleted):
                await rt.wake("chat", "hello")

    run(story())


@pytest.mark.parametrize("number", [0, -1])
def test_driving_nothing_is_a_mistake(store: str, number: int) -> None:
    async def story() -> None:
        async with runtime(store, named()) as rt:
            for wrong in (
                rt.drive_once(number),
                rt.drive_once(1, concurrency=number),
                rt.drive(concurrency=number),
            ):
                with pytest.raises(WiringError, match="drives nothing"):
                    await wrong

    run(story())


# what is registered here


def test_the_turn_is_driven_with_what_its_agent_was_when_it_was_admitted(shared: str) -> None:
    async def story() -> None:
        first, second = echo(), echo()
        old = Agent("support", instructions="old", model=Model(first, "m1", temperature=0))
        async with runtime(shared, old) as rt:
            await (await rt.session("chat", agent="support")).submit("one", key="one")
        new = Agent("support", instructions="new", model=Model(second, "m2", temperature=1))
        async with runtime(shared, new) as rt:
            chat = await rt.session("chat", agent="support")
            await chat.turn("one", key="one")
            await chat.turn("two")
        assert first.requests == []
        told = [(r.instructions, r.model, r.settings) for r in second.requests]
        assert told == [("old", "m1", {"temperature": 0}), ("new", "m2", {"temperature": 1})]

    run(story())


def test_a_process_that_lacks_an_agent_leaves_its_turns_alone(shared: str) -> None:
    """However often it looks, it claims nothing of them, and none is counted as picked up."""

    async def story() -> None:
        async with runtime(shared, named(), named("sales")) as rt:
            await (await rt.session("chat", agent="sales")).submit("one")
            await (await rt.session("other", agent="support")).submit("two")
        async with runtime(shared, named()) as rt:
            assert [r.session for r in await rt.drive_once(9)] == ["other"]
            for _ in range(9):
                assert await rt.drive_once(9) == []
        async with runtime(shared, named("sales")) as rt:
            (result,) = await rt.drive_once()
            assert result.completed

    run(story())


@pytest.mark.filterwarnings("ignore:effects of this runtime are not journaled")
def test_a_session_stays_with_its_kind_of_host(shared: str) -> None:
    async def story() -> None:
        async with runtime(shared, named()) as rt:
            turn = await (await rt.session("chat", agent="support")).submit("one")
        async with runtime(shared, named(), effects="inline") as rt:
            assert await rt.drive_once() == []
            with pytest.raises(HostMismatch):
                await (await rt.session("chat", agent="support")).wait(turn)
            inline = await rt.session("inline", agent="support")
            assert (await inline.turn("two")).text == "re: two"

    run(story())


def test_a_host_without_a_journal_says_so_loudly() -> None:
    with pytest.warns(UserWarning, match="effects of this runtime are not journaled"):
        runtime("memory://", named(), effects="inline").close()


@pytest.mark.filterwarnings("ignore:effects of this runtime are not journaled")
def test_a_turn_without_a_journal_starts_anew_and_commits_once(shared: str) -> None:
    async def story() -> None:
        door, runs = Door(), 0

        async def work() -> str:
            nonlocal runs
            runs += 1
            await door.wait()
            return f"run {runs}"

        provider = ScriptedProvider(calls(("work", {})), text("Done."))
        async with runtime(shared, support(provider, work), effects="inline") as rt:
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
            await door.somebody()
            await chat.say("and this", to=rt.turn_id("chat", "k"))
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            door.open()
            assert (await chat.turn("Go.", key="k")).completed
            assert line(await chat.messages()) == [
                "user: Go.",
                "assistant:  [work]",
                "work: ok: run 2",
                "user: and this",
                "assistant: Done.",
            ]
            assert len(provider.requests) == 3

    run(story())


def test_code_that_changed_in_the_middle_of_a_turn_ends_it_and_not_for_ever(shared: str) -> None:
    """The machine asks for something else than the journal has: refused, and in the end stopped."""

    async def story() -> None:
        slow = DoorProvider()
        async with runtime(shared, support(slow, budget=TurnBudget(drives=2))) as rt:
            chat = await rt.session("chat", agent="support")
            asked = asyncio.ensure_future(chat.turn("Go.", key="k"))
            await slow.door.somebody()
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
            changed = apsw.Connection(shared.removeprefix("sqlite:///"))
            changed.execute(
                "UPDATE journal SET entries = json_set(entries, '$[0].request_hash', 'another')"
            )
            changed.close()
            with pytest.raises(ReplayMismatch):
                await chat.turn("Go.", key="k")
            result = await chat.turn("Go.", key="k")
            assert (result.status, result.reason) == (
                "stopped",
                "no_progress: 2 pick-ups recorded nothing",
            )
            slow.door.open()
            assert (await chat.turn("And now?")).completed

    run(story())


# providers


class Scripted(Provider):
    """Does what it is told, try by try."""

    def __init__(self, *tries: Any) -> None:
        self.tries = list(tries)
        self.came = 0

    async def answer(self, request: ModelRequest, say: Say) -> Answer:
        step = self.tries[min(self.came, len(self.tries) - 1)]
        self.came += 1
        say("half ")
        if isinstance(step, BaseException):
            raise step
        return step


def busy(retry_after: float | None = None, *, retryable: bool = True) -> ProviderError:
    return ProviderError(
        provider="m1", what="too busy", retryable=retryable, retry_after=retry_after
    )


QUICK = RetryPolicy(first=0.001)


def test_every_retry_is_told(store: str) -> None:
    async def story() -> None:
        provider = Scripted(busy(), busy(retry_after=0.002), text("whole"))
        async with runtime(store, support(provider), retry=QUICK) as rt:
            chat = await rt.session("chat", agent="support")
            told = [e async for e in chat.stream("Go.") if isinstance(e, ModelRetried)]
            assert [(e.step, e.tries) for e in told] == [(1, 1), (1, 2)]
            assert told[1].delay == 0.002
            assert "too busy" in told[0].reason

    run(story())


def test_a_retried_answer_takes_back_what_it_said(store: str) -> None:
    async def story() -> None:
        cut = StreamCut(provider="m1", retryable=True)
        provider = Scripted(busy(), cut, text("whole"))
        async with runtime(store, support(provider), retry=QUICK) as rt:
            chat = await rt.session("chat", agent="support")
            events = [
                type(event)
                async for event in chat.stream("Go.")
                if isinstance(event, TextDelta | TextRetracted)
            ]
            assert events == [TextDelta, TextRetracted, TextDelta, TextRetracted, TextDelta]
            assert line(await chat.messages())[-1] == "assistant: whole"

    run(story())


@pytest.mark.parametrize(
    ("failure", "tries", "said"),
    [
        (busy(), 4, "m1: too busy (after 4 tries)"),
        (busy(retryable=False), 1, "m1: too busy (after 1 tries)"),
        (busy(retry_after=61), 1, "m1: too busy (after 1 tries)"),
        (StreamCut(provider="m1"), 1, "m1: the stream was cut off before its end (after 1 tries)"),
        (ValueError("odd"), 1, "ValueError: odd (after 1 tries)"),
        (asyncio.CancelledError(), 1, "it was cancelled by itself"),
    ],
)
def test_a_model_without_an_answer_stops_the_turn_and_says_why(
    store: str, failure: BaseException, tries: int, said: str
) -> None:
    async def story() -> None:
        provider = Scripted(failure)
        async with runtime(store, support(provider), retry=QUICK) as rt:
            chat = await rt.session("chat", agent="support")
            result = await chat.turn("Go.", key="k")
            assert (result.status, result.reason) == (
                "stopped",
                f"the model gave no answer: {said}",
            )
            assert provider.came == tries
            assert await chat.turn("Go.", key="k") == result
            provider.tries = [text("better")]
            assert (await chat.turn("Go on.")).text == "better"

    run(story())


def test_what_is_no_answer_is_not_taken_for_one(store: str) -> None:
    async def story() -> None:
        async with runtime(store, support(Scripted("just a string"))) as rt:
            chat = await rt.session("chat", agent="support")
            result = await chat.turn("Go.")
            assert "TypeError: the provider returned str and no Answer" in result.reason

    run(story())


def test_a_cancelled_turn_is_not_asked_again(store: str) -> None:
    """Cancelled between two tries: cancelled is no failure that a retry would mend."""

    async def story() -> None:
        provider = Scripted(busy(retry_after=50))
        async with runtime(store, support(provider)) as rt:
            chat = await rt.session("chat", agent="support")
            turn = await chat.submit("Go.")
            waiting = asyncio.ensure_future(chat.wait(turn))
            await until(lambda: provider.came, "the first try")
            await rt.cancel_turn(turn, "enough")
            assert (await waiting).status == "cancelled"
            assert provider.came == 1

    run(story())


def test_a_store_where_other_machines_write_too_is_refused_and_not_made(tmp_path, monkeypatch):
    """No such mount can be made here, so the kernel's table of mounts is a written one."""
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 0:1 / / rw - ext4 x rw\n2 1 0:2 / {tmp_path}/far rw - nfs4 y:/z rw\n")
    (tmp_path / "far").mkdir()
    monkeypatch.setattr(mounts, "_MOUNTS", str(table))
    with pytest.raises(WiringError, match=r"far/agents.db would be on NFS .*; put it on a disk"):
        Runtime(store=f"sqlite:///{tmp_path}/far/agents.db", agents=[named()])
    assert list((tmp_path / "far").iterdir()) == []
    Runtime(store=f"sqlite:///{tmp_path}/near.db", agents=[named()]).close()
