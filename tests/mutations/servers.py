"""Faults in what calls tools of servers."""

from tests.mutations.planted import Mutation

TOOLS = "tests/runtime/test_mcp_tools.py"
LOST = "tests/runtime/test_mcp_lost.py"
WEB = ("tests/runtime/test_mcp_web.py",)

SERVERS = (
    Mutation(
        "any number of calls is under way",
        "runtime/mcp/link.py",
        "asyncio.Semaphore(server.concurrency)",
        "asyncio.Semaphore(1000)",
        (f"{TOOLS}::test_at_most_so_many_calls_are_under_way",),
    ),
    Mutation(
        "whatever is lost is run again",
        "runtime/mcp/tool.py",
        '    return "rerun" if harmless else "report"\n',
        '    return "rerun"\n',
        (f"{TOOLS}::test_hints_say_what_a_lost_call_is_and_the_host_has_the_last_word",),
    ),
    Mutation(
        "a server's hints count for more than its host",
        "runtime/mcp/tool.py",
        "    if said is not None:\n        return said\n",
        "",
        (f"{TOOLS}::test_hints_say_what_a_lost_call_is_and_the_host_has_the_last_word",),
    ),
    Mutation(
        "a call is made again that may have taken effect",
        "runtime/mcp/tool.py",
        "                if not again or tries >= _TRIES:\n",
        "                if tries >= _TRIES:\n",
        (f"{LOST}::test_a_server_killed_in_a_call_leaves_its_outcome_unknown",),
    ),
    Mutation(
        "what kills its server is run once more",
        "runtime/mcp/tool.py",
        "_TRIES = 2\n",
        "_TRIES = 3\n",
        (f"{LOST}::test_what_kills_every_server_is_not_run_again_for_ever",),
    ),
    Mutation(
        "a call that timed out was not made",
        "runtime/mcp/tool.py",
        "return await self._unknown(why, call) if call.begun else self.not_called(why)",
        "return self.not_called(why)",
        (f"{LOST}::test_a_call_that_times_out_is_told_to_the_server_and_unknown",),
    ),
    Mutation(
        "our own shutdown is an outcome of what may be run again",
        "runtime/mcp/tool.py",
        "                if again:  # the next",
        "                if not self.why:  # the next",
        (f"{LOST}::test_a_call_under_way_at_shutdown_is_no_worse_off_than_after_a_kill",),
    ),
    Mutation(
        "a server is not told by which key it is asked",
        "runtime/mcp/link.py",
        "{EFFECT_KEY: key}",
        "{}",
        (f"{LOST}::test_a_server_killed_in_a_call_leaves_its_outcome_unknown",),
    ),
    Mutation(
        "a dead server is started without rest",
        "runtime/mcp/link.py",
        "        pause = self.server.pause(self._failures)\n",
        "        pause = 0.0\n",
        (f"{LOST}::test_a_server_that_cannot_be_started_is_not_started_at_any_pace",),
    ),
    Mutation(
        "changes of a server's tools are missed",
        "runtime/mcp/link.py",
        "        self._stale = True\n",
        "        self._stale = False\n",
        (f"{TOOLS}::test_the_next_turn_has_the_tools_that_there_are_by_then",),
    ),
    Mutation(
        "a released pool keeps its thread",
        "runtime/mcp/pool.py",
        "        await asyncio.to_thread(self._thread.close)\n",
        "",
        (f"{LOST}::test_shutdown_ends_every_server",),
    ),
    Mutation(
        "an answer that is too large costs everybody the connection",
        "runtime/mcp/pipes.py",
        "        if request is None:\n",
        "        if begin:\n",
        (f"{TOOLS}::test_a_result_is_bounded_and_costs_nobody_else_anything",),
    ),
    Mutation(
        "standard error is read and dropped",
        "runtime/mcp/pipes.py",
        '                self._said(line.decode(errors="replace").rstrip("\\r"))\n',
        "                pass\n",
        (f"{TOOLS}::test_nothing_a_server_says_beside_the_protocol_is_lost",),
    ),
    Mutation(
        "a call that nobody heard may have taken effect",
        "runtime/mcp/web.py",
        "NOT_SENT if isinstance(error, _BEFORE) else LOST",
        "LOST",
        WEB,
    ),
    Mutation(
        "a gateway speaks for who is behind it",
        "runtime/mcp/web.py",
        "    if status >= 500:\n",
        "    if status >= 600:\n",
        WEB,
    ),
    Mutation(
        "a body over HTTP has no bound",
        "runtime/mcp/web.py",
        "            if size > self._most:\n",
        "            if size < 0:\n",
        WEB,
    ),
    Mutation(
        "two tools of one name are one",
        "runtime/agent.py",
        "            elif strict:\n",
        "            elif not self._own and not merged:\n",
        (f"{TOOLS}::test_two_tools_of_one_name_are_refused",),
    ),
)
