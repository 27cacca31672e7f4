"""Faults of the hooks: a gate that lets through, and one that never lets go."""

from tests.mutations.planted import Mutation

STOP = "tests/faces/test_hook_stop.py"
PUSH = "tests/faces/test_hook_push.py"
MCP = "tests/faces/test_mcp.py"

HOOKS = (
    Mutation(
        "a hook hands the agent the way past a policy",
        "faces/cli/hook_session.py",
        "        self._advice.append(line)\n",
        "        self._lines.append(line)\n",
        (f"{STOP}::test_the_way_past_a_policy_is_told_to_the_person_and_not_to_the_agent",),
    ),
    Mutation(
        "a hook hands the agent the way past a policy that cannot be read",
        "gate/situation.py",
        '    fields["advice"] = (\n',
        '    fields["next"] += (\n',
        (f"{STOP}::test_the_way_past_a_policy_that_cannot_be_read_is_no_agents_either",),
    ),
    Mutation(
        "a hook takes our own fault for a pass",
        "faces/cli/hook_session.py",
        "        if code == 0:\n",
        "        if code in (0, Exit.BUG):\n",
        (f"{STOP}::test_a_fault_of_our_own_blocks_and_says_whose_it_is",),
    ),
    Mutation(
        "a hook blocks for ever",
        "faces/cli/hook_session.py",
        "> self.blocks:",
        "> 10**9:",
        (f"{STOP}::test_an_agent_that_gets_nowhere_is_let_go_loudly",),
    ),
    Mutation(
        "a hook counts blocks whatever changes",
        "faces/hooks/streak.py",
        "known is not None and known.state == state",
        "known is not None",
        (f"{STOP}::test_every_change_of_state_and_every_session_is_counted_alone",),
    ),
    Mutation(
        "a hook blocks for ever where it cannot count",
        "faces/cli/hook_session.py",
        "return self.blocks + 1 if again else 1",
        "return 1",
        (f"{STOP}::test_where_nothing_can_be_counted_one_block_has_to_do",),
    ),
    Mutation(
        "a hook lets go of what is not committed",
        "faces/cli/verb_hook.py",
        "        if not _is_gated(session):\n",
        "        if True:\n",
        (f"{STOP}::test_what_is_not_committed_blocks",),
    ),
    Mutation(
        "a hook passes what it cannot read",
        "faces/cli/verb_hook.py",
        "        raise heard.stop\n",
        "        return Exit.MET\n",
        (f"{STOP}::test_what_is_no_event_blocks_and_not_for_ever",),
    ),
    Mutation(
        "an agent leaves the project and the gate",
        "faces/cli/verb_hook.py",
        "for path in (stop.cwd, project, here)",
        "for path in (stop.cwd,)",
        (f"{STOP}::test_leaving_the_project_leads_nowhere",),
    ),
    Mutation(
        "a branch takes the policy away and is not gated",
        "gate/reading.py",
        "return (changed and _is_policy(_files(top))) or has_court(snapshot)",
        "return _is_policy(_files(top))",
        (f"{STOP}::test_a_policy_that_is_taken_away_blocks",),
    ),
    Mutation(
        "a push says things on git's standard output",
        "faces/cli/hook_session.py",
        "        self.output = self.errors\n",
        "",
        (f"{PUSH}::test_what_is_checked_out_is_proven_on_the_way",),
    ),
    Mutation(
        "a push takes along what is not checked out",
        "faces/cli/push.py",
        "if commit != head and (told",
        "if commit is None and (told",
        (f"{PUSH}::test_what_is_not_checked_out_needs_a_proof_and_is_told_how",),
    ),
    Mutation(
        "a deletion takes the rest of a push along",
        "faces/cli/push.py",
        "    if not pushed:\n",
        "    if len(pushed) < 2:\n",
        (f"{PUSH}::test_deletions_and_nothing_at_all_go",),
    ),
    Mutation(
        "a Proof by any policy is good for a push",
        "gate/elsewhere.py",
        "stands and proof.policy == digest and",
        "stands and",
        (f"{PUSH}::test_a_proof_by_another_policy_does_not_count",),
    ),
    Mutation(
        "a Proof that accepted a change is good for a push",
        "gate/elsewhere.py",
        " and not proof.accepted",
        "",
        (f"{PUSH}::test_a_proof_that_accepted_a_change_counts_for_whoever_accepts_it_again",),
    ),
    Mutation(
        "a call that is given up cancels the run",
        "faces/mcp/command.py",
        "    if process.returncode is None:\n        process.terminate()\n",
        "    if process.returncode is None:\n        process.send_signal(2)\n",
        (f"{MCP}::test_a_call_that_is_given_up_ends_no_run",),
    ),
    Mutation(
        "a run is tied to the agent's client",
        "faces/mcp/tools.py",
        'return [*super().words(), "--events", "--wait", self.wait, *again]',
        'return [*super().words(), "--events", "--foreground", *again]',
        (f"{MCP}::test_a_client_that_is_killed_ends_no_run_and_the_next_one_gets_its_proof",),
    ),
    Mutation(
        "an error of a command is an answer of its tool",
        "faces/mcp/server.py",
        '    if "error" in found:\n',
        "    if False:\n",
        (f"{MCP}::test_what_is_not_met_is_an_answer_and_what_cannot_be_asked_an_error",),
    ),
    Mutation(
        "following does not look at the time",
        "faces/cli/verb_follow.py",
        "if until is not None and session.clock.monotonic() >= until:",
        "if False:",
        (f"{MCP}::test_a_run_that_takes_long_is_left_and_followed", "--timeout=30"),
    ),
    Mutation(
        "a push draws on git's standard output",
        "faces/cli/hook_session.py",
        '    def watch(self, place: Place) -> None:\n        """No drawing',
        '    def unwatched(self, place: Place) -> None:\n        """No drawing',
        (f"{PUSH}::test_git_keeps_standard_output_where_it_is_a_terminal_too",),
    ),
)
