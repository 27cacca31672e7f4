"""The runtime is embedded: what belongs to a process belongs to its host."""

import ast

from tests.architecture.source import dotted, package

#: Whatever these are for, a host does it and we don't.
HOSTS_OWN = {"signal", "atexit", "faulthandler", "resource"}
HOSTS_CALLS = {"add_signal_handler", "set_event_loop_policy", "getenv", "environ", "uvloop"}

#: These end child processes of their own by a signal, and handle none.
SENDS = {"runtime/mcp/pipes.py": {"signal"}}


def test_the_runtime_leaves_signals_and_the_environment_to_its_host():
    found = []
    for module in [
        *package("runtime"),
        *(m for m in package("faces") if m.name == "faces/host.py"),
    ]:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                names = {alias.name for alias in node.names} & HOSTS_OWN
            elif isinstance(node, ast.ImportFrom):
                names = {node.module or ""} & HOSTS_OWN
            elif isinstance(node, ast.Attribute):
                names = {dotted(node).rpartition(".")[2]} & HOSTS_CALLS
            else:
                continue
            names -= SENDS.get(module.name, set())
            found += [f"{module.where(node)}: {name}" for name in names]
    assert found == []
