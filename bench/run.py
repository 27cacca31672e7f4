"""Every claim, one after the other: `make bench`, or `python bench/run.py [--quick] [SCRIPT…]`."""

import sys
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Measure, arguments, present

#: One script for each claim; each runs alone as well.
SCRIPTS = (
    "proof_exists",
    "proof_exists_large",
    "four_jobs",
    "bind_and_settle",
    "many_processes",
    "takeover",
    "runtime_turn",
    "runtime_growth",
    "runtime_sessions",
    "runtime_waits",
    "runtime_resumes",
    "runtime_agents",
)


def _measure_of(script: str) -> Measure:
    found: Measure = import_module(f"bench.{script}").measure
    return found


if __name__ == "__main__":
    chosen = arguments(SCRIPTS)
    sys.exit(present([_measure_of(name) for name in chosen.only or SCRIPTS], chosen))
