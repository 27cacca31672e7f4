"""Visits every state that a small model can reach, breadth first, and keeps the shortest proof of a fault.

The model says which steps a state allows and which laws a step or a state breaks. The
explorer adds what no single state can show: that nothing waits for ever and nothing goes
round in circles.
"""

from collections import Counter, deque
from collections.abc import Hashable, Iterable
from typing import Generic, Protocol, TypeVar

import msgspec

S = TypeVar("S")

#: Who does what, to which. Unique among the steps of one state.
Label = tuple[str, str, str]


class Step(msgspec.Struct, Generic[S], frozen=True):
    """One step out of a state. `broken` says which law it breaks, "" for none.

    An adverse step is one nobody can count on: the world may take it and may as well not.
    """

    label: Label
    target: S
    adverse: bool = False
    broken: str = ""


class Model(Protocol[S]):
    """A system of finitely many states."""

    def initial(self) -> S:
        """Where it begins."""
        ...

    def steps(self, state: S) -> Iterable[Step[S]]:
        """Every step the state allows. A step that changes nothing is none."""
        ...

    def key(self, state: S) -> Hashable:
        """Equal for equal states; small and quick to hash."""
        ...

    def broken(self, state: S) -> str:
        """Which law the state breaks, "" for none."""
        ...

    def done(self, state: S) -> bool:
        """Whether nobody is left who has anything to do."""
        ...

    def describe(self, state: S) -> str:
        """The state on one line, for a trace."""
        ...


class Counterexample(msgspec.Struct, frozen=True):
    """A law that was broken, and the shortest way there."""

    law: str
    trace: tuple[Label, ...]
    lines: tuple[str, ...]  #: the same for people: each step and the state it led to

    def __str__(self) -> str:
        return "\n".join((f"BROKEN: {self.law}", *self.lines))


class Report(msgspec.Struct, frozen=True):
    """What was visited, and the first fault met. Without a fault the visit is complete."""

    states: int
    steps: int
    ends: int  #: states in which nobody has anything left to do
    depth: int  #: how many steps the farthest state is away
    taken: dict[str, int]  #: steps by what was done
    fault: Counterexample | None


class TooLarge(Exception):
    """The model has more states than the caller allowed; nothing was proven."""


class Explorer(Generic[S]):
    """One visit to one model. `limit` bounds its states."""

    def __init__(self, model: Model[S], *, limit: int = 5_000_000) -> None:
        self._model = model
        self._limit = limit
        self._numbers: dict[Hashable, int] = {}
        self._parents: list[tuple[int, Label]] = []
        self._depths: list[int] = []
        self._targets: list[tuple[int, ...]] = []
        self._taken: Counter[str] = Counter()
        self._ends = 0

    def run(self) -> Report:
        """Visit everything, or stop at the first fault.

        Raises:
            TooLarge: there are more than `limit` states.
        """
        fault = self._visit() or self._circle()
        return Report(
            states=len(self._parents),
            steps=sum(self._taken.values()),
            ends=self._ends,
            depth=max(self._depths),
            taken=dict(sorted(self._taken.items())),
            fault=fault,
        )

    def _visit(self) -> Counterexample | None:
        start = self._model.initial()
        queue = deque([start])
        self._number(start, 0, ("", "starts", ""), depth=0)
        source = 0
        while queue:
            state = queue.popleft()
            fault = self._expand(source, state, queue)
            if fault is not None:
                return fault
            source += 1
        return None

    def _expand(self, source: int, state: S, queue: "deque[S]") -> Counterexample | None:
        model = self._model
        law = model.broken(state)
        if law:
            return self._counterexample(law, source)
        targets: list[int] = []
        stuck = True
        for step in model.steps(state):
            self._taken[step.label[1]] += 1
            if step.broken:
                return self._counterexample(step.broken, source, step.label)
            number = self._numbers.get(model.key(step.target))
            if number is None:
                number = self._number(step.target, source, step.label, self._depths[source] + 1)
                queue.append(step.target)
            targets.append(number)
            stuck = stuck and step.adverse
        self._targets.append(tuple(targets))
        if model.done(state):
            self._ends += 1
        elif stuck:
            return self._counterexample("somebody waits for ever", source)
        return None

    def _number(self, state: S, parent: int, label: Label, depth: int) -> int:
        number = len(self._parents)
        if number >= self._limit:
            raise TooLarge(f"more than {self._limit} states")
        self._numbers[self._model.key(state)] = number
        self._parents.append((parent, label))
        self._depths.append(depth)
        return number

    def _circle(self) -> Counterexample | None:
        """A state from which the model can come back, if there is one.

        States are taken away as long as one has no way in; what cannot be taken away lies on
        a circle or behind one, and walking backwards from it must repeat a state.
        """
        ways_in = [0] * len(self._targets)
        for targets in self._targets:
            for target in targets:
                ways_in[target] += 1
        free = [number for number, ways in enumerate(ways_in) if not ways]
        for number in free:
            for target in self._targets[number]:
                ways_in[target] -= 1
                if not ways_in[target]:
                    free.append(target)
        left = {number for number, ways in enumerate(ways_in) if ways}
        if not left:
            return None
        behind = {t: number for number in left for t in self._targets[number]}
        walked: set[int] = set()
        number = next(iter(left))
        while number not in walked:
            walked.add(number)
            number = behind[number]
        return self._counterexample("this state can come back: nothing ends", number)

    def _counterexample(self, law: str, state: int, last: Label | None = None) -> Counterexample:
        trace = [] if last is None else [last]
        while state:
            state, label = self._parents[state]
            trace.append(label)
        trace.reverse()
        return Counterexample(law, tuple(trace), replay(self._model, trace))


def replay(model: Model[S], trace: Iterable[Label]) -> tuple[str, ...]:
    """Each step of a trace and the state it leads to, for people."""
    state = model.initial()
    lines = [f"      start: {model.describe(state)}"]
    for number, label in enumerate(trace, 1):
        step = next(step for step in model.steps(state) if step.label == label)
        state = step.target
        lines.append(f"  {number:3} {' '.join(label).strip()}: {model.describe(state)}")
    return tuple(lines)
