"""Faults in how jobs and processes are started, ended, told apart and outlived."""

from tests.mutations.planted import Mutation

GATE = "tests/gate"
WORKSHOP = f"{GATE}/test_workshop.py"
ENVIRONMENT = f"{GATE}/jobs/test_environment.py"
SUPERVISOR = f"{GATE}/test_supervisor.py"
RECOVERY = f"{GATE}/test_recovery.py"
CAPTURED = f"{GATE}/test_captured.py"

ORDER = (
    Mutation(
        "a stage does not wait for the one before it",
        "gate/workshop.py",
        "STAGE_RANK[requirement.job.stage] == min(ranks)",
        "STAGE_RANK[requirement.job.stage] >= min(ranks)",
        (f"{WORKSHOP}::test_a_later_stage_waits_for_the_whole_earlier_one",),
    ),
    Mutation(
        "a job does not wait for what it needs",
        "gate/workshop.py",
        "                and self._passed.issuperset(requirement.needs)\n",
        "",
        (f"{WORKSHOP}::test_what_a_job_needs_is_over_before_it_starts",),
    ),
    Mutation(
        "two jobs write one path at once",
        "gate/workshop.py",
        "                and not any(self._required.conflicts(requirement.name, n)"
        " for n in self._running)\n",
        "",
        (f"{WORKSHOP}::test_two_that_write_the_same_path_never_run_together",),
    ),
    Mutation(
        "nobody keeps the hold while jobs run",
        "gate/workshop.py",
        "        self._keeping.tick(now)\n",
        "",
        (f"{WORKSHOP}::test_the_hold_is_kept_while_jobs_run_and_only_by_this_loop",),
    ),
)

JOBS = (
    Mutation(
        "a job hears which repository a hook names",
        "gate/jobs/environment.py",
        "if name in BASE or name.startswith(BASE_PREFIXES)",
        'if name in BASE or name.startswith((*BASE_PREFIXES, "GIT_"))',
        (f"{ENVIRONMENT}::test_no_variable_of_git_passes",),
    ),
    Mutation(
        "a variable that is unset reaches a job as empty",
        "gate/jobs/environment.py",
        "{name: outer[name] for name in named if name in outer}",
        '{name: outer.get(name, "") for name in named}',
        (f"{ENVIRONMENT}::test_a_named_variable_passes_and_an_absent_one_stays_absent",),
    ),
    Mutation(
        "an inner run takes the marker of the outer one away",
        "gate/jobs/environment.py",
        "_extended(marker_ids(outer), run_ids)",
        "_extended((), run_ids)",
        (f"{ENVIRONMENT}::test_an_inner_run_extends_the_list_of_runs_and_jobs",),
    ),
    Mutation(
        "a job inherits whatever is open",
        "gate/jobs/spawn.py",
        "if descriptor > 2 and descriptor not in pass_fds",
        "if descriptor > 2 and descriptor in ()",
        (
            f"{GATE}/jobs/test_spawn.py::test_a_job_inherits_the_descriptors_it_was_passed_and_no_other",
        ),
    ),
    Mutation(
        "a job runs in its caller's session",
        "gate/jobs/spawn.py",
        "setsid=True",
        "setsid=False",
        (f"{GATE}/jobs/test_spawn.py::test_a_job_leads_its_own_session_without_a_terminal",),
    ),
    Mutation(
        "a job that was told to end and exits with 0 has passed",
        "gate/jobs/job.py",
        "    if reason is not None:\n        return reason, code, signum\n",
        "    if reason is not None and code != 0:\n        return reason, code, signum\n",
        (
            f"{GATE}/jobs/test_ending.py::test_a_job_that_exits_with_0_on_int_is_cancelled_never_passed",
        ),
    ),
    Mutation(
        "an exit code that nobody knows is a pass",
        "gate/jobs/job.py",
        '("passed" if code == 0 else "failed")',
        '("failed" if code else "passed")',
        (f"{GATE}/jobs/test_ending.py::test_a_status_that_something_else_took_is_no_pass",),
    ),
    Mutation(
        "time in which everybody was stopped counts",
        "gate/jobs/awake.py",
        "min(max(0.0, now - self._seen), self._step)",
        "max(0.0, now - self._seen)",
        (f"{GATE}/jobs/test_ladder.py",),
    ),
    Mutation(
        "what outlives a job lives on",
        "gate/jobs/sweep.py",
        "        left, unsure = self._alive()\n",
        "        left, unsure = [], False\n",
        (f"{GATE}/jobs/test_survivors.py::test_a_daemon_is_found_by_marker",),
    ),
    Mutation(
        "what left the session of its job is not found",
        "gate/jobs/sweep.py",
        'return any(self._job_id in mark.split(b":") for mark in marks)',
        "return False",
        (
            f"{GATE}/jobs/test_survivors.py::test_a_process_in_a_session_of_its_own_is_found_by_marker",
        ),
    ),
    Mutation(
        "a run's marker is found inside longer ones",
        "gate/jobs/reap.py",
        'any(wanted in mark.split(b":") for mark in marks)',
        "any(wanted in mark for mark in marks)",
        (f"{GATE}/jobs/test_reap.py::test_a_runs_processes_are_found_by_a_member_of_their_marker",),
    ),
    Mutation(
        "a signal reaches a later owner of the pid",
        "gate/jobs/process.py",
        "    if not _still(process):\n        os.close(descriptor)\n",
        "    if process.pid < 0:\n        os.close(descriptor)\n",
        (f"{GATE}/jobs/test_reap.py::test_a_signal_never_reaches_a_later_owner_of_the_pid",),
    ),
)

