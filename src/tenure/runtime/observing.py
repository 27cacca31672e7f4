"""Observing: what happens in one turn, for one observer, from any place in it.

What is recorded is read from the store, where it is the same for everybody. The pieces of the
step under way come from this runtime's tape, if it drives. An observer takes both at its own
pace: it admits nothing, drives nothing, and nobody waits for it.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterator
from typing import Any, Literal

from tenure.runtime.cursor import Cursor, read_cursor
from tenure.runtime.errors import CursorUnknown, TurnMissing, WiringError
from tenure.runtime.happenings import Story
from tenure.runtime.model.event import (
    Event,
    Observed,
    Resync,
    StepFinished,
    TurnEvent,
    TurnFinished,
)
from tenure.runtime.retelling import Look
from tenure.runtime.tape import LENGTH, Recent
from tenure.runtime.watching import until_set
from tenure.runtime.wiring import Wiring

#: How many pieces may wait for one observer, if nobody says otherwise.
BUFFER = LENGTH


class Observation:
    """One observer's way through one turn.

    Raises: CursorUnknown: `after` is no cursor of the turn; WiringError: a buffer for nothing.
    """

    def __init__(
        self, wiring: Wiring, turn: str, after: str | None, *, buffer: int, poll: float
    ) -> None:
        if buffer < 1:
            raise WiringError(what=f"buffer={buffer} shows nothing", next="give one or more")
        self._wiring = wiring
        self._turn = turn
        self._after = after
        self._place = read_cursor(after, turn)
        self._buffer = buffer
        self._poll = poll
        self._story = Story(turn)
        self._known = 0  #: puts into the journal that the story has
        self._happened: list[TurnEvent] = []  #: all that is known to have
        self._found: Look | None = None  #: the last look at the store
        self._steps = 0  #: finished, up to its place
        self._moves = -1  #: of the tape, when the store was last looked at
        self._elsewhere = 0  #: the last step that was said to be under way elsewhere
        self._over = False

    async def observe(
        self, admitting: "asyncio.Future[Any] | None" = None
    ) -> AsyncGenerator[Observed, None]:
        """Everything behind its place, until the turn is over. While somebody is `admitting` it,
        it need not be there yet; what they raise is raised here."""
        look = asyncio.Event()
        due = True
        with self._wiring.watchers.watching(self._turn, lambda _: look.set()):
            if admitting is not None:
                admitting.add_done_callback(lambda _: look.set())
            while True:
                look.clear()
                admitted = admitting is None or admitting.done()
                try:
                    await self._look(due or (admitting is not None and admitted))
                except TurnMissing:
                    if admitted:
                        _raise_what(admitting)
                        raise
                for observed in self._shown():
                    yield observed
                if self._over:
                    return
                if admitted:
                    _raise_what(admitting)
                due = not await until_set(look, self._poll * random.uniform(0.5, 1.0))

    # looking

    async def _look(self, due: bool) -> None:
        """Take the tape, and then read the store if something was recorded since: before a piece
        was on the tape, everything that comes before it was recorded."""
        if self._found is None:
            await self._read()
            self._begin()
            due = False
        self._recent = self._on_tape()
        moves = -1 if self._recent is None else self._recent.moves
        if due or moves != self._moves:
            await self._read()

    async def _read(self) -> None:
        tape = self._wiring.tapes.of(self._turn)
        moves = -1 if tape is None else tape.moves
        session = None if self._found is None else self._found.session
        store, known = self._wiring.store, self._known
        found = await self._wiring.asking.call(lambda: store.look_at(self._turn, session, known))
        self._moves = moves
        self._found = found
        if found.over is not None:
            self._happened = list(found.over.events)
            return
        self._known += len(found.written)
        for entries in found.written:
            told = self._story.tell(entries, found.waits)
            self._happened += [happening.event for happening in told]

    def _begin(self) -> None:
        """Find its place in what has happened. Raises: CursorUnknown: nothing has, there."""
        found = self._found
        assert found is not None, "it was looked at"
        most = len(self._happened)
        if found.over is not None:
            most += found.over.lost + 1
        if self._place.happened > most:
            what = "so much has not happened yet"
            raise CursorUnknown(cursor=self._after, turn=self._turn, what=what)
        if found.over is not None and self._place.happened == most:
            self._over = True  # its end was shown
        before = self._happened[: self._place.happened]
        self._steps = sum(isinstance(event, StepFinished) for event in before)

    def _on_tape(self) -> Recent | None:
        tape = self._wiring.tapes.of(self._turn)
        if tape is None:
            return None
        mine = self._place.tape == tape.id
        return tape.since(
            self._place.piece if mine else 0,
            self._steps + 1,
            self._buffer,
            anew=bool(self._place.tape) and not mine,
        )

    # showing

    def _shown(self) -> Iterator[Observed]:
        """What is there behind its place, in order."""
        found = self._found
        if found is None or self._over:
            return
        for event in self._happened[self._place.happened :]:
            if isinstance(event, StepFinished):
                yield from self._up_to_the_answer(event)
                self._steps += 1
            yield self._go_on(event)
        if found.over is None:
            yield from self._under_way()
            return
        if self._place.happened < found.over.lost:
            self._place = Cursor(found.over.lost)
            yield self._resync(0, None, "not_kept")
        elif self._whole(self._steps + 1):
            yield from self._pieces()
        elif self._place.tape or not found.journaled:
            yield self._resync(self._steps + 1, None, self._why())
        assert found.result is not None, "it is over"
        self._over = True
        yield self._go_on(TurnFinished(turn=self._turn, result=found.result))

    def _up_to_the_answer(self, answer: StepFinished) -> Iterator[Observed]:
        """The pieces before an answer. It says everything that they do, to whoever saw none."""
        if self._whole(answer.step) and self._answered_here(answer.step):
            yield from self._pieces()
        elif self._place.tape:
            yield self._resync(answer.step, answer.text, self._why())

    def _under_way(self) -> Iterator[Observed]:
        """The pieces of the step under way, or what is known of it."""
        step, asking, recent = self._steps + 1, self._story.asking, self._recent
        if asking is not None and not self._wiring.tapes.ours(self._turn, asking.token):
            if self._place.tape or self._elsewhere != step:
                self._elsewhere = step
                self._place = Cursor(self._place.happened)
                yield self._resync(step, None, "not_here")
        elif self._whole(step):
            yield from self._pieces()
        elif recent is not None:
            said, text = recent.text
            why = self._why()
            self._place = Cursor(self._place.happened, recent.tape, recent.last)
            yield self._resync(said, text, why)
        elif self._place.tape:
            self._place = Cursor(self._place.happened)
            yield self._resync(step, None, "not_here")

    def _pieces(self) -> Iterator[Observed]:
        recent = self._recent
        assert recent is not None, "it is whole"
        for piece in recent.of(self._steps + 1):
            self._place = Cursor(self._place.happened, recent.tape, piece.number)
            yield self._observed(piece.event)

    def _whole(self, step: int) -> bool:
        """Whether the tape has every piece of a step behind its place."""
        return self._recent is not None and self._recent.whole_from <= step

    def _answered_here(self, step: int) -> bool:
        """Whether what the tape has of a step led to its answer."""
        tokens = self._story.answered
        if step <= len(tokens):
            return self._wiring.tapes.ours(self._turn, tokens[step - 1])
        tape = self._wiring.tapes.of(self._turn)  # its journal is gone
        return tape is not None and tape.answered >= step

    def _why(self) -> Literal["overrun", "not_here"]:
        """Why pieces behind its place are not here."""
        mine = self._recent is not None and self._place.tape in ("", self._recent.tape)
        return "overrun" if mine else "not_here"

    def _resync(
        self, step: int, text: str | None, why: Literal["overrun", "not_here", "not_kept"]
    ) -> Observed:
        return self._observed(Resync(turn=self._turn, step=step, text=text, reason=why))

    def _go_on(self, event: TurnEvent) -> Observed:
        self._place = Cursor(self._place.happened + 1)
        return self._observed(event)

    def _observed(self, event: TurnEvent) -> Observed:
        assert isinstance(event, Event), "every event is one of those that are declared"
        return Observed(cursor=self._place.text(self._turn), event=event)


def _raise_what(admitting: "asyncio.Future[Any] | None") -> None:
    """Raise what somebody who was admitting raised."""
    if admitting is not None:
        admitting.result()
