"""Faults in how somebody who asks is answered: from a Proof, by a run, in one object."""

from tests.mutations.planted import Mutation

SHORTCUT = "tests/gate/test_shortcut.py"
INQUIRY = "tests/gate/test_inquiry.py"
NARRATION = "tests/gate/test_narration.py"
INTERRUPTS = "tests/scenarios/test_interrupts.py"

SHORT = (
    Mutation(
        "the shortcut answers on a dirty tree",
        "gate/shortcut.py",
        "if not snapshot.clean or snapshot.head != position.head:",
        "if snapshot.head != position.head:",
        (f"{SHORTCUT}::test_a_dirty_tree_is_not_answered",),
    ),
    Mutation(
        "the shortcut does not see a newer failure",
        "gate/stores/sqlite/queries/find_memos.sql",
        "            ) <> 'passed'\n",
        "            ) = 'never'\n",
        (f"{SHORTCUT}::test_a_proof_that_a_newer_failure_voids_is_not_answered",),
    ),
    Mutation(
        "the shortcut does not ask for the base",
        "gate/stores/sqlite/queries/find_memos.sql",
        "    AND memo.base = :base\n",
        "    AND :base <> ''\n",
        (f"{SHORTCUT}::test_the_same_tree_on_another_base_is_not_answered",),
    ),
    Mutation(
        "a memo forgets the PATH",
        "gate/situation.py",
        '{"HOME", "PATH", "VIRTUAL_ENV"}',
        '{"HOME", "VIRTUAL_ENV"}',
        (f"{SHORTCUT}::test_another_environment_is_not_answered",),
    ),
    Mutation(
        "a memo forgets the tip of the trunk",
        "gate/memo.py",
        'tip=(found.snapshot.trunk_tip or "") if found.candidate.judging is not Judging.BASE else "",',
        'tip="",',
        (f"{SHORTCUT}::test_a_policy_that_moved_on_with_the_trunk_is_not_answered",),
    ),
    Mutation(
        "a memo holds whatever the variables say",
        "gate/shortcut.py",
        "        if digest != (None if value is None else keyed(secret.encode(), name, value)):\n",
        '        if name == "PATH" and value is None:\n',
        (f"{SHORTCUT}::test_another_environment_is_not_answered",),
    ),
    Mutation(
        "a memo holds whatever became of the programs",
        "gate/shortcut.py",
        "return still_holds([(os.path.join(top, path), stat) for path, stat in watched])",
        "return True",
        (f"{SHORTCUT}::test_another_program_of_the_same_name_is_not_answered",),
    ),
    Mutation(
        "the trunk is what it once was",
        "gate/shortcut.py",
        'if not refs or not still_holds(_paths(connection, "list_trunk_paths", {})):',
        "if not refs:",
        (f"{SHORTCUT}::test_a_trunk_that_is_another_one_now_is_not_answered",),
    ),
)

ASKING = (
    Mutation(
        "a follower adopts a kill",
        "gate/report.py",
        '_VERDICTS = frozenset({"failed", "unrun", "no_output", ',
        '_VERDICTS = frozenset({"killed", "failed", "unrun", "no_output", ',
        (f"{INQUIRY}::test_the_end_of_a_followed_run_is_ours_only_if_it_is_about_the_candidate",),
    ),
    Mutation(
        "a follower does not ask whether a takeover is licensed by now",
        "gate/inquiry.py",
        "if now is None or not now.bound or store.licence(now) is not None:",
        "if now is None or not now.bound:",
        (f"{INQUIRY}::test_a_followed_run_that_goes_silent_is_followed_no_longer_than_its_lease",),
    ),
    Mutation(
        "a job may wait for the run it belongs to",
        "gate/inquiry.py",
        "                self._refuse_inside(store)\n",
        "",
        (f"{INQUIRY}::test_a_job_of_a_run_does_not_ask_about_its_own_repository",),
    ),
    Mutation(
        "a Proof answers though a job was removed",
        "gate/inquiry.py",
        "if found.required.objections and (kind.proves or ",
        "if self._question.rerun and found.required.objections and (kind.proves or ",
        (f"{INQUIRY}::test_a_policy_that_removes_a_job_is_not_met_whatever_was_proven",),
    ),
    Mutation(
        "an interrupted starter leaves before the end is recorded",
        "gate/inquiry.py",
        "            self._cancel(started, run)\n",
        "            self._cancel(started, run)\n"
        "            return self._leave(found, None, heard[0], run)\n",
        (f"{INTERRUPTS}::test_an_interrupt_of_the_starter_is_answered_after_the_recorded_end",),
    ),
)

TELLING = (
    Mutation(
        "an event that is half written is lost",
        "gate/narration.py",
        '*lines, self._rest = (self._rest + chunk).split(b"\\n")',
        '*lines, self._rest = chunk.split(b"\\n")',
        (NARRATION,),
    ),
    Mutation(
        "a run waits for whoever does not look",
        "gate/narration.py",
        "        except BlockingIOError:\n            pass\n",
        "        except BlockingIOError:\n            raise\n",
        (NARRATION,),
    ),
    Mutation(
        "the object is printed twice",
        "faces/cli/session.py",
        'self.output.write(encoded(envelope).decode() + "\\n")',
        'self.output.write((encoded(envelope).decode() + "\\n") * 2)',
        ("tests/faces/test_bad_policy.py::test_each_problem_of_a_policy_is_in_the_object",),
    ),
    Mutation(
        "not met is met for the caller's shell",
        "faces/cli/session.py",
        "            stream.drain(signals.descriptor)\n        return code\n",
        "            stream.drain(signals.descriptor)\n        return 0\n",
        ("tests/faces/test_bad_policy.py::test_each_problem_of_a_policy_is_in_the_object",),
    ),
)

ANSWERS = (*SHORT, *ASKING, *TELLING)