OUTPUTS = (
    Mutation(
        "an output that is a link is followed",
        "gate/captured.py",
        "        if os.path.islink(target):\n",
        "        if os.path.islink(self._top):\n",
        (CAPTURED,),
    ),
    Mutation(
        "a link is cleared through to what it leads to",
        "gate/captured.py",
        "if os.path.isdir(target) and not os.path.islink(target):",
        "target = os.path.realpath(target)\n            if os.path.isdir(target):",
        (CAPTURED,),
    ),
    Mutation(
        "a damaged copy is put back",
        "gate/captured.py",
        "            if not intact:\n",
        "            if intact is None:\n",
        (CAPTURED,),
    ),
    Mutation(
        "a copy of the right size is intact",
        "gate/captured.py",
        "return _copy(path, os.devnull)[0] == output.digest",
        "return True",
        (CAPTURED,),
    ),
)

PROCESSES = (
    Mutation(
        "a dead run is buried by its pid",
        "gate/processes.py",
        "if found is None or not found.alive or found.start_ticks != known.start_ticks:",
        "if found is None or not found.alive:",
        (f"{RECOVERY}::test_a_process_that_only_has_the_pid_of_a_dead_one_is_left_alone",),
    ),
    Mutation(
        "a pid of another namespace is taken for one of ours",
        "gate/processes.py",
        "return known.boot == boot and known.pid_namespace == LocalProbe(boot).pid_namespace()",
        "return known.boot == boot",
        (f"{RECOVERY}::test_a_pid_of_elsewhere_says_nothing_here",),
    ),
    Mutation(
        "nobody ends what a killed runner left",
        "gate/supervisor.py",
        "    kill_run(run, clean_looks=2 if code < 0 else 1)\n",
        "",
        (f"{SUPERVISOR}::test_what_a_killed_runner_leaves_running_is_killed",),
    ),
    Mutation(
        "a run in the foreground outlives its caller",
        "gate/supervisor.py",
        "_watch(runner, lifeline if tied else None)",
        "_watch(runner, None)",
        (f"{SUPERVISOR}::test_a_run_that_is_tied_to_its_caller_is_told_that_the_caller_is_gone",),
    ),
    Mutation(
        "every run ends with its caller",
        "gate/supervisor.py",
        "_watch(runner, lifeline if tied else None)",
        "_watch(runner, lifeline)",
        (f"{SUPERVISOR}::test_any_other_run_goes_on_without_its_caller",),
    ),
    Mutation(
        "a run keeps what its caller had open",
        "gate/supervisor.py",
        "if descriptor > 2 and descriptor not in keep:",
        "if descriptor in ():",
        (f"{SUPERVISOR}::test_a_run_has_no_descriptor_and_no_session_of_its_caller",),
    ),
)

WORK = (*ORDER, *JOBS, *OUTPUTS, *PROCESSES)
