"""Effect hosts: how effects of a turn are started, awaited and recorded.

`EffectHost` is outside a turn, `Drive` inside one. Completion order is decided in one place,
`Drive.next`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from tenure.runtime.commit import CommitRequest
from tenure.runtime.model.effect import Effect, Outcome
from tenure.runtime.model.session import HostKind
from tenure.runtime.model.turn import TurnResult

#: Carries out one effect where it runs. Never raises what is the effect's own failure.
Perform = Callable[[Effect], Awaitable[Outcome]]


class HostCaps(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind of host can do."""

    kind: HostKind
    durable: bool  #: whether a turn survives its process
    max_outcome_bytes: int


class Drive(Protocol):
    """One pick-up of one turn."""

    def recorded(self, effect: Effect) -> Outcome | None:
        """The journal's outcome of an effect.

        Raises: ReplayMismatch: the journal has another request under its key.
        """
        ...

    def start(self, effect: Effect) -> None:
        """Have an effect in flight. Its intent is durable before anything outside happens."""
        ...

    async def next(self) -> tuple[str, Outcome, bool]:
        """THE choice point: the next outcome of what is in flight, and whether it was replayed."""
        ...

    async def accept(self, boundary: Effect, otherwise: Sequence[Effect]) -> Outcome:
        """Take in what waits for a boundary; if nothing does, `otherwise` comes next."""
        ...

    async def commit(self, request: CommitRequest, boundary: Effect | None) -> TurnResult | Outcome:
        """Commit, unless input waits for `boundary`, which is then taken in instead."""
        ...

    async def stop(self) -> None:
        """Start nothing more, end what runs, and record what it returned."""
        ...
