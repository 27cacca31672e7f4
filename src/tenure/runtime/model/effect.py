"""Effects: anything outside, named by what it is and never by when it happened."""

from functools import cached_property
from typing import Literal

import msgspec

from tenure.runtime.model.json import Json, digest

#: part: of a tool call or of a run, recorded for itself. run: of an adopted agent, made of parts.
EffectKind = Literal["model", "tool", "accept", "part", "run"]
#: What is started again if its outcome is unknown: asking a model costs no more than its price, and
#: a run of an adopted agent does nothing outside but its parts.
RERUN: frozenset[EffectKind] = frozenset({"model", "run"})
#: waiting: it is not over, and waits for answers from outside.
OutcomeStatus = Literal["ok", "error", "in_doubt", "waiting"]


class Effect(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One effect of a turn. `(kind, occurrence)` names it; the request says what was asked."""

    kind: EffectKind
    occurrence: str  #: "3" for the third model call, "3.1" for the second tool call of its answer
    request: Json

    @property
    def key(self) -> str:
        """Its replay key within the turn."""
        return f"{self.kind}:{self.occurrence}"

    @cached_property
    def request_hash(self) -> str:
        """What a replay is checked against."""
        return digest("effect", self.request)


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What an effect returned: a value, an error in words, or that nobody knows."""

    status: OutcomeStatus
    value: Json = None


class Journaled(msgspec.Struct, frozen=True, kw_only=True):
    """An effect as the journal has it. `outcome` is None for an intent without an outcome."""

    key: str
    request_hash: str
    generation: int
    token: str
    outcome: Outcome | None = None

    @property
    def over(self) -> bool:
        """Whether its outcome is final."""
        return self.outcome is not None and self.outcome.status != "waiting"

    @property
    def counts(self) -> bool:
        """Whether it is progress. A boundary where nothing waited is none, nor is waiting."""
        if not self.over or self.key.startswith("waiting:"):
            return False
        assert self.outcome is not None, "it is over"
        return bool(self.outcome.value) or not self.key.startswith("accept:")


def effect_key(turn: str, key: str) -> str:
    """A stable idempotency key for outside APIs: the same for every try of the same effect."""
    return digest("effect key", [turn, key])
