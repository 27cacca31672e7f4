"""Plant known faults one by one and see each caught: `python -m tests.mutations [--only NAME] [-j N]`.

A law is only as good as the fault it turns red for. Each fault is planted in a copy of the
project, and the tests named with it must fail there. What survives is a law that is missing.
"""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.mutations.adopted import ADOPTED
from tests.mutations.faces import FACES
from tests.mutations.gate_answer import ANSWERS
from tests.mutations.gate_evidence import EVIDENCE
from tests.mutations.gate_inner import INNER
from tests.mutations.gate_jobs import WORK
from tests.mutations.gate_many import MANY
from tests.mutations.gate_question import QUESTION
from tests.mutations.gate_run import PROTOCOL
from tests.mutations.gate_standards import STANDARDS
from tests.mutations.gate_store import STORE
from tests.mutations.guests import GUESTS
from tests.mutations.hooks import HOOKS
from tests.mutations.observing import OBSERVING
from tests.mutations.overlay import sound, tried
from tests.mutations.owners import KEEPER, OWNERS
from tests.mutations.people import PEOPLE
from tests.mutations.rules import RULES
from tests.mutations.runtime import RUNTIME
from tests.mutations.servers import SERVERS
from tests.mutations.service import SERVICE
from tests.mutations.stores import STORES
from tests.mutations.waits import WAITS

KERNEL = (*RULES, *KEEPER, *OWNERS, *STORES)
GATE = (
    *STORE,
    *INNER,
    *QUESTION,
    *WORK,
    *PROTOCOL,
    *ANSWERS,
    *STANDARDS,
    *EVIDENCE,
    *MANY,
    *FACES,
    *PEOPLE,
    *HOOKS,
)
MUTATIONS = (
    *KERNEL,
    *GATE,
    *RUNTIME,
    *WAITS,
    *SERVERS,
    *OBSERVING,
    *GUESTS,
    *ADOPTED,
    *SERVICE,
)


def main() -> int:
    """Try the chosen faults, print a line for each, and say whether every one was caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="faults whose name contains this")
    parser.add_argument("-j", dest="jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    given = parser.parse_args()
    chosen = [one for one in MUTATIONS if given.only is None or given.only in one.name]
    if not chosen:
        print(f"no fault is called {given.only!r}", file=sys.stderr)
        return 2
    obstacle = sound([one.tests for one in chosen])
    if obstacle is not None:
        print(obstacle, file=sys.stderr)
        return 2
    survivors = 0
    width = max(len(one.name) for one in chosen)
    with ThreadPoolExecutor(given.jobs) as threads:
        for mutation, outcome in zip(chosen, threads.map(tried, chosen), strict=True):
            survivors += not outcome.caught
            mark = "caught" if outcome.caught else "MISSED"
            print(f"{mark}  {mutation.name:{width}}  {outcome.says}", flush=True)
    print(f"{len(chosen) - survivors} of {len(chosen)} planted faults were caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
