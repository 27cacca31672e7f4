"""The turn machine: what it wants, what it makes of outcomes, in whatever order they come."""

import itertools
from typing import Any

import msgspec
import pytest

from tenure.runtime.machine.answers import Accepted, Answer, ToolResult
from tenure.runtime.machine.machine import FINAL, Machine
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.message import (
    AssistantMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    dangling,
)
from tenure.runtime.model.program import Program, ToolSpec, TurnBudget
from tenure.runtime.model.usage import Usage
from tenure.runtime.model.work import Wake

OPENING = UserMessage(text="Refund order 7?")
TOOLS = tuple(ToolSpec(name=name, description="", schema={}) for name in ("look", "refund", "note"))


def program(**more: Any) -> Program:
    return Program(agent="a", instructions="help", model="m", tools=TOOLS, **more)


def machine(**more: Any) -> Machine:
    return Machine(program(**more), opening=OPENING, head=4, check_output=check)


def check(value: Any) -> tuple[Any, str]:
    return (value, "") if isinstance(value, dict) and "city" in value else (None, "city is missing")


def ok(value: Any) -> Outcome:
    return Outcome(status="ok", value=msgspec.to_builtins(value))


def answer(text: str = "", *calls: tuple[str, str], arguments: Any = None) -> Outcome:
    made = tuple(ToolCall(id=name, name=tool, arguments=arguments) for name, tool in calls)
    return ok(Answer(text=text, calls=made, usage=Usage(input_tokens=3, output_tokens=2)))


def result(content: str) -> Outcome:
    return ok(ToolResult(status="ok", content=content, wakes=(Wake(session=content, text="!"),)))


NOTHING = ok([])


@pytest.mark.parametrize("ids", [("call-1.1", ""), ("", "call-1.0"), ("a", "a"), ("", "")])
def test_calls_whose_ids_are_missing_or_equal_are_told_apart(ids: tuple[str, str]) -> None:
    one = machine()
    one.take("model:1", answer("", (ids[0], "look"), (ids[1], "note")))
    for key in list(one.wants):
        one.take(key, result(key))
    assert list(one.wants) == ["accept:1.after_work"]
    assert dangling(one.messages) == []
    asked = one.messages[1]
    assert isinstance(asked, AssistantMessage)
    assert len({call.id for call in asked.calls}) == 2


def test_a_recorded_result_that_cannot_be_read_is_an_error_of_its_call() -> None:
    one = machine()
    one.take("model:1", answer("", ("a", "look")))
    one.take("tool:1.0", ok({"status": "ok", "content": "x", "wakes": [{"session": "s"}]}))
    told = one.messages[-1]
    assert isinstance(told, ToolMessage)
    assert told.status == "error"
    assert "cannot be read" in told.content


def test_a_plain_answer_is_a_turn() -> None:
    one = machine()
    assert list(one.wants) == ["model:1"]
    one.take("model:1", answer("Done."))
    assert list(one.wants) == ["accept:1.before_completion"]
    one.take("accept:1.before_completion", NOTHING)
    assert one.draft is not None
    assert one.draft.messages == (OPENING, AssistantMessage(text="Done."))
    assert (one.draft.status, one.draft.text) == ("completed", "Done.")
    assert one.draft.usage == Usage(requests=1, input_tokens=3, output_tokens=2)
    assert one.wants == {}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_results_stand_in_the_order_of_the_calls(order: tuple[int, ...]) -> None:
    one = machine()
    one.take("model:1", answer("", ("a", "look"), ("b", "refund"), ("c", "note")))
    assert list(one.wants) == ["tool:1.0", "tool:1.1", "tool:1.2"]
    for index in order:
        one.take(f"tool:1.{index}", result(f"r{index}"))
    assert list(one.wants) == ["accept:1.after_work"]
    told = [m for m in one.messages if isinstance(m, ToolMessage)]
    one.end("stopped", "enough")
    assert one.draft is not None
    assert [wake.session for wake in one.draft.outbox] == ["r0", "r1", "r2"]
    assert [(m.call, m.content) for m in told] == [("a", "r0"), ("b", "r1"), ("c", "r2")]


def test_the_same_outcomes_make_the_same_wants_whatever_their_order() -> None:
    made = []
    for order in itertools.permutations(range(3)):
        one = machine()
        one.take("model:1", answer("", ("a", "look"), ("b", "refund"), ("c", "note")))
        for index in order:
            one.take(f"tool:1.{index}", result(f"r{index}"))
        one.take("accept:1.after_work", NOTHING)
        made.append(one.wants["model:2"].request_hash)
    assert len(set(made)) == 1


def test_a_request_changes_with_everything_it_depends_on() -> None:
    requests = {
        machine().wants["model:1"].request_hash,
        machine(settings={"temperature": 0}).wants["model:1"].request_hash,
        Machine(program(), opening=UserMessage(text="x"), head=4, check_output=check)
        .wants["model:1"]
        .request_hash,
        Machine(program(), opening=OPENING, head=5, check_output=check)
        .wants["model:1"]
        .request_hash,
    }
    assert len(requests) == 4


