"""Faults in what many runs share: slots and holds; in jobs that are tried again, and in setups."""

from tests.mutations.planted import Mutation

GATE = "tests/gate"
SLOTS = f"{GATE}/jobs/test_slots.py"
WORKSHOP = f"{GATE}/test_workshop.py"
BENCH = f"{GATE}/test_bench.py"
ELSEWHERE = "tests/faces/test_elsewhere.py"
SETUP = f"{GATE}/test_setup.py"
RETRIES = f"{GATE}/test_retries.py"
MACHINE = f"{GATE}/test_machine.py"

SHARING = (
    Mutation(
        "a job does not inherit what it has",
        "gate/bench.py",
        "pass_fds=(run.checkout, *run.permits.descriptors(name)),",
        "pass_fds=(run.checkout,),",
        (f"{BENCH}::test_a_job_inherits_what_it_has",),
    ),
    Mutation(
        "waiting for a slot counts as the job's time",
        "gate/bench.py",
        "            now=run.order.clock.monotonic(),\n            timeout=",
        "            now=run._started,\n            timeout=",
        (f"{BENCH}::test_waiting_for_a_hold_is_no_part_of_a_jobs_time",),
    ),
    Mutation(
        "what a job had is kept when it is over",
        "gate/workshop.py",
        "                return\n            self._permits.release(requirement.name)\n",
        "                return\n",
        (f"{WORKSHOP}::test_a_job_has_its_hold_until_it_is_over_and_no_longer",),
    ),
    Mutation(
        "what a refused job had is kept",
        "gate/workshop.py",
        "            elif job is None:\n                self._permits.release(requirement.name)\n",
        "            elif job is None:\n",
        (f"{WORKSHOP}::test_a_job_has_its_hold_until_it_is_over_and_no_longer",),
    ),
    Mutation(
        "a job that waits holds up those behind it",
        "gate/workshop.py",
        "                if in_order:\n                    return None\n",
        "                return None\n",
        (f"{WORKSHOP}::test_a_job_that_waits_for_a_hold_keeps_no_other_from_running",),
    ),
    Mutation(
        "a fix job overtakes one that waits",
        "gate/workshop.py",
        "                if in_order:\n                    return None\n",
        "",
        (f"{WORKSHOP}::test_fix_jobs_keep_their_order_while_the_first_one_waits",),
    ),
    Mutation(
        "a run waits for the job it runs in",
        "gate/permits.py",
        "        if len(ours) >= busy.limit:\n",
        "        if len(ours) > busy.limit:\n",
        (f"{WORKSHOP}::test_what_would_wait_for_the_job_it_runs_in_says_so",),
    ),
    Mutation(
        "only the own size of a slot counts",
        "gate/jobs/slots.py",
        "    limit = min([slot.size, *(one.size for one in had if one.size)])\n",
        "    limit = slot.size\n",
        (f"{SLOTS}::test_where_sizes_differ_the_smallest_counts",),
    ),
    Mutation(
        "a job keeps a part of what it needs while it waits for the rest",
        "gate/jobs/slots.py",
        "            if isinstance(place, Busy):\n                return place\n"
        "            free.append((slot, place))\n",
        "            if isinstance(place, Busy):\n                _occupy(free, holder)\n"
        "                return place\n            free.append((slot, place))\n",
        (f"{SLOTS}::test_all_of_it_or_nothing",),
    ),
    Mutation(
        "whoever looks wakes those who wait",
        "gate/jobs/slots.py",
        "descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)",
        "descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)",
        (f"{SLOTS}::test_who_lets_go_wakes_those_who_wait_and_who_looks_wakes_nobody",),
    ),
    Mutation(
        "two look and take at the same time",
        "gate/jobs/slots.py",
        "    return _locked(guards[-1], fcntl.LOCK_EX)\n",
        "    return True\n",
        (
            f"{SLOTS}::test_those_who_want_several_in_any_order_all_get_them_and_never_together",
            f"{SLOTS}::test_a_slot_is_looked_at_and_taken_with_nobody_in_between",
        ),
    ),
    Mutation(
        "another user's directory is trusted",
        "gate/machine.py",
        "            if found.st_uid != os.geteuid():\n",
        "            if found.st_uid != found.st_uid:\n",
        (f"{MACHINE}::test_another_users_directory_and_a_link_are_passed_over",),
    ),
    Mutation(
        "a slot is part of what a job means",
        "gate/policy.py",
        '_PLACEMENT = frozenset({"slot", "holds"})',
        '_PLACEMENT = frozenset({"holds"})',
        (f"{GATE}/test_policy.py::test_when_a_job_may_run_is_no_part_of_its_definition",),
    ),
)

