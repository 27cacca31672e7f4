"""Happenings, from a journal and from messages, by hand."""

from collections.abc import Sequence

import pytest

from tenure.runtime.happenings import Story, Told, ordered, retold
from tenure.runtime.machine.answers import Answer, ToolResult
from tenure.runtime.model.effect import Journaled, Outcome
from tenure.runtime.model.json import Json, plain
from tenure.runtime.model.message import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    ToolStatus,
    UserMessage,
)
from tests.runtime.watching import told

CALLS = (ToolCall(id="a", name="find"), ToolCall(id="b", name="buy"))
DONE: list[Message] = [
    UserMessage(text="Go."),
    AssistantMessage(text="So.", calls=CALLS),
    ToolMessage(call="a", name="find", status="ok", content="found"),
    ToolMessage(call="b", name="buy", status="error", content="no"),
    AssistantMessage(text="Done."),
]


def entry(key: str, value: Json = None, *, token: str = "t1") -> Journaled:
    """An intent, or with a value an outcome."""
    outcome = None if value is None else Outcome(status="ok", value=plain(value))
    return Journaled(key=key, request_hash="", generation=1, token=token, outcome=outcome)


def result(status: ToolStatus) -> ToolResult:
    return ToolResult(status=status, content="")


JOURNAL = [
    entry("model:1"),
    entry("model:1", Answer(text="So.", calls=CALLS)),
    entry("tool:1.0"),
    entry("tool:1.1"),
    entry("tool:1.1", result("error")),
    entry("tool:1.0", result("ok")),
    entry("model:2"),
    entry("model:2", Answer(text="Done.")),
]
WORDS = "s b0 b1 e1 e0 s"
TOLD = [
    "step 1: So.",
    "find a begins",
    "buy b begins",
    "buy b: error",
    "find a: ok",
    "step 2: Done.",
]


def said(entries: Sequence[Journaled]) -> list[str]:
    return [told(happening.event) for happening in Story("turn-1").tell(entries, [])]


def test_a_journal_tells_what_happened_in_its_order() -> None:
    happened = Story("turn-1").tell(JOURNAL, [])
    assert [told(one.event) for one in happened] == TOLD
    assert " ".join(one.word for one in happened) == WORDS


def test_a_story_told_in_pieces_is_the_same() -> None:
    story = Story("turn-1")
    pieces = [one for entry in JOURNAL for one in story.tell([entry], [])]
    assert pieces == Story("turn-1").tell(JOURNAL, [])


def test_what_is_put_twice_happened_once() -> None:
    twice = [entry for entry in JOURNAL for _ in range(2)]
    assert said(twice) == TOLD


def test_a_call_that_another_driver_makes_again_begins_again() -> None:
    entries = [*JOURNAL[:4], entry("tool:1.0", token="t2"), *JOURNAL[4:]]
    assert said(entries) == [*TOLD[:3], "find a begins", *TOLD[3:]]


def test_whoever_is_asked_is_known_until_it_answered() -> None:
    story = Story("turn-1")
    story.tell(JOURNAL[:1], [])
    assert story.asking is not None
    assert (story.asking.step, story.asking.token) == (1, "t1")
    story.tell(JOURNAL[1:2], [])
    assert story.asking is None


def test_messages_say_the_same_and_the_order_only_what_they_do_not() -> None:
    happened = Story("turn-1").tell(JOURNAL, [])
    assert ordered("turn-1", happened, DONE, []) == WORDS
    again = retold("turn-1", WORDS, DONE, [])
    assert again == Told(events=tuple(one.event for one in happened))
    usual = [*JOURNAL[:4], JOURNAL[5], JOURNAL[4], *JOURNAL[6:]]
    assert ordered("turn-1", Story("turn-1").tell(usual, []), DONE, []) == ""


@pytest.mark.parametrize(
    "messages",
    [
        DONE[:1],
        [*DONE[:3], DONE[4]],
        [*DONE[:4], AssistantMessage(text="Something else.")],
        [DONE[0], AssistantMessage(text="So."), DONE[4]],
    ],
)
def test_what_messages_cannot_tell_is_counted_and_not_made_up(messages: list[Message]) -> None:
    happened = Story("turn-1").tell(JOURNAL, [])
    order = ordered("turn-1", happened, messages, [])
    assert order == "!6"
    assert retold("turn-1", order, messages, []) == Told(lost=6)


def test_nothing_happened_is_something_else_than_as_usual() -> None:
    assert ordered("turn-1", [], DONE, []) == "-"
    assert retold("turn-1", "-", DONE, []) == Told()
    assert ordered("turn-1", [], DONE[:1], []) == ""


def test_a_call_that_is_in_no_answer_is_told_by_its_key() -> None:
    """A protocol may have calls of its own; a commit does not fail for that."""
    assert said([entry("tool:1.7"), entry("tool:1.7", result("ok"))]) == [
        " tool:1.7 begins",
        " tool:1.7: ok",
    ]
