"""The trace sink: where spans go. A sink never fails a turn."""

from abc import ABC, abstractmethod
from typing import Literal

import msgspec

from tenure.runtime.model.json import Json

SpanKind = Literal["turn", "model", "tool"]


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """One finished piece of work. `id` derives from what it is, so that a replay has the same."""

    id: str  #: 16 hexadecimal digits
    trace: str  #: 32 hexadecimal digits: the turn
    parent: str | None
    kind: SpanKind
    name: str
    started_wall_ns: int
    ended_wall_ns: int
    replayed: bool = False
    status: str = "ok"
    attributes: dict[str, Json] = {}


class TraceSink(ABC):
    """Takes spans as they finish."""

    @abstractmethod
    def span(self, span: Span) -> None:
        """Take one span. Called on the event loop; must not block for long."""
        ...

    def flush(self) -> None:
        """Make what was taken durable, as far as that is the sink's to do. Default: nothing."""
