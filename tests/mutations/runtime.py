"""Faults in what decides, stores and drives turns."""

from tests.mutations.planted import Mutation

BOOKS = "tests/conformance/test_memory.py"
ADMISSION = (f"{BOOKS}::TestAdmission",)
JOURNAL = (f"{BOOKS}::TestJournal",)
COMMIT = (f"{BOOKS}::TestCommit",)
MACHINE = ("tests/runtime/test_machine.py",)
LEAVING = ("tests/runtime/test_leaving.py",)
TOOLS = ("tests/runtime/test_tools.py",)
KILLED = ("tests/crash/test_killed.py",)
TRACE = ("tests/crash/test_trace.py",)

DECISIONS = (
    Mutation(
        "a store may lie where other machines write too",
        "runtime/stores/sqlite/access.py",
        "        self._path = _of_this_machine(os.path.abspath(path))\n",
        "        self._path = os.path.abspath(path)\n",
        ("tests/runtime/test_wiring.py",),
    ),
    Mutation(
        "the journal is written by anybody",
        "runtime/driving.py",
        "    ledger.hold_lane(tx, fence)\n    turn = rows.turn(turn_id)\n",
        "    turn = rows.turn(turn_id)\n",
        JOURNAL,
    ),
    Mutation(
        "a recorded outcome is written over",
        "runtime/driving.py",
        "        if not entry.over:\n            entries.append(msgspec",
        "        if entry.outcome != outcome:\n            entries.append(msgspec",
        JOURNAL,
    ),
    Mutation(
        "a replay may ask for something else",
        "runtime/driving.py",
        "        raise ReplayMismatch(turn=turn, key=effect.key)\n",
        "        return\n",
        JOURNAL,
    ),
    Mutation(
        "input that was taken in is taken in again",
        "runtime/driving.py",
        "    outcome = None if entry is None else entry.outcome\n",
        "    outcome = None\n",
        JOURNAL,
    ),
    Mutation(
        "pick-ups are not counted",
        "runtime/driving.py",
        "drives = turn.drives + 1 if",
        "drives = turn.drives if",
        JOURNAL,
    ),
    Mutation(
        "a recorded outcome is no progress",
        "runtime/driving.py",
        " if recorded == turn.recorded else 1\n",
        "\n",
        JOURNAL,
    ),
    Mutation(
        "anybody's claim is handed back",
        "runtime/driving.py",
        "    if turn.claim != claim or turn.over:\n",
        "    if turn.over:\n",
        COMMIT,
    ),
    Mutation(
        "what was handed back may be committed",
        "runtime/driving.py",
        "    ledger.abandon_claim(tx, claim)\n",
        "",
        COMMIT,
    ),
    Mutation(
        "a commit with other content is a repetition",
        "runtime/commit.py",
        "            raise CommitConflict(turn=turn.id)\n",
        "            return result_of(rows, turn)\n",
        COMMIT,
    ),
    Mutation(
        "a commit needs no claim",
        "runtime/commit.py",
        "    ledger.close_claim(tx, request.claim, [turn.work])\n",
        "",
        COMMIT,
    ),
    Mutation(
        "a commit does not look where the session is",
        "runtime/commit.py",
        "    if session.head != request.head or session.open_turn != turn.id:\n",
        "    if session.open_turn != turn.id:\n",
        COMMIT,
    ),
    Mutation(
        "a turn that was asked to end is completed",
        "runtime/commit.py",
        '    if reason is not None and request.draft.status != "cancelled":\n',
        '    if reason is not None and request.draft.status == "stopped":\n',
        COMMIT,
    ),
    Mutation(
        "a commit may be of any size",
        "runtime/commit.py",
        "    _within(request)\n    return",
        "    return",
        COMMIT,
    ),
    Mutation(
        "a commit keeps the lane",
        "runtime/commit.py",
        "    if request.fence is not None:\n        let_go(tx, request.fence)\n",
        "",
        COMMIT,
    ),
    Mutation(
        "input that a turn did not take in is lost with it",
        "runtime/commit.py",
        "    free_inputs_of(rows, session.id, turn.id, turn.program)\n    _send",
        "    _send",
        JOURNAL,
    ),
    Mutation(
        "a repeated commit leaves out what its boundary took in",
        "runtime/driving.py",
        "    if entry is not None and entry.outcome is not None:\n        return entry.outcome\n",
        "",
        COMMIT,
    ),
    Mutation(
        "the journal of a turn that is over is written on",
        "runtime/driving.py",
        "    return None if turn.over else turn\n",
        "    return turn\n",
        COMMIT,
    ),
    Mutation(
        "what a turn says to others is not sent",
        "runtime/commit.py",
        "    _send(rows, turn.id, draft.outbox, wall_ns)\n",
        "",
        COMMIT,
    ),
    Mutation(
        "input that a turn took in and does not tell of is lost",
        "runtime/commit.py",
        "    free_what_was_left_out(rows, session.id, turn.id, turn.program, draft.accepted)\n",
        "",
        COMMIT,
    ),
    Mutation(
        "a typed answer that is empty is none",
        "runtime/stores/sqlite/shapes.py",
        "values[-1] != default or type(values[-1]) is not type(default)",
        'values[-1] not in ("", None)',
        ("tests/conformance/test_sqlite.py::TestCommit",),
    ),
    Mutation(
        "the id of work names its turn",
        "runtime/stores/sqlite/rows.py",
        "        if not is_turn(turn):\n            return None\n",
        "",
        ("tests/conformance/test_sqlite.py::TestCommit",),
    ),
    Mutation(
        "a page begins at the wrong message",
        "runtime/stores/sqlite/queries/list_messages.sql",
        "turn.begins_with_work AND turn.opened_at_head >= ?2",
        "turn.begins_with_work",
        ("tests/conformance/test_sqlite.py::TestCommit",),
    ),
    Mutation(
        "work that is over is still waiting",
        "runtime/stores/sqlite/rows.py",
        "            self._known[key] = others\n        elif",
        "            pass\n        elif",
        ("tests/conformance/test_sqlite.py::TestAdmission",),
    ),
    Mutation(
        "a queue that is too long to be known is cut short",
        "runtime/stores/sqlite/rows.py",
        "(self._key_of(session), _FEW + 1)",
        "(self._key_of(session), _FEW)",
        ("tests/conformance/test_sqlite.py::TestAdmission",),
    ),
    Mutation(
        "a session that is gone is woken",
        "runtime/commit.py",
        "        if there is None or there.deleted:\n            continue\n",
        "",
        COMMIT,
    ),
    Mutation(
        "vacuum drops what a key stands for",
        "runtime/stores/sqlite/queries/remove_cancelled.sql",
        "< ? AND source_key IS NULL",
        "< ?",
        ("tests/conformance/test_sqlite.py::TestCommit",),
    ),
    Mutation(
        "a turn returns another turn's words",
        "runtime/commit.py",
        "rows.messages(turn.session, end.text_at - 1, 1)",
        "rows.messages(turn.session, 1, 1)",
        COMMIT,
    ),
    Mutation(
        "the same key is admitted twice",
        "runtime/admission.py",
        "        known = rows.by_source_key(new.session, new.source_key)\n",
        "        known = None\n",
        ADMISSION,
    ),
    Mutation(
        "a key may be used for something else",
        "runtime/admission.py",
        "        if known.content_hash != new.content_hash:\n",
        "        if known.session != new.session:\n",
        ADMISSION,
    ),
    Mutation(
        "a busy session is asked all the same",
        "runtime/admission.py",
        '    if on_busy == "fail":\n',
        '    if on_busy == "wait" and new.active:\n',
        ADMISSION,
    ),
    Mutation(
        "only the first sessions are looked at",
        "runtime/sessions.py",
        "                if len(page) < most:\n                    break\n",
        "                break\n",
        ADMISSION,
    ),
)

