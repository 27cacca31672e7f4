"""`python -m tenure.testing.search [--deep]`: search every scenario and print what was visited."""

import argparse
import sys
import time
from collections.abc import Sequence

from tenure.testing.search.scenarios import DEEP, EVERY_TIME
from tenure.testing.search.session_scenarios import SESSIONS, SESSIONS_DEEP
from tenure.testing.search.wait_scenarios import WAITS, WAITS_DEEP


def main(arguments: Sequence[str] | None = None) -> int:
    """Search, print counts, and the shortest trace of each fault; 1 if there is any."""
    parser = argparse.ArgumentParser(prog="python -m tenure.testing.search", description=__doc__)
    parser.add_argument("--deep", action="store_true", help="search the large models too")
    deep = parser.parse_args(arguments).deep
    faults = 0
    print(f"{'states':>9} {'steps':>9} {'ends':>8} {'depth':>5} {'seconds':>7}")
    more = (*DEEP, *SESSIONS_DEEP, *WAITS_DEEP) if deep else ()
    for scenario in (*EVERY_TIME, *SESSIONS, *WAITS, *more):
        started = time.monotonic()
        report = scenario.search()
        seconds = time.monotonic() - started
        print(
            f"{report.states:9} {report.steps:9} {report.ends:8} {report.depth:5} {seconds:7.1f}"
            f"  {scenario.name}",
            flush=True,
        )
        if report.fault is not None:
            faults += 1
            print(report.fault)
    print("every state was visited, no law was broken" if not faults else f"{faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
