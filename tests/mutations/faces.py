"""Faults that only a whole command shows, called as somebody in a terminal would call it."""

from tests.mutations.planted import Mutation

REUSE = "tests/faces/test_reuse.py"
CHEAT = "tests/faces/test_cheat.py"
JOB = "tests/faces/test_bad_job.py"
STORE = "tests/faces/test_bad_store.py"
REPOSITORY = "tests/faces/test_bad_repository.py"
CALLERS = "tests/faces/test_callers.py"

STANDING = "tests/faces/test_standing.py"
TRUNK = "tests/gate/test_trunk.py"
OTHER = "tests/faces/test_other_question.py"

FALSELY_MET = (
    Mutation(
        "status says met of what was accepted by somebody",
        "faces/cli/standing.py",
        "answers=proof.id == answer)",
        "answers=stands)",
        (
            f"{STANDING}::test_a_proof_that_accepted_a_change_of_policy_is_no_answer_to_who_does_not",
        ),
    ),
    Mutation(
        "status says met whatever the environment",
        "faces/cli/standing.py",
        "if found.answers:",
        "if found.stands:",
        (f"{STANDING}::test_another_environment_is_another_question",),
    ),
    Mutation(
        "status says met of what a dropped receipt proved",
        "faces/cli/standing.py",
        "    if not found.stands:\n        return words.void_line(proof, snapshot.head, snapshot.branch)\n",
        "",
        (f"{STANDING}::test_a_proof_whose_receipt_was_dropped_is_void_and_said_so",),
    ),
    Mutation(
        "a Proof that accepted something else is said to have accepted this",
        "gate/store.py",
        "if stands and names <= set(proof.accepted):",
        "if stands and proof.accepted:",
        (f"{STANDING}::test_only_a_proof_that_accepted_all_of_it_is_named",),
    ),
    Mutation(
        "init calls the branch that is checked out the trunk",
        "gate/trunk.py",
        "    ref = ref or branch\n",
        "    ref = branch or ref\n",
        (f"{TRUNK}::test_a_policy_that_is_proposed_on_a_branch_names_the_trunk",),
    ),
    Mutation(
        "init does not say that the trunk is a guess",
        "gate/trunk.py",
        "    if ref == branch and name not in _CONVENTIONAL:\n",
        "    if False:\n",
        (f"{TRUNK}::test_it_names_the_branch_that_is_checked_out_only_where_there_is_no_other",),
    ),
    Mutation(
        "a dead run is said to judge the same commit",
        "gate/neighbour.py",
        "if run.id not in dead",
        "if True",
        (f"{OTHER}::test_a_run_that_is_dead_is_no_neighbour",),
    ),
    Mutation(
        "a memo holds in every checkout",
        "gate/memo.py",
        "names = {*found.variables, CHECKOUT} if local else found.variables",
        "names = found.variables",
        (f"{REUSE}::test_a_worktree_with_another_linter_of_its_own_is_asked_itself",),
    ),
    Mutation(
        "a memo forgets where packages of the user are",
        "gate/situation.py",
        '{"HOME", "PATH", "VIRTUAL_ENV"}',
        '{"PATH", "VIRTUAL_ENV"}',
        (f"{REUSE}::test_another_home_may_hold_other_packages",),
    ),
    Mutation(
        "a memo answers for what a command prints",
        "gate/memo.py",
        "    if any(requirement.job.context for requirement in found.required.requirements):\n"
        "        return None\n",
        "",
        (f"{REUSE}::test_a_command_of_context_that_prints_something_else_is_another_input",),
    ),
    Mutation(
        "a memo is made of what was accepted",
        "gate/memo.py",
        "    if found.required.accepted or found.required.objections:\n        return None\n",
        "",
        (f"{CHEAT}::test_what_was_accepted_once_is_not_accepted_for_whoever_asks_next",),
    ),
    Mutation(
        "a branch names the trunk that judges it",
        "gate/reading.py",
        "return (own if judging is None else judging).trunk",
        "return own.trunk",
        (f"{CHEAT}::test_a_renamed_trunk_is_not_met",),
    ),
    Mutation(
        "a project that mentions us has a policy",
        "gate/policy_text.py",
        "    raise NoPolicy(",
        "    raise PolicyError(",
        (f"{CHEAT}::test_a_project_that_only_mentions_us_has_no_policy",),
    ),
    Mutation(
        "a store that is gone takes a Proof",
        "kernel/stores/sqlite/store.py",
        "if self._file is not None and _identity(self._path) != self._file:",
        "if False:",
        (f"{STORE}::test_a_store_that_a_job_takes_away_gets_no_proof",),
    ),
    Mutation(
        "the shortcut reads a store of the future",
        "gate/shortcut.py",
        'if set(connection.execute("SELECT line, version FROM format")) != FORMATS:',
        "if False:",
        (f"{STORE}::test_a_store_that_is_no_store_is_refused_and_never_overwritten",),
    ),
    Mutation(
        "a captured copy counts by its name",
        "gate/captured.py",
        "output.link or _is_content(self._kept(output.digest), output)",
        "output.link or os.path.exists(self._kept(output.digest))",
        (f"{REUSE}::test_a_capture_that_is_not_whole_costs_a_run_of_its_job",),
    ),
    Mutation(
        "an edit outside of all inputs is nobody's",
        "gate/verdict.py",
        "    elif touched:",
        "    elif False:",
        (f"{JOB}::test_an_edit_outside_of_its_inputs_leaves_a_jobs_receipt_and_spoils_the_proof",),
    ),
)

