"""Faults of the inner loop: files as they are, fix jobs, explanations and trials."""

from tests.mutations.planted import Mutation

CHECK = "tests/gate/test_check.py"
TREE = "tests/gate/test_working_tree.py"
WHY = "tests/gate/test_explanation.py"
TRIAL = "tests/gate/test_trial.py"
CHECKOUT = "tests/gate/test_checkout.py"

INNER = (
    Mutation(
        "a check settles with a Proof",
        "gate/kind.py",
        'CHECK = Kind(name="check", attempt="check", committed=False, proves=False, joins=False)',
        'CHECK = Kind(name="check", attempt="check", committed=False, proves=True, joins=False)',
        (f"{CHECK}::test_a_check_settles_as_one_and_proves_nothing",),
    ),
    Mutation(
        "two checks are one question",
        "gate/situation.py",
        "    if question.rerun or not kind.joins:",
        "    if question.rerun:",
        (f"{CHECK}::test_every_check_is_a_question_of_its_own",),
    ),
    Mutation(
        "a check on the trunk is judged as the commit it stands on",
        "gate/worktree.py",
        "base=self.next_base if moved_on else self.base,",
        "base=self.base,",
        (f"{CHECK}::test_an_old_definition_is_checked_as_it_will_be_required",),
    ),
    Mutation(
        "hooks run when files are added to a copy of the index",
        "gate/working_tree.py",
        '    "core.hooksPath=/dev/null",\n',
        '    "core.bare=false",\n',
        (f"{TREE}::test_index_objects_refs_hooks_and_files_are_left_as_they_are",),
    ),
    Mutation(
        "objects of a check stay in the repository",
        "gate/working_tree.py",
        "index=self._index, objects=self._objects",
        "index=self._index",
        (f"{TREE}::test_index_objects_refs_hooks_and_files_are_left_as_they_are",),
    ),
    Mutation(
        "git is believed where it was told not to look",
        "gate/working_tree.py",
        "        self._doubt(claimed)\n",
        "",
        (
            f"{TREE}::test_a_file_git_was_told_not_to_look_at_is_read",
            f"{TREE}::test_a_deleted_file_git_was_told_not_to_look_at_is_missed",
        ),
    ),
    Mutation(
        "changes inside of a submodule are passed over",
        "gate/working_tree.py",
        "    if inside:\n",
        "    if not changes:\n",
        (f"{TREE}::test_a_submodule_counts_as_its_commit_and_has_to_be_one",),
    ),
    Mutation(
        "untracked files that moved meanwhile are no inputs",
        "gate/baseline.py",
        "    parts = parts_of(known.repo.top, working.tree, working.entries)\n",
        "    parts = parts_of(known.repo.top, known.head)\n",
        (f"{CHECK}::test_inputs_that_move_under_a_job_leave_no_receipt_of_it",),
    ),
    Mutation(
        "files that changed before the jobs began are judged as they were",
        "gate/baseline.py",
        "    if changes:\n",
        "    if not changes and not working.entries:\n",
        (f"{CHECK}::test_files_that_change_before_the_jobs_are_found",),
    ),
    Mutation(
        "what fix jobs returned on the way counts",
        "gate/repair.py",
        "        if not now.changed:\n            break\n",
        "        if not now.changed or len(rounds) == 1:\n            break\n",
        (f"{CHECK}::test_what_passed_before_the_commit_is_not_run_after_it",),
    ),
    Mutation(
        "fix jobs that undo each other in one round have changed nothing",
        "gate/repair.py",
        "        if paths:\n            self.changed[job] = paths\n",
        "        if now.tree != self.before.tree:\n            self.changed[job] = paths\n",
        (f"{CHECK}::test_fix_jobs_that_do_not_settle_are_named",),
    ),
    Mutation(
        "fix jobs go on for ever",
        "gate/repair.py",
        "    elif len(rounds) >= ROUNDS:\n",
        "    elif len(rounds) >= 3 * ROUNDS:\n",
        (f"{CHECK}::test_fix_jobs_that_do_not_settle_are_named",),
    ),
    Mutation(
        "a run that waits for fix jobs cancels them for what they change",
        "gate/checkout.py",
        "return holder.tree != run.tree and holder.kind != FIX.name",
        "return holder.tree != run.tree",
        (f"{CHECKOUT}::test_fix_jobs_are_waited_for_whatever_they_change",),
    ),
    Mutation(
        "a run of another kind is cancelled though the files are the same",
        "gate/checkout.py",
        "    if holder.kind == run.kind == DONE.name:\n",
        "    if holder.kind:\n",
        (f"{CHECKOUT}::test_a_run_of_another_kind_is_waited_for_unless_the_tree_moved_on",),
    ),
    Mutation(
        "an explanation shows what is kept of a secret",
        "gate/explanation.py",
        '    return None if part.startswith("env:") else value\n',
        "    return value\n",
        (f"{WHY}::test_an_environment_variable_is_named_and_never_shown",),
    ),
    Mutation(
        "a trial works in the checkout",
        "gate/trial.py",
        "    cwd = os.path.join(copy, job.cwd)\n",
        "    cwd = os.path.join(found.top, job.cwd)\n",
        (f"{TRIAL}::test_nothing_is_published_and_the_checkout_is_as_it_was",),
    ),
)
