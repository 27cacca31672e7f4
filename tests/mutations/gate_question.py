"""Faults in what is asked: the candidate, who judges it, what it has to meet, what is reused."""

from tests.mutations.planted import Mutation

GATE = "tests/gate"
SITUATION = f"{GATE}/test_situation.py"
REQUIREMENT = f"{GATE}/test_requirement.py"
PLAN = f"{GATE}/test_plan.py"

JUDGING = (
    Mutation(
        "a branch judges itself",
        "gate/situation.py",
        "return candidate(snapshot, judging, commit), own, policy, taken",
        "return candidate(snapshot, judging, commit), own, own, taken",
        (f"{SITUATION}::test_a_branch_is_judged_by_the_policy_of_its_base",),
    ),
    Mutation(
        "a commit on the trunk is its own base",
        "gate/worktree.py",
        "    if bases and parents:\n        return parents[0]\n",
        "    if bases and parents:\n        return bases[0]\n",
        (f"{GATE}/test_worktree.py::test_the_base_of_a_commit_on_the_trunk_is_its_first_parent",),
    ),
    Mutation(
        "a branch chooses the trunk anew",
        "gate/reading.py",
        "    pinned = store.setting(TRUNK)\n",
        "    pinned = None\n",
        (
            "tests/faces/test_no_second_chance.py::test_a_trunk_that_was_renamed_away_is_not_replaced_by_the_branch",
        ),
    ),
    Mutation(
        "a removed job is not missed",
        "gate/requirement.py",
        'found = [_removed(name, "job") for name in difference.removed]',
        'found = [_removed(name, "job") for name in difference.removed[:0]]',
        (f"{REQUIREMENT}::test_a_removed_job_is_an_objection_by_name",),
    ),
    Mutation(
        "a changed job need not pass as it was",
        "gate/requirement.py",
        "more = set(difference.changed) - accepted",
        "more = set(difference.changed) & accepted",
        (f"{REQUIREMENT}::test_a_changed_definition_has_to_pass_old_and_new",),
    ),
    Mutation(
        "an unchanged job is not judged on what the old definition builds",
        "gate/requirement.py",
        "more = {name for name in difference.same if old.intersection(judging.jobs[name].needs)}",
        "more = set()",
        (f"{REQUIREMENT}::test_an_unchanged_job_is_also_judged_on_what_the_old_definition_builds",),
    ),
    Mutation(
        "an accepted change is not recorded",
        "gate/requirement.py",
        "accepted=tuple(sorted(accepted)),",
        "accepted=(),",
        (f"{SITUATION}::test_what_was_accepted_is_part_of_the_question",),
    ),
    Mutation(
        "a renamed trunk is no loosening",
        "gate/requirement.py",
        "        found.append(_renamed(before, after))\n",
        "        _renamed(before, after)\n",
        (f"{REQUIREMENT}::test_a_renamed_trunk_is_loosened",),
    ),
    Mutation(
        "anything can be accepted",
        "gate/requirement.py",
        "    _check_accepted(accepted, changes)\n",
        "",
        (
            f"{REQUIREMENT}::test_accepting_what_did_not_change_is_an_error_that_names_what_could_be",
        ),
    ),
    Mutation(
        "the judge is no part of the candidate",
        "gate/requirement.py",
        'digest("candidate", (tree, judging_policy_digest, requirements_digest))',
        'digest("candidate", (tree, requirements_digest))',
        (f"{SITUATION}::test_a_changed_judge_is_another_candidate_of_the_same_tree",),
    ),
)

IDENTITY = (
    Mutation(
        "a definition's digest misses a field",
        "gate/policy.py",
        "{field: _canonical(job, field) for field in _DEFINITION}",
        '{f: _canonical(job, f) for f in _DEFINITION if f != "timeout_seconds"}',
        (f"{GATE}/test_policy.py::test_every_field_of_a_job_changes_its_definition",),
    ),
    Mutation(
        "a variable that is unset counts as empty",
        "gate/digest.py",
        "canonical((name, value)), key=secret",
        'canonical((name, value or "")), key=secret',
        (f"{SITUATION}::test_an_unset_variable_is_not_an_empty_one",),
    ),
    Mutation(
        "the value of a variable does not count",
        "gate/situation.py",
        "keyed(key, variable, environ.get(variable))",
        "keyed(key, variable, None)",
        (f"{SITUATION}::test_an_unset_variable_is_not_an_empty_one",),
    ),
    Mutation(
        "what a job needs may change under it",
        "gate/situation.py",
        'parts[f"need:{need}"] = found.identities[need].digest',
        'parts[f"need:{need}"] = need',
        (f"{SITUATION}::test_what_a_job_needs_is_part_of_its_identity",),
    ),
    Mutation(
        "the mode of an input does not count",
        "gate/situation.py",
        'digest("inputs", tuple(chosen))',
        'digest("inputs", tuple(entry[1:] for entry in chosen))',
        (f"{SITUATION}::test_only_the_inputs_of_a_job_change_its_identity",),
    ),
    Mutation(
        "what a context command says does not count",
        "gate/situation.py",
        '"context", said_by(command, environment, cwd, SystemClock())',
        '"context", command',
        (f"{SITUATION}::test_what_a_context_command_says_is_part_of_the_identity",),
    ),
    Mutation(
        "who runs a script does not count",
        "gate/context.py",
        'self.program(shebang.name, "interpreter", depth + 1)',
        "pass",
        (f"{GATE}/test_context.py::test_each_change_shows_in_its_own_part",),
    ),
)

READING = (
    Mutation(
        "untracked files are no difference",
        "gate/worktree.py",
        '"--untracked-files=normal",',
        '"--untracked-files=no",',
        (f"{GATE}/test_changes.py::test_every_kind_of_difference_is_named",),
    ),
    Mutation(
        "git hears which repository a hook names",
        "gate/git.py",
        'if not name.startswith(b"GIT_") or name in _HARMLESS',
        "if name",
        (f"{GATE}/test_git.py::test_a_variable_that_names_a_repository_is_not_heard",),
    ),
    Mutation(
        "the index is believed about files that git does not look at",
        "gate/baseline.py",
        "    if all_hold(claimed, ",
        "    if claimed or all_hold(claimed, ",
        (f"{GATE}/test_baseline.py::test_a_file_git_was_told_not_to_look_at_is_read",),
    ),
    Mutation(
        "an edit whose time was put back is no edit",
        "gate/fingerprint.py",
        "marks[path] = (seen.st_ctime_ns,",
        "marks[path] = (seen.st_mtime_ns,",
        (f"{GATE}/test_fingerprint.py::test_every_touch_shows",),
    ),
)

REUSE = (
    Mutation(
        "a failed receipt is reused",
        "gate/plan.py",
        "elif not receipt.passed:",
        "elif receipt.passed is None:",
        (PLAN,),
    ),
    Mutation(
        "a receipt is reused without its outputs",
        "gate/plan.py",
        "elif not intact(receipt):",
        "elif intact(receipt) is None:",
        (PLAN,),
    ),
    Mutation(
        "what a job needs is not run with it",
        "gate/plan.py",
        "    _pull_needs(required, reused, execute)\n    order",
        "    order",
        (PLAN,),
    ),
    Mutation(
        "asked to run again, it reuses",
        "gate/plan.py",
        "        if rerun:\n",
        "        if rerun is None:\n",
        (PLAN,),
    ),
)

QUESTION = (*JUDGING, *IDENTITY, *READING, *REUSE)