HARM = (
    Mutation(
        "an output is deleted behind a link",
        "gate/situation.py",
        "            _require_no_link(found.top, parent, output)\n",
        "",
        (f"{JOB}::test_nothing_is_deleted_behind_a_link",),
    ),
    Mutation(
        "a store on another machine is trusted once it is there",
        "gate/place.py",
        "            require_local(self.root)  # it may have been made elsewhere, and be mounted here\n",
        "",
        (f"{STORE}::test_a_network_file_system_is_refused_by_name_for_new_and_old_stores",),
    ),
    Mutation(
        "stale files stay among outputs that are put back",
        "gate/run.py",
        "            run.captured.clear(run.situation.required[name].job.outputs)\n",
        "",
        (f"{REUSE}::test_outputs_are_deleted_before_captured_and_restored_on_reuse",),
    ),
    Mutation(
        "a closed standard stream becomes the next file",
        "faces/cli/process.py",
        "            os.open(os.devnull, os.O_RDWR)\n",
        "            pass\n",
        (f"{CALLERS}::test_a_caller_whose_output_goes_nowhere_gets_the_gates_exit_code",),
    ),
    Mutation(
        "a caller without a standard output is a fault of ours",
        "gate/supervisor.py",
        "        except (AttributeError, OSError, ValueError):\n"
        "            pass  # the caller closed it, or does not read it",
        "        except (OSError, ValueError):\n"
        "            pass  # the caller closed it, or does not read it",
        (f"{CALLERS}::test_a_caller_whose_output_goes_nowhere_gets_the_gates_exit_code",),
    ),
    Mutation(
        "what the caller ignores ends the command",
        "gate/signals.py",
        "[n for n in caller if signal.getsignal(n) != signal.SIG_IGN]",
        "list(caller)",
        (f"{CALLERS}::test_nohup_is_respected",),
    ),
    Mutation(
        "a path that is no text is a fault of ours",
        "gate/wire.py",
        "    except UnicodeEncodeError:\n",
        "    except ZeroDivisionError:\n",
        (f"{REPOSITORY}::test_a_checkout_whose_own_path_is_not_utf8_is_judged",),
    ),
    Mutation(
        "a signal ends the command without a word",
        "faces/cli/process.py",
        "            _signal.signal(number, end)\n",
        "            _signal.signal(number, _signal.SIG_DFL)\n",
        ("tests/faces/test_contract.py::test_a_signal_while_the_repository_is_read_is_one_object",),
    ),
)

FACES = (*FALSELY_MET, *HARM)
