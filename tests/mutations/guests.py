"""Faults in what other frameworks keep here."""

from tests.mutations.planted import Mutation

MEMORY = ("tests/conformance/test_memory.py::TestGuests",)
GRAPHS = ("tests/guests/test_langgraph.py",)
FOOTING = "runtime/guests/footing.py"

GUESTS = (
    Mutation(
        "a guest writes over what it did not see",
        FOOTING,
        "    if record.head != (footing.seen or 0) and not (together and mine):\n",
        "    if False:\n",
        MEMORY,
    ),
    Mutation(
        "a guest's hold is not looked at",
        FOOTING,
        "        ledger.renew_lane(tx, footing.fence, now)\n",
        "        pass\n",
        MEMORY,
    ),
    Mutation(
        "a guest without a hold asks nobody",
        FOOTING,
        "        ledger.release(tx, take(tx, footing, new_id(), now).fence)\n",
        "        pass\n",
        MEMORY,
    ),
    Mutation(
        "a guest keeps the lane it took for a write",
        FOOTING,
        "        ledger.release(tx, take(tx, footing, new_id(), now).fence)\n",
        "        take(tx, footing, new_id(), now)\n",
        MEMORY,
    ),
    Mutation(
        "items whose reply was lost are appended again",
        "runtime/guests/items.py",
        "            if rows.call_of_item(footing.session, first) == call:\n                return after\n",
        "",
        MEMORY,
    ),
    Mutation(
        "an agent's session is taken for a guest's",
        FOOTING,
        "    if found.host != host:\n        raise HostMismatch(session=session, recorded=found.host, here=host)\n    return found\n\n\ndef known",
        "    return found\n\n\ndef known",
        MEMORY,
    ),
    Mutation(
        "a thread goes on from where it went on before",
        "runtime/guests/checkpoints.py",
        "                _require_last(rows, snapshot)\n",
        "                pass\n",
        GRAPHS,
    ),
    Mutation(
        "a stale run writes on an old checkpoint",
        "runtime/guests/checkpoints.py",
        "                if last is not None and there is not None and last.id != checkpoint:\n",
        "                if False:\n",
        GRAPHS,
    ),
    Mutation(
        "values that are still named are pruned",
        "runtime/guests/checkpoints.py",
        "            if (one.ns, channel, str(version)) not in named:\n",
        "            if True:\n",
        GRAPHS,
    ),
)
