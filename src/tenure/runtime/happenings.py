"""Happenings: the events of a turn that anybody can be shown at any time, in one order.

While a turn is open they are what was put into its journal, in the order in which that was
done. A commit drops the journal: from then on its messages say the same, and where the order in
them is another one, the `order` of its end says that, a word for each happening:

    s        the model answered: the next step     a<work>    input became part of the turn
    b<call>  a tool began: the n-th of its answer  w<n>,<n>   it waits, for these of its waits
    e<call>  a tool ended                          r<n>       a wait has ended

Without an `order` each step's tools began in the order of their calls, and then ended in it. What
a turn's messages cannot say is not made up: the order is then `!`, and how much is lost.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from tenure.runtime.machine.answers import Accepted, Answer, returned
from tenure.runtime.machine.machine import distinct
from tenure.runtime.machine.suspended import waiting
from tenure.runtime.model.effect import Journaled
from tenure.runtime.model.event import (
    InputAccepted,
    StepFinished,
    ToolFinished,
    ToolStarted,
    TurnEvent,
    TurnWaiting,
    WaitEnded,
)
from tenure.runtime.model.message import AssistantMessage, Message, ToolCall, ToolMessage
from tenure.runtime.model.wait import OpenWait

_NOTHING = "-"
_LOST = "!"


class Happening(NamedTuple):
    """One happening, and its word in the order of a turn that is over."""

    word: str
    event: TurnEvent


class Asking(NamedTuple):
    """A model call without an answer yet, and under which token it was begun."""

    step: int
    token: str


class Story:
    """The happenings of an open turn: give it what was journaled, in order, and it tells."""

    def __init__(self, turn: str) -> None:
        self.asking: Asking | None = None
        self.answered: list[str] = []  #: under which token each step was
        self._turn = turn
        self._calls: tuple[ToolCall, ...] = ()
        self._last: dict[str, Journaled] = {}

    def tell(self, entries: Iterable[Journaled], waits: Sequence[OpenWait]) -> list[Happening]:
        """What happened by these entries. `waits` are the turn's, as they were opened."""
        return [told for entry in entries for told in self._told(entry, waits)]

    def _told(self, entry: Journaled, waits: Sequence[OpenWait]) -> Iterator[Happening]:
        kind, _, occurrence = entry.key.partition(":")
        before = self._last.get(entry.key)
        self._last[entry.key] = entry
        if before is not None and before.over:
            return
        if kind == "model":
            yield from self._answered(entry, int(occurrence))
        elif kind == "tool":
            yield from self._called(entry, before, int(occurrence.partition(".")[2]), waits)
        elif kind == "accept" and entry.outcome is not None:
            for item in msgspec.convert(entry.outcome.value, tuple[Accepted, ...]):
                event = InputAccepted(turn=self._turn, work=item.work)
                yield Happening(f"a{item.work}", event)
        elif kind == "waiting" and entry.outcome is not None:
            numbers = [_number(waits, wait) for wait in entry.outcome.value]
            yield Happening("w" + ",".join(map(str, numbers)), _waits(self._turn, waits, numbers))

    def _answered(self, entry: Journaled, step: int) -> Iterator[Happening]:
        self.asking = Asking(step, entry.token) if entry.outcome is None else None
        if entry.outcome is not None and entry.outcome.status == "ok":
            answer = msgspec.convert(entry.outcome.value, Answer)
            self._calls = distinct(answer.calls, step)
            self.answered.append(entry.token)
            yield Happening("s", StepFinished(turn=self._turn, step=step, text=answer.text))

    def _called(
        self, entry: Journaled, before: Journaled | None, index: int, waits: Sequence[OpenWait]
    ) -> Iterator[Happening]:
        call = self._call(index, entry)
        waited = _waited(before)
        if waited and (entry.outcome is None or entry.over):
            yield from _ended(self._turn, waits, waited)
        if entry.outcome is None:
            if before is None or waited or before.token != entry.token:
                event: TurnEvent = ToolStarted(turn=self._turn, call=call.id, name=call.name)
                yield Happening(f"b{index}", event)
        elif entry.over:
            status = returned(entry.outcome).status
            event = ToolFinished(turn=self._turn, call=call.id, name=call.name, status=status)
            yield Happening(f"e{index}", event)

    def _call(self, index: int, entry: Journaled) -> ToolCall:
        """The call that an effect is. A protocol may make calls that are in no answer."""
        if index < len(self._calls):
            return self._calls[index]
        return ToolCall(id=entry.key, name="")


