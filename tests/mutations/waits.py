"""Faults in durable waits."""

from tests.mutations.planted import Mutation

MEMORY = ("tests/conformance/test_memory.py::TestWaits",)
SQLITE = ("tests/conformance/test_sqlite.py::TestWaits",)
TURNS = ("tests/runtime/test_waits.py", "tests/runtime/test_parts.py")

WAITS = (
    Mutation(
        "whoever answers last is heard",
        "runtime/waits.py",
        "    if known.resolution is not None:\n"
        "        return Answered(resolution=known.resolution, first=False, turn=known.turn)\n",
        "",
        MEMORY,
    ),
    Mutation(
        "an answer between the look and the wait is lost",
        "runtime/suspending.py",
        "    if ended:\n        return ended\n",
        "",
        MEMORY,
    ),
    Mutation(
        "a turn that waits keeps its lane",
        "runtime/suspending.py",
        "    let_go(tx, fence)\n",
        "",
        MEMORY,
    ),
    Mutation(
        "a turn that waits keeps its claim",
        "runtime/suspending.py",
        "    ledger.abandon_claim(tx, claim)\n",
        "",
        SQLITE,
    ),
    Mutation(
        "somebody else's turn is suspended",
        "runtime/suspending.py",
        "    if turn.claim != claim:\n        raise ClaimSuperseded(claim=claim, rows=(turn.work,))\n",
        "",
        MEMORY,
    ),
    Mutation(
        "a turn whose end was asked for waits on",
        "runtime/suspending.py",
        "        raise TurnCancelRequested(turn=turn_id, reason=reason)\n",
        "        pass\n",
        MEMORY,
    ),
    Mutation(
        "a wait is opened by anybody",
        "runtime/waits.py",
        "    ledger.hold_lane(tx, fence)\n",
        "",
        MEMORY,
    ),
    Mutation(
        "a wait that has timed out is answered",
        "runtime/waits.py",
        "    known = settled(rows, known, now)\n    if known.resolution",
        "    if known.resolution",
        MEMORY,
    ),
    Mutation(
        "a turn that waits is driven for ever",
        "runtime/driving.py",
        "        if not may_go_on(rows, turn, now):\n            return None\n",
        "",
        MEMORY,
    ),
    Mutation(
        "an answer is no progress",
        "runtime/driving.py",
        "        recorded += answered(rows, turn)\n",
        "",
        TURNS,
    ),
    Mutation(
        "a turn that is over is still asked for",
        "runtime/commit.py",
        '    revoke(rows, rows.waits_of_turn(turn.id), "its turn is over", wall_ns)\n',
        "",
        MEMORY,
    ),
    Mutation(
        "a cancelled turn waits on",
        "runtime/sessions.py",
        "                waits.go_on(rows, known, self._clock.now().wall_ns)\n",
        "                pass\n",
        MEMORY,
    ),
    Mutation(
        "any key answers",
        "runtime/model/wait.py",
        "    return wait if hmac.compare_digest(signature, _signature(wait, secret)) else None\n",
        "    return wait\n",
        MEMORY,
    ),
    Mutation(
        "what comes after a turn that waits overtakes it",
        "runtime/stores/sqlite/queries/list_sessions_to_drive.sql",
        "            AND session.open_turn IS NULL\n",
        "",
        SQLITE,
    ),
    Mutation(
        "a timer that is due wakes nobody",
        "runtime/stores/sqlite/queries/list_sessions_to_drive.sql",
        "AND due_at <= :now",
        "AND due_at < 0",
        SQLITE,
    ),
    Mutation(
        "a part is carried out again",
        "runtime/effects/calls.py",
        "        if known is not None and known.outcome is not None:\n",
        "        if known is None and self._parts is None:\n",
        TURNS,
    ),
    Mutation(
        "a call that goes on after its wait is never in doubt again",
        "runtime/effects/stored.py",
        "            self._intended.discard(effect.key)  # from here on it is in doubt once more\n",
        "",
        TURNS,
    ),
    Mutation(
        "a changed question takes the old answer",
        "runtime/model/wait.py",
        '    return digest("wait", [turn, effect, name, asked])\n',
        '    return digest("wait", [turn, effect, name])\n',
        TURNS,
    ),
    Mutation(
        "an answer waits for the next look",
        "runtime/resolving.py",
        "        if got.first:\n",
        "        if not got.turn:\n",
        (f"{TURNS[0]}::test_an_answer_wakes_who_waits_here_without_a_look_at_the_store",),
    ),
)
