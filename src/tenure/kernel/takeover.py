"""Takeovers: what licenses one, and what is recorded of it."""

from typing import Literal

import msgspec

from tenure.kernel.clock import Instant

Ground = Literal["lapsed", "gone", "declared"]


class Licence(msgspec.Struct, frozen=True, kw_only=True):
    """Why somebody may ask to take over: the lease lapsed, the owner is gone, or an operator says so."""

    ground: Ground
    evidence: str  #: one sentence for people, recorded as it is


class Takeover(msgspec.Struct, frozen=True, kw_only=True):
    """Who ended somebody else's hold, when, and on which evidence."""

    by: str
    at: Instant
    licence: Licence

    @property
    def evidence(self) -> str:
        """The recorded evidence, as one phrase."""
        return f"{self.licence.ground}: {self.licence.evidence}"