def _waited(before: Journaled | None) -> tuple[str, ...]:
    """What a call waited for until now."""
    if before is None or before.outcome is None:
        return ()
    found = waiting(before.outcome)
    return () if found is None else found.on


def _ended(turn: str, waits: Sequence[OpenWait], waited: Sequence[str]) -> Iterator[Happening]:
    for number, wait in enumerate(waits):
        if wait.id in waited and wait.resolution is not None:
            yield Happening(
                f"r{number}", WaitEnded(turn=turn, wait=wait.id, resolution=wait.resolution)
            )


def _number(waits: Sequence[OpenWait], wait: str) -> int:
    return next(number for number, known in enumerate(waits) if known.id == wait)


def _waits(turn: str, waits: Sequence[OpenWait], numbers: Iterable[int]) -> TurnWaiting:
    """That a turn waits, as it was when that began: nothing had been answered."""
    on = tuple(msgspec.structs.replace(waits[number], resolution=None) for number in numbers)
    return TurnWaiting(turn=turn, waits=on)


class Told(NamedTuple):
    """The happenings of a turn that is over, but for its end; `lost` of them nothing can tell."""

    events: tuple[TurnEvent, ...] = ()
    lost: int = 0


def ordered(
    turn: str, told: Sequence[Happening], messages: Sequence[Message], waits: Sequence[OpenWait]
) -> str:
    """The `order` of a turn that ends with these messages, and in which that happened."""
    words = [happening.word for happening in told]
    order = "" if words == _usual(messages) else " ".join(words) or _NOTHING
    events = tuple(happening.event for happening in told)
    if retold(turn, order, messages, waits).events == events:
        return order
    return f"{_LOST}{len(events)}"


def retold(turn: str, order: str, messages: Sequence[Message], waits: Sequence[OpenWait]) -> Told:
    """What happened in a turn that is over, by its messages and their order."""
    if order.startswith(_LOST):
        return Told(lost=int(order.removeprefix(_LOST)))
    words = order.split() if order else _usual(messages)
    if order == _NOTHING:
        words = []
    try:
        return Told(events=tuple(_retold(turn, words, _steps(messages), waits)))
    except (LookupError, ValueError):  # messages of a protocol that makes them in its own way
        return Told(lost=len(words))


class _Step(NamedTuple):
    answer: AssistantMessage
    results: dict[str, ToolMessage]


def _steps(messages: Sequence[Message]) -> list[_Step]:
    """Each answer of the model, with what its calls returned."""
    steps: list[_Step] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.stopped is None:
            steps.append(_Step(message, {}))
        elif isinstance(message, ToolMessage) and steps:
            steps[-1].results[message.call] = message
    return steps


def _usual(messages: Sequence[Message]) -> list[str]:
    words = []
    for step in _steps(messages):
        calls = range(len(step.answer.calls))
        words += ["s", *(f"b{n}" for n in calls), *(f"e{n}" for n in calls)]
    return words


def _retold(
    turn: str, words: Sequence[str], steps: Sequence[_Step], waits: Sequence[OpenWait]
) -> Iterator[TurnEvent]:
    number = 0
    for word in words:
        kind, rest = word[0], word[1:]
        if kind == "s":
            number += 1
            yield StepFinished(turn=turn, step=number, text=steps[number - 1].answer.text)
        elif kind == "a":
            yield InputAccepted(turn=turn, work=rest)
        elif kind == "w":
            yield _waits(turn, waits, map(int, rest.split(",")))
        elif kind == "r":
            wait = waits[int(rest)]
            assert wait.resolution is not None, "it has ended"
            yield WaitEnded(turn=turn, wait=wait.id, resolution=wait.resolution)
        elif number:
            yield _tool_event(turn, kind, steps[number - 1], int(rest))
        else:
            raise ValueError(word)


def _tool_event(turn: str, kind: str, step: _Step, index: int) -> TurnEvent:
    call = step.answer.calls[index]
    if kind == "b":
        return ToolStarted(turn=turn, call=call.id, name=call.name)
    status = step.results[call.id].status
    return ToolFinished(turn=turn, call=call.id, name=call.name, status=status)