RETRYING = (
    Mutation(
        "a flaky pass is reused",
        "gate/plan.py",
        "        elif receipt.flaky:\n",
        "        elif receipt.flaky and not receipt.passed:\n",
        (f"{RETRIES}::test_a_flaky_pass_is_not_reused_and_a_clean_one_after_it_is",),
    ),
    Mutation(
        "a pass by a retry looks like any other",
        "gate/bench.py",
        "            earlier=self._tries.before(requirement.name),\n",
        "",
        (
            f"{RETRIES}::test_a_pass_by_a_retry_counts_once_and_its_proof_says_that_it_is_flaky",
            f"{RETRIES}::test_a_flaky_pass_is_not_reused_and_a_clean_one_after_it_is",
        ),
    ),
    Mutation(
        "a Proof forgets that it is flaky",
        "gate/verdict.py",
        "        flaky=receipt.flaky,\n",
        "",
        (f"{RETRIES}::test_a_pass_by_a_retry_counts_once_and_its_proof_says_that_it_is_flaky",),
    ),
    Mutation(
        "a run that has to end tries again",
        "gate/bench.py",
        "        if self._run.stopping():\n            return None\n        self._tries.keep",
        "        self._tries.keep",
        (f"{RETRIES}::test_a_run_that_has_to_end_tries_nothing_again_and_blames_nobody",),
    ),
    Mutation(
        "a try writes over what the one before it printed",
        "gate/tries.py",
        "        os.rename(result.output, kept)\n",
        "        os.link(result.output, kept)\n",
        (f"{RETRIES}::test_every_try_keeps_what_it_printed",),
    ),
    Mutation(
        "retries are no part of what a job means",
        "gate/policy.py",
        '_PLACEMENT = frozenset({"slot", "holds"})',
        '_PLACEMENT = frozenset({"slot", "holds", "retries"})',
        (
            f"{RETRIES}::test_the_old_definition_without_retries_has_to_pass_besides_one_with_them",
            f"{GATE}/test_policy.py::test_every_field_of_a_job_changes_its_definition",
        ),
    ),
)

PREPARING = (
    Mutation(
        "a checkout is still set up for what it was while it is set up anew",
        "gate/setup.py",
        "    run.store.begin_setup(run.record)\n",
        "    run.store.add_run(run.record)\n",
        (f"{SETUP}::test_one_that_starts_again_forgets_what_was_there_first",),
    ),
    Mutation(
        "what a setup made is not identified",
        "gate/run.py",
        "    if not set_up(run):\n        return\n",
        "    set_up(run)\n    return\n",
        (f"{SETUP}::test_what_it_made_is_identified_before_anything_is_bound",),
    ),
    Mutation(
        "a setup that fails is the commit's fault",
        "gate/setup.py",
        'outcome="unproven", exit_code=3',
        'outcome="failed", exit_code=1',
        (f"{SETUP}::test_what_fails_to_prepare_a_checkout_says_nothing_about_the_commit",),
    ),
    Mutation(
        "a branch sets up in its own way alone",
        "gate/requirement.py",
        "judging if resetting and SETUP not in accepted else None",
        "None",
        (
            f"{SETUP}::test_what_the_base_declares_is_done_the_bases_way_too",
            f"{SETUP}::test_the_bases_way_comes_first_and_has_to_pass",
        ),
    ),
    Mutation(
        "a branch removes the setup unnoticed",
        "gate/requirement.py",
        '        found.append(_removed(SETUP, "setup"))\n',
        "        pass\n",
        (f"{SETUP}::test_what_the_base_declares_is_done_the_bases_way_too",),
    ),
    Mutation(
        "a new checkout is taken for the one that was there before",
        "gate/setup.py",
        "(_incarnation(run.situation.snapshot.repo.git_dir), parts)",
        "((), parts)",
        (f"{SETUP}::test_a_worktree_that_was_added_anew_is_another_checkout",),
    ),
    Mutation(
        "a setup may leave other files than are judged",
        "gate/setup.py",
        "    failures += [] if failures else _changed(run)\n",
        "",
        (f"{SETUP}::test_a_setup_that_changes_what_is_judged_proves_nothing",),
    ),
)

PLACING = (
    Mutation(
        "a job does not find the records of its run",
        "gate/jobs/environment.py",
        "    result |= {name: outer[name] for name in OURS if name in outer}\n",
        "",
        (
            f"{GATE}/jobs/test_environment.py::test_a_job_finds_the_same_records_and_slots_as_its_run",
        ),
    ),
    Mutation(
        "two repositories keep their records in one place",
        "gate/location.py",
        'digest("repository", real)',
        'digest("repository", b"")',
        (f"{ELSEWHERE}::test_worktrees_share_them_and_repositories_do_not",),
    ),
    Mutation(
        "the shortcut looks under the git directory alone",
        "gate/shortcut.py",
        'os.path.join(root_of(_common_dir(place), place, os.environ), "tenure.db")',
        'os.path.join(_common_dir(place), "tenure", "tenure.db")',
        (f"{ELSEWHERE}::test_the_shortcut_finds_them_there_and_imports_no_more_for_it",),
    ),
    Mutation(
        "records of another repository are taken for our own",
        "gate/place.py",
        '            if said not in (ours, b""):',
        "            if said in ():",
        (f"{ELSEWHERE}::test_records_of_another_repository_are_refused_by_name",),
    ),
    Mutation(
        "a server is taken for a directory",
        "gate/location.py",
        '    if "://" in named:\n',
        '    if "postgres://" in named:\n',
        (f"{ELSEWHERE}::test_what_is_no_directory_is_refused_by_name",),
    ),
)

MANY = (*SHARING, *RETRYING, *PREPARING, *PLACING)
