"""The tests keep their own rules."""

import ast

from tests.architecture.excuses import ratchet
from tests.architecture.source import dotted, suite

#: Polling a condition until a generous deadline is done in these places, for everybody.
MAY_SLEEP = {"conftest.py", "waiting.py"}

#: Modules that still sleep on their own. The list only gets shorter.
STILL_SLEEP: set[str] = set()


def test_no_test_sleeps_to_be_in_step():
    found = {}
    for module in suite():
        if module.name in MAY_SLEEP:
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and dotted(node.func) in {"time.sleep", "sleep"}:
                found[module.name] = f"{module.where(node)}: use tests.waiting.until"
    ratchet(found, STILL_SLEEP, "sleeps; wait for the condition itself")


def test_no_test_is_skipped_in_silence():
    for module in suite():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and dotted(node.func).endswith(
                ("mark.skip", "pytest.skip")
            ):
                given = [*node.args, *(k.value for k in node.keywords if k.arg == "reason")]
                assert given, f"{module.where(node)}: a skip says why"
            if isinstance(node, ast.Attribute) and dotted(node) == "pytest.mark.skip":
                parents = [
                    one
                    for one in ast.walk(module.tree)
                    if isinstance(one, ast.Call) and one.func is node
                ]
                assert parents, f"{module.where(node)}: a skip says why"


def test_no_test_module_hides_another_of_its_name():
    """pytest reports a failing test by its path; two functions of one name would hide one."""
    for module in suite():
        seen: set[str] = set()
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert node.name not in seen, f"{module.where(node)}: {node.name} twice"
                seen.add(node.name)
