"""Receipts: what one job returned for one exact input. Immutable once published."""

from typing import Literal

import msgspec

#: How a job that really ran ended. Only these are published; the rest proves nothing about the input.
ReceiptOutcome = Literal["passed", "failed", "killed", "timed_out", "not_found"]


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """One file that a job declared and wrote, as it was captured."""

    path: str  #: relative to the root of the checkout
    digest: str  #: sha256 of the content, its name among the store's captured outputs
    size: int
    executable: bool = False
    link: str = ""  #: what a symbolic link inside a declared directory points to


class MetricLine(msgspec.Struct, frozen=True):
    """One line `TENURE_METRIC name number` that a job printed; the number is as it was printed."""

    name: str
    number: str


class Try(msgspec.Struct, frozen=True, kw_only=True):
    """A time that a job was run before the one its receipt tells of: it did not pass."""

    outcome: ReceiptOutcome
    code: int | None = None
    signal: int | None = None
    seconds: float
    log: str  #: path of its output, relative to the store
    detail: str = ""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """One execution of one requirement.

    `sequence` is the order of publication in its store. That and `dropped` are what the store
    knows about it; the rest is what was published.
    """

    id: str
    repository: str
    requirement: str
    identity: str  #: digest of everything that the result depends on
    parts: dict[str, str]  #: what the identity was made of, to explain a miss
    outcome: ReceiptOutcome
    code: int | None = None
    signal: int | None = None
    attempt: str
    run: str
    worktree: str  #: where it ran, for people
    started_wall_ns: int
    seconds: float  #: all tries together
    log: str  #: path of the job's output, relative to the store
    earlier: tuple[Try, ...] = ()  #: tries that did not pass, and were followed by another
    outputs: tuple[Output, ...] = ()
    metrics: tuple[MetricLine, ...] = ()  #: of a pass, in the order in which they were printed
    survivors: tuple[str, ...] = ()  #: processes it left behind and that were killed
    detail: str = ""  #: the sentence for outcomes that need one
    sequence: int = 0
    dropped: str = ""  #: why it was dropped; from then on it answers for nothing

    @property
    def passed(self) -> bool:
        """Whether it may be relied on."""
        return self.outcome == "passed" and not self.dropped

    @property
    def flaky(self) -> bool:
        """Whether it passed after it had not: it counts once, in its own run, and is not reused."""
        return self.outcome == "passed" and bool(self.earlier)
