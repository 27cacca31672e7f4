"""Faults in what observers are shown."""

from tests.mutations.planted import Mutation

EVENTS = "tests/runtime/test_observing.py"
ELSEWHERE = "tests/runtime/test_observing_elsewhere.py"
ENDS = "tests/runtime/test_observing_ends.py"

OBSERVING = (
    Mutation(
        "an observer that comes back sees everything again",
        "runtime/observing.py",
        "        self._place = read_cursor(after, turn)\n",
        "        self._place = read_cursor(after, turn)._replace(happened=0, tape='')\n",
        (f"{EVENTS}::test_cut_at_any_event_the_rest_is_what_follows",),
    ),
    Mutation(
        "pieces that are lost are lost in silence",
        "runtime/observing.py",
        "        elif self._place.tape:\n            yield self._resync(answer.step",
        "        elif False:\n            yield self._resync(answer.step",
        (f"{ELSEWHERE}::test_cut_at_any_event_and_restarted_nothing_is_lost_in_silence",),
    ),
    Mutation(
        "a step that somebody else drives is passed over in silence",
        "runtime/observing.py",
        "        if asking is not None and not self._wiring.tapes.ours(self._turn, asking.token):\n",
        "        if asking is None and self._place.tape:\n",
        (f"{ELSEWHERE}::test_what_another_runtime_drives_is_shown_as_it_is_recorded",),
    ),
    Mutation(
        "a slow observer is shown what is left and not told what is missing",
        "runtime/tape.py",
        "            while len(pieces) > most or",
        "            pieces = pieces[-most:]\n            while",
        (f"{EVENTS}::test_a_slow_observer_is_told_what_it_missed_and_sees_the_end",),
    ),
    Mutation(
        "a tape forgets nothing",
        "runtime/tape.py",
        "        self._pieces: deque[Piece] = deque(maxlen=LENGTH)\n",
        "        self._pieces: deque[Piece] = deque()\n",
        (f"{EVENTS}::test_more_than_a_tape_holds_is_a_resync_and_not_a_memory_leak",),
    ),
    Mutation(
        "what was said before a model is asked again is said twice",
        "runtime/tape.py",
        "                    self._keep(TextRetracted(turn=event.turn, step=event.step), step)\n",
        "                    pass\n",
        (f"{ELSEWHERE}::test_what_was_said_before_the_same_runtime_asks_again_is_retracted",),
    ),
    Mutation(
        "tools are shown in the order of their calls once a turn is over",
        "runtime/commit.py",
        "        order=order,\n",
        '        order="",\n',
        (f"{EVENTS}::test_cut_at_any_event_the_rest_is_what_follows",),
    ),
    Mutation(
        "that a turn waits is not recorded",
        "runtime/suspending.py",
        "    rows.put_entries(turn_id, [_waits(rows, turn_id, fence, on)])\n",
        "",
        (f"{ENDS}::test_a_turn_that_waits_three_times_is_shown_so_and_its_usage_once",),
    ),
    Mutation(
        "waiting counts as progress",
        "runtime/model/effect.py",
        'if not self.over or self.key.startswith("waiting:"):',
        "if not self.over:",
        (f"{ENDS}::test_to_wait_is_no_progress",),
    ),
    Mutation(
        "a turn that waits is shown as it is now and not as it was",
        "runtime/happenings.py",
        "    on = tuple(msgspec.structs.replace(waits[number], resolution=None) for number in numbers)\n",
        "    on = tuple(waits[number] for number in numbers)\n",
        (f"{ENDS}::test_what_waits_is_shown_with_keys_that_answer_it_long_after",),
    ),
    Mutation(
        "a call that waited does not say that it was answered",
        "runtime/happenings.py",
        "            yield from _ended(self._turn, waits, waited)\n",
        "            pass\n",
        (f"{ENDS}::test_a_turn_that_waits_three_times_is_shown_so_and_its_usage_once",),
    ),
    Mutation(
        "an intent that is stored twice is a tool that begins twice",
        "runtime/happenings.py",
        "            if before is None or waited or before.token != entry.token:\n",
        "            if True:\n",
        ("tests/runtime/test_happenings.py",),
    ),
    Mutation(
        "an observer is not told that something was recorded",
        "runtime/tape.py",
        "        self.emit(Moved(turn=self._turn))\n",
        "        pass\n",
        (f"{EVENTS}::test_what_is_recorded_late_is_shown_when_it_is", "--timeout=10"),
    ),
    Mutation(
        "a cursor of another turn is taken",
        "runtime/cursor.py",
        "    if mark != _mark(turn):\n",
        "    if False:\n",
        (f"{EVENTS}::test_a_cursor_that_is_none_is_refused",),
    ),
    Mutation(
        "a cursor ahead of everything is taken",
        "runtime/observing.py",
        "        if self._place.happened > most:\n",
        "        if False:\n",
        (f"{EVENTS}::test_a_cursor_that_is_none_is_refused",),
    ),
    Mutation(
        "an observer of a deleted session waits for ever",
        "runtime/retelling.py",
        "    if session is not None:\n        present(rows, session)\n",
        "",
        (f"{EVENTS}::test_a_deleted_session_ends_the_observation",),
    ),
    Mutation(
        "what a turn does not keep is passed over in silence",
        "runtime/observing.py",
        '            yield self._resync(0, None, "not_kept")\n',
        "            pass\n",
        (f"{EVENTS}::test_a_turn_whose_messages_were_too_many_says_that_nothing_of_it_is_kept",),
    ),
    Mutation(
        "whoever leaves a stream leaves it driving",
        "runtime/session.py",
        "            driving.cancel()\n",
        "            pass\n",
        ("tests/runtime/test_leaving.py::test_a_stream_that_is_left_hands_its_turn_back",),
    ),
)
