"""Faults in the protocol of a run: what it believes, how it ends, and what it leaves."""

from tests.mutations.planted import Mutation

RUN = "tests/gate/test_run.py"
BENCH = "tests/gate/test_bench.py"
CHANCE = "tests/faces/test_no_second_chance.py"
RECOVERY = "tests/gate/test_recovery.py"
CHECKOUT = "tests/gate/test_checkout.py"

ENDING = (
    Mutation(
        "a retired run reports its own failure",
        "gate/settlement.py",
        "    except HoldLost as loss:\n        return retired(run, loss)\n",
        "    except HoldLost:\n        return draft\n",
        (f"{RUN}::test_a_run_that_finds_itself_retired_reports_that_and_nothing_else",),
    ),
    Mutation(
        "a fault of our own stands in for a retirement",
        "gate/settlement.py",
        '    if ended.outcome == "broken":\n        raise error\n    return ended\n',
        "    raise error\n",
        (f"{RUN}::test_a_run_that_breaks_after_it_was_retired_reports_the_retirement",),
    ),
    Mutation(
        "a retired run starts the next job",
        "gate/bench.py",
        "        run.check_hold()\n",
        "",
        (f"{RUN}::test_a_retired_run_starts_no_further_job",),
    ),
    Mutation(
        "Python compiles what may be written over within the second",
        "gate/fingerprint.py",
        "        mark and mark[0] // 1_000_000_000 >= second and",
        "        mark and mark[0] // 1_000_000_000 > second and",
        (f"{BENCH}::test_python_compiles_no_source_that_is_not_a_second_old",),
    ),
    Mutation(
        "a run that was cancelled goes on to its verdict",
        "gate/run_state.py",
        "        if self.cancellation.wanted is not None:\n            raise",
        "        if self.cancellation.wanted == self:\n            raise",
        (f"{RUN}::test_a_run_that_was_asked_to_end_is_cancelled_by_whom_it_was",),
    ),
    Mutation(
        "a cancelled run settles as failed",
        "gate/settlement.py",
        '        outcome = "cancelled"\n',
        '        outcome = "failed"\n',
        (f"{RUN}::test_a_run_that_was_asked_to_end_is_cancelled_by_whom_it_was",),
    ),
    Mutation(
        "a cancelled run exits as not met",
        "gate/signals.py",
        "exit_code=4,",
        "exit_code=1,",
        (f"{RUN}::test_a_run_that_was_asked_to_end_is_cancelled_by_whom_it_was",),
    ),
    Mutation(
        "a receipt in doubt is forgotten",
        "gate/run_state.py",
        "            self.in_doubt.append(receipt)\n",
        "",
        (f"{RUN}::test_a_receipt_in_doubt_is_published_with_the_settlement",),
    ),
)

