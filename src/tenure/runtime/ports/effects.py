"""Effect hosts: how effects of a turn are started, awaited and recorded.

`EffectHost` is outside a turn, `Drive` inside one. Completion order is decided in one place,
`Drive.next`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

import msgspec

from tenure.runtime.commit import CommitRequest
from tenure.runtime.model.effect import Effect, Outcome
from tenure.runtime.model.session import HostKind
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.tools.calls import Calls
from tenure.runtime.wait_store import Suspension

#: Carries out one effect where it runs. Never raises what is the effect's own failure.
Perform = Callable[[Effect], Awaitable[Outcome]]


class Happened(NamedTuple):
    """The outcome of one effect, as it arrived."""

    key: str
    outcome: Outcome
    replayed: bool = False  #: the journal had it


class HostCaps(msgspec.Struct, frozen=True, kw_only=True):
    """What a kind of host can do."""

    kind: HostKind
    durable: bool  #: whether a turn survives its process
    max_outcome_bytes: int


class Drive(Protocol):
    """One pick-up of one turn."""

    def recorded(self, effect: Effect) -> Outcome | None:
        """The journal's outcome of an effect; *in doubt* for one that somebody else started.

        Nothing is started and nothing is written for it.

        Raises: ReplayMismatch: the journal has another request under its key.
        """
        ...

    def start(self, effect: Effect) -> None:
        """Have an effect in flight. Its intent is durable before anything outside happens."""
        ...

    async def next(self, ended: "asyncio.Future[None]") -> Happened | None:
        """THE choice point: the next outcome of what is in flight; None if `ended` comes first."""
        ...

    async def accept(self, boundary: Effect, otherwise: Sequence[Effect]) -> Outcome:
        """Take in what waits for a boundary; if nothing does, `otherwise` comes next."""
        ...

    async def commit(self, request: CommitRequest, boundary: Effect | None) -> TurnResult | Outcome:
        """Commit, unless input waits for `boundary`, which is then taken in instead."""
        ...

    async def suspend(self, claim: str, on: Sequence[str]) -> Suspension:
        """Have the turn wait for any of these waits, which nobody drives meanwhile; what of them
        has ended already instead, after which effects that waited may be started again.

        Raises: TurnCancelRequested: it does not wait.
        """
        ...

    def calls(self, effect: Effect) -> Calls:
        """The store, as the tool call of this effect sees it."""
        ...

    async def stop(self) -> list[Happened]:
        """Start nothing more, end what runs; what it returned all the same.

        What does not end within the host's patience is left to itself and has no outcome.
        """
        ...

    async def record(self) -> None:
        """Record every outcome that is not recorded yet. `commit` does so by itself."""
        ...
