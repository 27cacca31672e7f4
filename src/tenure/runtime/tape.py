"""Tapes: the last pieces of the turns that this runtime drives, in memory, for whoever observes.

Nobody waits for anybody here. A tape takes what it is given, forgets the oldest, and is read
from any thread.
"""

import secrets
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

from tenure.runtime.model.event import (
    ModelRetried,
    Moved,
    StepFinished,
    TextDelta,
    TextRetracted,
    TurnEvent,
    TurnFinished,
)

LENGTH = 1024  #: pieces of one turn
IDLE = 64  #: turns that are not driven any more, whose tapes are kept

Emit = Callable[[TurnEvent], None]


class Piece(NamedTuple):
    """One piece: which of its tape, of which step, and what."""

    number: int
    step: int
    event: TurnEvent


class Recent(NamedTuple):
    """What a tape has at one moment of a step and later ones."""

    tape: str
    pieces: tuple[Piece, ...]  #: of steps from `whole_from` on
    whole_from: int  #: of earlier steps not all is there
    last: int  #: the number of the last piece there was
    moves: int  #: how often something was recorded
    text: tuple[int, str]  #: the last step that said something, and its text if it is not whole

    def of(self, step: int) -> list[Piece]:
        """The pieces of one step."""
        return [piece for piece in self.pieces if piece.step == step]


class Tape:
    """The pieces of one turn. `id` tells it from every other tape of that turn."""

    def __init__(self) -> None:
        self.id = secrets.token_hex(4)
        self.drivers = 0  #: pick-ups that write on it right now
        self.tokens: set[str] = set()  #: under which any of them wrote
        self.answered = 0  #: the last step whose answer one of them was given
        self._lock = threading.Lock()
        self._pieces: deque[Piece] = deque(maxlen=LENGTH)
        self._last = 0
        self._step = 0
        self._said: list[str] = []
        self._said_under = ""
        self._forgotten = 0  #: the latest step of which a piece is forgotten
        self._moves = 0

    @property
    def moves(self) -> int:
        """How often something was recorded."""
        return self._moves

    def moved(self) -> None:
        """Something was recorded."""
        with self._lock:
            self._moves += 1

    def put(self, event: TurnEvent, step: int, token: str) -> None:
        """Keep a piece of a step, told under a token. What another told of that step is void."""
        with self._lock:
            if isinstance(event, TextDelta):
                if event.step != self._step:
                    self._step, self._said = event.step, []
                if self._said and self._said_under != token:
                    self._keep(TextRetracted(turn=event.turn, step=event.step), step)
                self._said_under = token
            self._keep(event, step)

    def _keep(self, event: TurnEvent, step: int) -> None:
        if len(self._pieces) == LENGTH:
            self._forgotten = self._pieces[0].step
        self._last += 1
        self._pieces.append(Piece(self._last, step, event))
        if isinstance(event, TextDelta):
            self._said.append(event.text)
        elif isinstance(event, TextRetracted):
            self._said = []

    def since(self, number: int, step: int, most: int, *, anew: bool = False) -> Recent:
        """The pieces after a number, or from a step on if the number is 0: at most so many, and
        of a step all or none. `anew`: none of this step."""
        with self._lock:
            oldest = self._last - len(self._pieces) + 1
            kept = islice(self._pieces, max(0, number + 1 - oldest), None)
            pieces = [piece for piece in kept if piece.step >= step]
            whole_from = step + anew
            if number + 1 < oldest:
                whole_from = max(whole_from, self._forgotten + 1)
            while len(pieces) > most or (pieces and pieces[0].step < whole_from):
                whole_from = max(whole_from, pieces[0].step + 1)
                pieces = [piece for piece in pieces if piece.step >= whole_from]
            text = "".join(self._said) if self._step < whole_from else ""
            return Recent(
                self.id, tuple(pieces), whole_from, self._last, self._moves, (self._step, text)
            )


class Tapes:
    """The tapes of one runtime, by turn, and the tokens under which it drives."""

    def __init__(self, watchers: Emit, *, journals: bool) -> None:
        self._watchers = watchers
        self._journals = journals
        self._lock = threading.Lock()
        self._of: OrderedDict[str, Tape] = OrderedDict()
        self._tokens: set[str] = set()

    def of(self, turn: str) -> Tape | None:
        """The tape of a turn that is or was driven here."""
        return self._of.get(turn)

    def ours(self, turn: str, token: str) -> bool:
        """Whether what is done under a token is on this runtime's tape of the turn."""
        tape = self._of.get(turn)
        return token in self._tokens or (tape is not None and token in tape.tokens)

    def expect(self, token: str) -> None:
        """Somebody here is about to drive under this token."""
        self._tokens.add(token)

    def done(self, token: str) -> None:
        """They are not any more."""
        self._tokens.discard(token)

    def begin(self, turn: str, token: str) -> "Recorder":
        """Write on a turn's tape from now on."""
        with self._lock:
            tape = self._of.setdefault(turn, Tape())
            tape.drivers += 1
            tape.tokens.add(token)
        return Recorder(tape, turn, token, self._watchers, journals=self._journals)

    def end(self, turn: str) -> None:
        """Write no more. The tapes of turns that nobody drives here are few."""
        with self._lock:
            self._of[turn].drivers -= 1
            self._of.move_to_end(turn)
            idle = [turn for turn, tape in self._of.items() if not tape.drivers]
            for oldest in idle[: max(0, len(idle) - IDLE)]:
                del self._of[oldest]


class Recorder:
    """What one driver tells its events to."""

    def __init__(
        self, tape: Tape, turn: str, token: str, watchers: Emit, *, journals: bool
    ) -> None:
        self._tape = tape
        self._turn = turn
        self._token = token
        self._watchers = watchers
        self._journals = journals

    def emit(self, event: TurnEvent) -> None:
        """Keep what is a piece, and tell whoever watches.

        Without a journal everything but the end is a piece, of one step as long as the turn.
        """
        if isinstance(event, TextDelta | TextRetracted | ModelRetried):
            self._tape.put(event, event.step if self._journals else 1, self._token)
        elif self._journals or isinstance(event, TurnFinished):
            self._tape.moved()
        else:
            self._tape.put(event, 1, self._token)
        if isinstance(event, StepFinished):
            self._tape.answered = event.step
        self._watchers(event)

    def moved(self) -> None:
        """Something was recorded."""
        self.emit(Moved(turn=self._turn))