HOLDING = (
    Mutation(
        "a run that joins keeps its lock",
        "gate/run.py",
        "        os.close(lock)\n        place.remove_lock(attempt)\n",
        "",
        (f"{RUN}::test_a_run_whose_subject_is_held_joins_and_holds_nothing",),
    ),
    Mutation(
        "a settled run keeps its lock",
        "gate/settlement.py",
        "    run.proof = proof\n    run.let_go()\n",
        "    run.proof = proof\n",
        (f"{RUN}::test_a_run_that_meets_everything_settles_with_a_proof",),
    ),
    Mutation(
        "a run binds what was proven meanwhile",
        "gate/run.py",
        "unless_proven=unless",
        "unless_proven=False",
        (f"{RUN}::test_a_run_that_was_proven_before_it_bound_binds_nothing",),
    ),
    Mutation(
        "a run that waited for the checkout judges what was there before",
        "gate/run.py",
        "exit_code=75, other=other.id))\n    _look_again(run)\n",
        "exit_code=75, other=other.id))\n",
        (f"{RUN}::test_after_a_wait_for_the_checkout_everything_is_looked_at_anew",),
    ),
    Mutation(
        "jobs inherit the run lock",
        "gate/bench.py",
        "pass_fds=(run.checkout, *",
        "pass_fds=(run.checkout, run._lock, *",
        (f"{RUN}::test_a_job_inherits_the_checkout_and_nothing_else_of_the_run",),
    ),
    Mutation(
        "jobs do not hold the checkout",
        "gate/bench.py",
        "pass_fds=(run.checkout, *run.permits.descriptors(name))",
        "pass_fds=run.permits.descriptors(name)",
        (f"{RUN}::test_a_job_inherits_the_checkout_and_nothing_else_of_the_run",),
    ),
    Mutation(
        "another run of the same candidate is cancelled for its checkout",
        "gate/checkout.py",
        "elif _outdated(holder, self._run):",
        "elif holder.subject != self._run.subject:",
        (f"{CHECKOUT}::test_another_run_of_the_same_candidate_is_waited_for",),
    ),
    Mutation(
        "a run of an older state is waited for",
        "gate/checkout.py",
        "elif _outdated(holder, self._run):",
        "elif holder.candidate == self._run.commit:",
        (f"{CHECKOUT}::test_a_run_of_an_older_state_is_asked_to_end",),
    ),
    Mutation(
        "a retired run that still runs is killed for its checkout",
        "gate/checkout.py",
        "        if not _stopped(holder.runner, self._boot):\n",
        "        if holder.attempt is None:\n",
        (f"{CHECKOUT}::test_a_retired_run_is_killed_only_if_it_is_stopped",),
    ),
    Mutation(
        "a retired run that is stopped keeps its checkout",
        "gate/checkout.py",
        'found.state == "T"',
        'found.state == "Z"',
        (f"{CHECKOUT}::test_a_retired_run_is_killed_only_if_it_is_stopped",),
    ),
)

RECOVERING = (
    Mutation(
        "recovery retires its own run",
        "gate/recovery.py",
        "if licence is None or seen.run == by:",
        "if licence is None:",
        (f"{RECOVERY}::test_nobody_retires_an_attempt_of_its_own",),
    ),
    Mutation(
        "recovery kills whoever is merely silent",
        "gate/recovery.py",
        'if licence.ground == "gone":',
        "if licence.ground:",
        (f"{RECOVERY}::test_a_silent_owner_is_retired_and_not_killed",),
    ),
    Mutation(
        "recovery ends a run whose attempt stands",
        "gate/recovery.py",
        "if run.id != by and not _bound(store, run):",
        "if run.id != by:",
        (f"{RECOVERY}::test_a_run_whose_attempt_stands_is_ended_by_a_retirement_alone",),
    ),
    Mutation(
        "recovery fails where somebody else was first",
        "gate/recovery.py",
        "except (Doubt, Refused):",
        "except Refused:",
        (f"{RECOVERY}::test_what_somebody_else_retired_meanwhile_is_left_to_them",),
    ),
)