def test_input_at_a_boundary_goes_on_with_the_turn() -> None:
    one = machine()
    one.take("model:1", answer("Done."))
    said = UserMessage(text="and order 8")
    one.take("accept:1.before_completion", ok([Accepted(work="w2", message=said)]))
    assert list(one.wants) == ["model:2"]
    one.take("model:2", answer("Both done."))
    one.take("accept:2.before_completion", NOTHING)
    assert one.draft is not None
    assert one.draft.messages[2] == said
    assert one.draft.accepted == ("w2",)
    assert one.draft.text == "Both done."


def test_an_effect_in_doubt_is_told_as_unknown() -> None:
    one = machine()
    one.take("model:1", answer("", ("a", "refund")))
    one.take("tool:1.0", Outcome(status="in_doubt"))
    told = one.messages[-1]
    assert isinstance(told, ToolMessage)
    assert told.status == "unknown"
    assert "unknown" in told.content


def test_a_tool_nobody_has_is_answered_without_an_effect() -> None:
    one = machine()
    one.take("model:1", answer("", ("a", "fly")))
    assert list(one.wants) == ["accept:1.after_work"]
    told = one.messages[-1]
    assert isinstance(told, ToolMessage)
    assert (told.status, told.content) == ("error", "no tool is called 'fly'")


def test_call_ids_are_made_distinct() -> None:
    one = machine()
    one.take("model:1", answer("", ("a", "look"), ("a", "look"), ("", "look")))
    asked = one.messages[-1]
    assert isinstance(asked, AssistantMessage)
    assert [call.id for call in asked.calls] == ["a", "call-1.1", "call-1.2"]


@pytest.mark.parametrize("done", range(4))
@pytest.mark.parametrize("status", ["cancelled", "stopped"])
def test_a_turn_that_ends_early_leaves_no_open_call(done: int, status: Any) -> None:
    one = machine()
    one.take("model:1", answer("", ("a", "look"), ("b", "refund"), ("c", "note")))
    for index in range(done):
        one.take(f"tool:1.{index}", result(f"r{index}"))
    one.end(status, "enough")
    assert one.draft is not None
    assert (one.draft.status, one.draft.reason) == (status, "enough")
    assert dangling(list(one.draft.messages)) == []
    told = [m.status for m in one.draft.messages if isinstance(m, ToolMessage)]
    assert told == ["ok"] * done + ["cancelled"] * (3 - done)
    assert one.draft.messages[-1] == AssistantMessage(stopped=f"{status}: enough")


def test_late_outcomes_change_nothing() -> None:
    one = machine()
    one.end("cancelled", "enough")
    draft = one.draft
    one.take("model:1", answer("Too late."))
    one.end("stopped", "again")
    assert one.draft is draft


def test_a_draft_that_is_not_committed_can_still_be_cancelled() -> None:
    one = machine()
    one.take("model:1", answer("Done."))
    one.take("accept:1.before_completion", NOTHING)
    one.end("cancelled", "enough")
    assert one.draft is not None
    assert one.draft.status == "cancelled"


def test_the_budget_of_steps_stops_a_turn() -> None:
    one = machine(budget=TurnBudget(steps=1))
    one.take("model:1", answer("", ("a", "look")))
    one.take("tool:1.0", result("x"))
    one.take("accept:1.after_work", NOTHING)
    assert one.draft is not None
    assert (one.draft.status, one.draft.reason) == ("stopped", "its budget of 1 steps is used up")
    assert dangling(list(one.draft.messages)) == []


def test_a_model_without_an_answer_stops_the_turn() -> None:
    one = machine()
    one.take("model:1", Outcome(status="error", value="overloaded (after 4 tries)"))
    assert one.draft is not None
    assert one.draft.status == "stopped"
    assert "overloaded" in one.draft.reason


def test_a_typed_answer_is_checked_and_asked_for_again() -> None:
    one = machine(output={"type": "object"})
    one.take("model:1", answer("Rome, I think."))
    assert one.messages[-1] == UserMessage(text=f"Answer by calling {FINAL}.")
    one.take("model:2", answer("", ("a", FINAL), arguments={"town": "Rome"}))
    told = one.messages[-1]
    assert isinstance(told, ToolMessage)
    assert (told.status, told.content) == ("error", "city is missing")
    one.take("accept:2.after_work", NOTHING)
    one.take("model:3", answer("", ("b", FINAL), arguments={"city": "Rome"}))
    one.take("accept:3.before_completion", NOTHING)
    assert one.draft is not None
    assert one.draft.output == {"city": "Rome"}
    assert dangling(list(one.draft.messages)) == []


def test_a_copy_goes_its_own_way() -> None:
    one = machine()
    one.take("model:1", answer("", ("a", "look"), ("b", "look")))
    twin = one.copy()
    twin.take("tool:1.0", result("x"))
    twin.take("tool:1.1", result("y"))
    assert list(one.wants) == ["tool:1.0", "tool:1.1"]
    assert len(one.messages) == 2
    one.take("tool:1.1", result("z"))
    one.take("tool:1.0", result("w"))
    assert [m.content for m in one.messages if isinstance(m, ToolMessage)] == ["w", "z"]
    assert [m.content for m in twin.messages if isinstance(m, ToolMessage)] == ["x", "y"]
