"""Proofs: the record that a candidate met every requirement of its policy."""

from typing import Literal

import msgspec

from tenure.gate.measurement import Measurement

Source = Literal["executed", "reused"]


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """The receipt behind one requirement of a Proof."""

    requirement: str
    identity: str
    receipt: str
    source: Source  #: whether this attempt executed it
    run: str  #: the run that executed it
    worktree: str
    executed_wall_ns: int
    seconds: float
    flaky: bool = False  #: whether it took a retry to pass


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """A Proof exists only together with the settlement of its attempt as passed.

    It holds as long as every receipt in it is the newest of its identity: a newer failure
    voids it. It is evidence, not security: whoever can write the store can forge one.
    """

    id: str
    repository: str
    candidate: str  #: identity: tree, judging policy, requirement set
    attempt: str
    run: str
    tree: str
    commit: str
    branch: str | None
    base: str | None
    judged_by: str  #: where the judging policy came from: base, tip or own (bootstrap)
    policy: str  #: digest of the judging policy
    requirements: str  #: digest of the requirement set
    accepted: tuple[str, ...]  #: policy changes accepted by name
    evidence: tuple[Evidence, ...]
    standards: tuple[Measurement, ...] = ()
    worktree: str
    settled_wall_ns: int
    store: str

    @property
    def executed(self) -> int:
        """How many requirements its own attempt executed."""
        return sum(1 for item in self.evidence if item.source == "executed")

    @property
    def flaky(self) -> tuple[str, ...]:
        """The requirements that passed by a retry."""
        return tuple(item.requirement for item in self.evidence if item.flaky)
