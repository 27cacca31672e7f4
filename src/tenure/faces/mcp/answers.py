"""The objects of the commands behind the tools, as types, so that their schemas can be published.

They say what `docs/reference/json.md` says. Fields may be added to an object, and none is refused.
"""

from typing import Any, Literal

import msgspec

from tenure.gate.explanation import Explanation
from tenure.gate.measurement import Measurement
from tenure.gate.pin import Pin
from tenure.gate.proof import Proof
from tenure.gate.record import RunRecord
from tenure.gate.report import Report
from tenure.gate.requirement import Objection


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """What every object has."""

    ok: bool
    verb: str
    exit_code: int
    meaning: str


class _Asked(Envelope, frozen=True, kw_only=True):
    """What every answer about a checkout has."""

    commit: str
    tree: str
    branch: str | None
    candidate: str
    run: str | None
    worktree: str | None
    proof: Proof | None
    report: Report | None
    objections: tuple[Objection, ...]
    left: dict[str, float | None]


class Done(_Asked, frozen=True, kw_only=True):
    """The answer of `tenure done`. A Proof only where `ok`."""

    outcome: Literal["met", "not met", "unproven", "cancelled", "broken", "running", "left"]


class Onto(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit was merged onto."""

    ref: str
    commit: str


class Measured(_Asked, frozen=True, kw_only=True):
    """The answer of `tenure standards`. It yields no Proof."""

    outcome: Literal[
        "met", "not met", "passed", "failed", "unproven", "cancelled", "broken", "running", "left"
    ]
    standards: tuple[Measurement, ...]
    committed: bool
    pinned: tuple[Pin, ...]
    onto: Onto | None


class Followed(Envelope, frozen=True, kw_only=True):
    """The answer of `tenure follow`; no report while the run goes on."""

    run: str
    outcome: Literal[
        "passed", "failed", "cancelled", "joined", "unproven", "again", "broken", "running", "left"
    ]
    report: Report | None = None


class Explained(Envelope, frozen=True, kw_only=True):
    """The answer of `tenure explain`."""

    explanations: tuple[Explanation, ...]


class Status(Envelope, frozen=True, kw_only=True):
    """The answer of `tenure status`."""

    commit: str
    tree: str
    branch: str | None
    clean: bool
    changes: tuple[str, ...]
    proof: Proof | None
    answers: bool  #: `tenure done` would answer with this Proof now; else only it can say
    runs: tuple[RunRecord, ...]


def schema_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a type: an object at its root, as the protocol asks."""
    (root,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    name = root["$ref"].rpartition("/")[2]
    found: dict[str, Any] = parts.pop(name)
    if parts:
        found["$defs"] = parts
    return found
