"""Many processes at once: on one session, and on one file."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tenure.runtime.model.message import UserMessage
from tests.crash.hosts import Host, effects, happened
from tests.crash.stored import opened

PROCESSES = 8
PATIENT = "--ttl=600"  # nobody is to be taken for silent on a busy machine


def at_once(store: Path, *flags: tuple[str, ...]) -> list[dict[str, Any]]:
    """Start hosts with these flags, let all of them begin together, and have their answers."""
    with ExitStack() as stack:
        hosts = [
            stack.enter_context(Host("ask", store, flags=("--barrier", PATIENT, *more)))
            for more in flags
        ]
        for host in hosts:
            host.await_barrier()
        for host in hosts:
            host.begin()
        return [answer for host in hosts for answer in host.answers()]


def test_eight_processes_that_ask_the_same_drive_one_turn_once(tmp_path: Path):
    store = tmp_path / "one.db"
    first, *others = at_once(store, *[()] * PROCESSES)
    assert [other["results"] for other in others] == [first["results"]] * (PROCESSES - 1)
    assert effects(store) == {"model-1": 1, "charge": 1, "mail": 1, "model-2": 1}
    assert len({pid for _, _, pid in happened(store)}) == 1, "one process drove it"
    with opened(store) as sessions:
        assert len(sessions.messages("chat")) == 5


def test_eight_processes_that_ask_differently_have_eight_turns_in_a_row(tmp_path: Path):
    store = tmp_path / "eight.db"
    questions = [f"question {number}" for number in range(PROCESSES)]
    answers = at_once(store, *[(f"--question={q}", f"--key={q}") for q in questions])
    results = [result for answer in answers for result in answer["results"]]
    assert {result["status"] for result in results} == {"completed"}
    assert len({result["turn"] for result in results}) == PROCESSES
    names = [name for name, _, _ in happened(store)]
    assert names == ["model-1", "charge", "mail", "model-2"] * PROCESSES, "one turn at a time"
    with opened(store) as sessions:
        messages = sessions.messages("chat")
        order = sorted(
            (work.sequence, work.content["text"])
            for result in results
            if (work := sessions.work(result["turn"].removeprefix("turn-"))) is not None
        )
    asked = [message.text for message in messages if isinstance(message, UserMessage)]
    assert asked == [text for _, text in order], "in the order of their admission"
    assert sorted(asked) == questions
    assert len(messages) == 5 * PROCESSES


@pytest.mark.timeout(900)
@pytest.mark.parametrize("turns", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_eight_processes_commit_every_turn_on_one_file(turns: int, tmp_path: Path):
    store = tmp_path / "file.db"
    flags = [("--plain", f"--turns={turns}", f"--session=chat-{n}") for n in range(PROCESSES)]
    answers = at_once(store, *flags)
    assert [len(answer["results"]) for answer in answers] == [turns] * PROCESSES
    assert all(r["status"] == "completed" for answer in answers for r in answer["results"])
    with opened(store) as sessions:
        for number in range(PROCESSES):
            assert len(sessions.messages(f"chat-{number}")) == 2 * turns
        left = sessions.drain_status(10)
    assert (left.open_turns, left.pending, left.lanes) == ((), (), ())
    names = [name for name, _, _ in happened(store)]
    assert names == ["model-1"] * PROCESSES * turns
