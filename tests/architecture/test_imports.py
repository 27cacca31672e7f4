"""What the gate's start-up budget and its process model rule out.

Who may import whom inside the project is said by the import contracts in pyproject.toml;
these are the rules they cannot express.
"""

import ast

from tests.architecture.excuses import ratchet
from tests.architecture.source import imported, package

#: Ruled out below faces, kernel and gate, with the reason.
RULED_OUT = {
    "dataclasses": "0.6 ms for each class at import; use msgspec.Struct",
    "attrs": "the same",
    "asyncio": "one loop over selectors runs a gate",
    "threading": "a thread would renew a lease for a run that makes no progress",
    "multiprocessing": "processes are forked by the supervisor, in the open",
    "concurrent.futures": "no pool: a run is one process with one loop",
    "psutil": "the process table is read where it is needed",
    "sqlite3": "the system's SQLite may be inside the WAL-reset corruption range; use apsw",
}

#: Modules that import something ruled out all the same, each with its reason.
EXCUSED = {
    "kernel/stores/memory.py: threading": "a lock between handles of several threads; starts none",
}


def test_no_layer_of_the_gate_imports_what_is_ruled_out():
    found = {}
    for module in package("kernel", "gate", "faces"):
        for node, name in imported(module.tree):
            for ruled_out, reason in RULED_OUT.items():
                if name == ruled_out or name.startswith(f"{ruled_out}."):
                    found[f"{module.name}: {ruled_out}"] = f"{module.where(node)}: {reason}"
    ratchet(found, EXCUSED, "imports what is ruled out")


def test_no_code_runs_between_fork_and_exec():
    for module in package():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.keyword):
                assert node.arg != "preexec_fn", f"{module.where(node.value)}: preexec_fn"


def test_the_root_package_imports_nothing_when_imported():
    (root,) = [module for module in package() if module.name == "__init__.py"]
    loaded = [
        name
        for statement in root.tree.body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        for _, name in imported(ast.Module(body=[statement], type_ignores=[]))
        if name.startswith("tenure")
    ]
    assert loaded == [], "the front door is lazy: resolve names in __getattr__"
