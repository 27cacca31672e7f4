"""Standards: a number that a job's result says, and the limit it has to keep.

Values and pure rules. A number is its decimal text (`gate/number.py`); `gate/metric.py` reads
it, and nothing rounds it. A metric that is missing is *unmeasured*, never zero.
"""

from typing import Final, Literal

import msgspec

from tenure.gate.digest import digest
from tenure.gate.measurement import Direction, Measurement, Verdict

MetricKind = Literal["json", "regex", "junit", "cobertura", "line"]

DIRECTIONS: Final[tuple[Direction, ...]] = ("up", "down")


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """Where a number stands: `what` in `file`, a path among the job's outputs, read as `kind`.

    A `line` is one that the job printed; it has no file.
    """

    kind: MetricKind
    what: str
    file: str = ""

    def __str__(self) -> str:
        if self.kind == "line":
            return f"the line TENURE_METRIC {self.what}"
        return f"{self.file} ({self.kind} {self.what})"


class Standard(msgspec.Struct, frozen=True, kw_only=True):
    """One standard of a policy: the number that `metric` reads from the result of `job`.

    With direction `up` a greater number is better, with `down` a smaller one. The limit is
    kept as long as the number is no worse than it by more than the margin.
    """

    name: str
    job: str
    metric: Metric
    direction: Direction
    limit: str
    margin: str = "0"

    @property
    def bound(self) -> str:
        """The worst number that keeps the limit."""
        from tenure.gate.number import minus, plus

        move = minus if self.direction == "up" else plus
        return move(self.limit, self.margin)

    def keeps(self, value: str) -> bool:
        """Whether a number keeps the limit."""
        from tenure.gate.number import at_most

        up = self.direction == "up"
        return at_most(self.bound, value) if up else at_most(value, self.bound)

    def pinned(self, value: str) -> str:
        """The limit that this number allows: one margin short of it, or the present one.

        So a number that scatters by up to the margin to either side never turns red because
        a lucky one was pinned. The answer is never looser than the limit is.
        """
        from tenure.gate.number import at_most, minus, plus

        up = self.direction == "up"
        wanted = (minus if up else plus)(value, self.margin)
        looser = at_most(wanted, self.limit) if up else at_most(self.limit, wanted)
        return self.limit if looser else wanted


class StandardRequirement(msgspec.Struct, frozen=True, kw_only=True):
    """A standard that a candidate has to meet; `job` is the requirement it is measured from."""

    name: str
    standard: Standard
    job: str


def measured(
    required: StandardRequirement,
    value: str | None,
    *,
    receipt: str | None,
    detail: str = "",
) -> Measurement:
    """The judgement of `value`, or of its absence, which `detail` explains."""
    standard = required.standard
    verdict: Verdict = "unmeasured" if receipt else "unrun"
    if value is not None:
        verdict = "met" if standard.keeps(value) else "missed"
    return Measurement(
        standard=required.name,
        verdict=verdict,
        value=value,
        limit=standard.limit,
        margin=standard.margin,
        direction=standard.direction,
        job=required.job,
        source=str(standard.metric),
        receipt=receipt,
        detail=detail,
    )


def standard_digest(standard: Standard) -> str:
    """The digest of a standard's definition; every field counts."""
    return digest("standard", msgspec.to_builtins(standard))


def remade(old: Standard, new: Standard) -> bool:
    """Whether the number is another one by now: read elsewhere, or from another job."""
    return (old.job, old.metric) != (new.job, new.metric)


def loosened(old: Standard, new: Standard) -> str:
    """How `new` allows what `old` does not, in words; empty if it allows nothing more."""
    from tenure.gate.number import at_most

    if old.direction != new.direction:
        return f"direction from {old.direction!r} to {new.direction!r}"
    up = old.direction == "up"
    if at_most(old.bound, new.bound) if up else at_most(new.bound, old.bound):
        return ""
    changes = [
        f"{key} from {before} to {after}"
        for key, before, after in (
            ("limit", old.limit, new.limit),
            ("margin", old.margin, new.margin),
        )
        if before != after
    ]
    return " and ".join(changes)
