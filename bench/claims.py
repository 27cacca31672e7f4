"""Claims: what was promised, what was measured, and how both are shown."""

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bench.measuring import Samples, load

Measure = Callable[[bool], "list[Claim]"]


class Limit(NamedTuple):
    """One number that must not be exceeded."""

    what: str
    limit: float
    measured: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether it holds."""
        return self.measured <= self.limit

    def __str__(self) -> str:
        if self.limit == 0:
            return f"{self.what}: {self.measured:g}"
        verdict = "met" if self.met else f"NOT MET by {self.measured - self.limit:.2f} {self.unit}"
        return (
            f"{self.what}: {self.measured:.2f} {self.unit} of {self.limit:g} {self.unit}: {verdict}"
        )


class Row(NamedTuple):
    """One line of a table: a case, and how it compares with the floor."""

    name: str
    samples: Samples
    floor: Samples

    @property
    def ratio(self) -> float:
        """Best against best."""
        return self.samples.best / self.floor.best


class Claim(NamedTuple):
    """One promise. `rows` are what it was measured beside, `notes` what has to be said."""

    title: str
    limits: tuple[Limit, ...]
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """Whether every limit holds."""
        return all(limit.met for limit in self.limits)

    def as_object(self) -> dict[str, Any]:
        """What `--json` prints of it."""
        return {
            "title": self.title,
            "met": self.met,
            "limits": [{**limit._asdict(), "met": limit.met} for limit in self.limits],
            "rows": [
                {
                    "name": row.name,
                    "best_ms": row.samples.best,
                    "median_ms": row.samples.median,
                    "ratio": row.ratio,
                    "rounds": len(row.samples.milliseconds),
                }
                for row in self.rows
            ],
            "notes": list(self.notes),
        }


def rows(taken: dict[str, Samples], floor: str) -> tuple[Row, ...]:
    """Every case beside the floor, quickest first."""
    found = [Row(name, samples, taken[floor]) for name, samples in taken.items()]
    return tuple(sorted(found, key=lambda row: row.samples.best))


def show(claim: Claim) -> None:
    """Print a claim for people."""
    print(f"\n{claim.title}")
    if claim.rows:
        print(f"  {'':28} {'best':>9} {'median':>9} {'× floor':>8}")
        for row in claim.rows:
            print(
                f"  {row.name:28} {row.samples.best:7.2f}ms {row.samples.median:7.2f}ms "
                f"{row.ratio:8.2f}"
            )
    for limit in claim.limits:
        print(f"  {'✓' if limit.met else '✗'} {limit}")
    for note in claim.notes:
        print(f"  · {note}")
    sys.stdout.flush()


def machine() -> str:
    """Where this was measured."""
    cores = len(os.sched_getaffinity(0))
    return f"{platform.platform()}, Python {platform.python_version()}, {cores} cores"


def main(measure: Measure) -> int:
    """Run one script alone. The exit code is 1 if a budget is not met."""
    return present([measure], arguments())


def arguments(names: Sequence[str] = ()) -> argparse.Namespace:
    """What was typed; `names` are scripts that may be chosen."""
    parser = argparse.ArgumentParser(description="Measure what is promised, beside a floor.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, for a first look")
    parser.add_argument(
        "--urgent", action="store_true", help="with real-time priority: other programs wait"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead")
    if names:
        parser.add_argument("only", nargs="*", metavar="SCRIPT", help=f"of: {', '.join(names)}")
    chosen = parser.parse_args()
    unknown = set(getattr(chosen, "only", ())) - set(names)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    return chosen


def _hurry() -> None:
    """Come before every other program, with everything that is started from here on.

    Raises:
        SystemExit: this user may not.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
    except PermissionError:
        sys.exit("--urgent: this user may not ask for real-time priority")


def present(measures: Sequence[Measure], chosen: argparse.Namespace) -> int:
    """Measure and print, one claim after the other."""
    before, claims = load(), []
    if chosen.urgent:
        _hurry()
    if not chosen.json:
        print(f"{machine()}, load {before}{', urgent' if chosen.urgent else ''}")
    for measure in measures:
        for claim in measure(chosen.quick):
            claims.append(claim)
            if not chosen.json:
                show(claim)
    missed = [claim.title for claim in claims if not claim.met]
    if chosen.json:
        told = [claim.as_object() for claim in claims]
        about = {
            "machine": machine(),
            "urgent": chosen.urgent,
            "load_before": before,
            "load_after": load(),
        }
        print(json.dumps({"met": not missed, **about, "claims": told}))
    else:
        print(f"\nload {before} before, {load()} after")
        print("every budget is met" if not missed else f"not met: {'; '.join(missed)}")
    return 1 if missed else 0