JUDGING = (
    Mutation(
        "a job starts on inputs that were touched",
        "gate/bench.py",
        "if run.stopping() or (not self._just_looked() and self._moved(requirement)):",
        "if run.stopping():",
        (f"{BENCH}::test_a_job_whose_inputs_were_touched_is_not_started",),
    ),
    Mutation(
        "a job's result stands though its inputs were touched",
        "gate/bench.py",
        '        elif self._moved(requirement, result.over):\n            outcome = "inputs_moved"\n',
        "",
        (f"{BENCH}::test_what_passed_on_inputs_that_were_touched_meanwhile_is_never_published",),
    ),
    Mutation(
        "a look at the checkout serves whoever is over at any time",
        "gate/bench.py",
        "        if since is not None and since < self._looked:",
        "        if since is not None and self._looked > 0:",
        (f"{BENCH}::test_a_look_that_served_one_job_serves_none_that_ran_on",),
    ),
    Mutation(
        "nobody looks at the checkout at the end",
        "gate/run.py",
        "    found = closing_failures(edited, changes(snapshot, now), elsewhere)\n",
        "    found = []\n",
        (f"{BENCH}::test_what_nobody_read_counts_at_the_end",),
    ),
    Mutation(
        "what passed beside left files counts when it is asked again",
        "gate/run.py",
        "        bench.void_all(left.detail)\n",
        "        pass\n",
        (f"{CHANCE}::test_a_pass_of_a_run_that_left_files_does_not_count_again",),
    ),
    Mutation(
        "a folder that was away looks as it did",
        "gate/fingerprint.py",
        "    return before[0] != now[0] or (before[1] != now[1] and before[2] == now[2])\n",
        "    return before[0] != now[0]\n",
        (f"{CHANCE}::test_a_folder_swapped_and_put_back_proves_nothing",),
    ),
    Mutation(
        "an edit put back during a fix job is no edit",
        "gate/run.py",
        "    bench.judge_rewritten()\n",
        "",
        (f"{CHANCE}::test_an_edit_put_back_during_a_fix_job_proves_nothing",),
    ),
    Mutation(
        "another commit may come and go under a job",
        "gate/bench.py",
        "        if run.head_mark != head_mark(run.situation.snapshot.repo.git_dir):\n",
        "        if not run.head_mark:\n",
        (f"{CHANCE}::test_another_commit_checked_out_and_back_proves_nothing",),
    ),
    Mutation(
        "a program may be replaced under a run",
        "gate/bench.py",
        "        changed = [path for path, seen in self._tools if not still_holds([(path, seen)])]\n",
        "        changed: list[str] = []\n",
        (f"{CHANCE}::test_a_program_replaced_during_the_run_proves_nothing",),
    ),
    Mutation(
        "outputs are put back beside those of another build",
        "gate/bench.py",
        "        self._clear(self._run.situation.required[receipt.requirement])\n",
        "",
        (f"{CHANCE}::test_a_needed_output_is_never_a_mixture_of_two_builds",),
    ),
    Mutation(
        "outputs are deleted behind a link that a job made",
        "gate/captured.py",
        '            raise OSError(errno.ELOOP, f"{folder} leads elsewhere", place)\n',
        "            pass\n",
        (f"{CHANCE}::test_nothing_is_deleted_behind_a_link_that_a_job_made",),
    ),
    Mutation(
        "a clone without the trunk judges itself",
        "gate/trunk.py",
        "    if fetched or pinned:\n",
        "    if not names:\n",
        (f"{CHANCE}::test_a_clone_without_the_trunk_does_not_judge_itself",),
    ),
    Mutation(
        "a checkout that moved to another commit is still the candidate",
        "gate/run.py",
        "elsewhere = now.head if snapshot.working is None and now.tree != snapshot.tree else None",
        "elsewhere = None",
        (f"{BENCH}::test_a_checkout_that_went_to_another_commit_proves_nothing",),
    ),
    Mutation(
        "files that jobs left are left",
        "gate/verdict.py",
        "    failures = left_failures(changes)\n",
        "    failures: list[Failure] = []\n",
        (f"{BENCH}::test_a_file_that_a_job_leaves_is_not_met_and_named",),
    ),
    Mutation(
        "a fix job's receipt is published before the baseline",
        "gate/bench.py",
        "        if run.fingerprint is None:\n            self._late",
        "        if not receipt.id:\n            self._late",
        (f"{BENCH}::test_a_fix_job_that_changes_a_file_ends_the_run_and_has_no_receipt",),
    ),
    Mutation(
        "an output from before is taken for the job's own",
        "gate/bench.py",
        "        self._clear(requirement)\n",
        "",
        (f"{BENCH}::test_an_output_from_before_is_not_taken_for_the_jobs_own",),
    ),
    Mutation(
        "a job that wrote no output passes next time",
        "gate/bench.py",
        '_RECEIPTS.get(outcome, "failed")',
        '_RECEIPTS.get(outcome, "passed")',
        (f"{BENCH}::test_an_output_from_before_is_not_taken_for_the_jobs_own",),
    ),
    Mutation(
        "outputs are not put back on reuse",
        "gate/run.py",
        "            run.captured.restore(receipt.outputs)\n",
        "            pass\n",
        (f"{BENCH}::test_outputs_are_put_back_on_reuse",),
    ),
    Mutation(
        "a job that was cut short has failed",
        "gate/bench.py",
        'if outcome in ("cancelled", "inputs_moved"):',
        'outcome = {"cancelled": "failed"}.get(outcome, outcome)\n'
        '        if outcome == "inputs_moved":',
        (f"{RUN}::test_a_job_that_was_cut_short_has_no_receipt",),
    ),
)

PROTOCOL = (*ENDING, *HOLDING, *RECOVERING, *JUDGING)