DRIVING = (
    Mutation(
        "an effect begins before its intent is stored",
        "runtime/effects/stored.py",
        "        await self._flush([e for e in self._intents if e.key not in self._intended])\n"
        "        for effect in self._intents:\n"
        "            self._running.start(effect)\n",
        "        for effect in self._intents:\n"
        "            self._running.start(effect)\n"
        "        await asyncio.sleep(0.05)\n"
        "        await self._flush([e for e in self._intents if e.key not in self._intended])\n",
        TRACE,
    ),
    Mutation(
        "what is in doubt is made again, whatever its tool says",
        "runtime/effects/stored.py",
        '        if how == "rerun":\n',
        '        if how != "never":\n',
        KILLED,
    ),
    Mutation(
        "what is recorded is made again",
        "runtime/effects/stored.py",
        "        if outcome is None:\n            self._intents.append(effect)\n",
        '        if outcome is None or outcome.status == "ok":\n'
        "            self._intents.append(effect)\n",
        KILLED,
    ),
    Mutation(
        "a turn is picked up for ever",
        "runtime/driver.py",
        "self._assignment.turn.drives > budget.drives",
        "self._assignment.turn.drives > 1000 + budget.drives",
        ("tests/crash/test_no_progress.py",),
    ),
    Mutation(
        "whoever was robbed is told of a fault",
        "runtime/picking.py",
        "            except _TAKEN:\n                return None\n",
        "            except HeadConflict:\n                return None\n",
        (
            f"{TOOLS[0]}::test_a_blocked_loop_that_was_robbed_commits_nothing_and_gets_the_thiefs_result",
        ),
    ),
    Mutation(
        "whoever leaves keeps the turn",
        "runtime/picking.py",
        '            await self._hand_back(turn.claim or "", fence)\n            raise\n',
        "            raise\n",
        LEAVING,
    ),
    Mutation(
        "what arrived is forgotten by whoever leaves",
        "runtime/driver.py",
        "            if not isinstance(error, Doubt):\n                await self._drive.record()\n",
        "            del error\n",
        (f"{LEAVING[0]}::test_what_a_tool_returns_while_it_is_asked_to_end_is_recorded",),
    ),
    Mutation(
        "results stand in the order of their arrival",
        "runtime/machine/machine.py",
        "            self.messages.append(self._results[call.id])\n",
        "            self.messages.append(self._results.pop(next(iter(self._results))))\n",
        MACHINE,
    ),
    Mutation(
        "a turn that ends early leaves its calls open",
        "runtime/machine/machine.py",
        "        self._close_calls()\n        self._note(",
        "        self._note(",
        MACHINE,
    ),
)

RUNTIME = (*DECISIONS, *DRIVING)
