"""Time is handed in: one module reads clocks, one module compares a lease with them."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.excuses import ratchet
from tests.architecture.source import PACKAGE, Module, dotted, imported, package

#: What asks the machine for the time. Formatting a given time asks nothing.
READINGS = {
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.process_time",
    "time.process_time_ns",
    "time.thread_time",
    "time.thread_time_ns",
    "time.clock_gettime",
    "time.clock_gettime_ns",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
    "os.times",
}
TAILS = {reading.rsplit(".", 1)[1] for reading in READINGS}
OWNERS = {"time", "datetime", "date", "os"}

SQL_READINGS = re.compile(
    r"current_timestamp|current_time\b|current_date|unixepoch\s*\(|julianday\s*\("
    r"|strftime\s*\(|datetime\s*\(|\bnow\s*\(",
    re.IGNORECASE,
)

#: The stored moments of a lease. Ordering or subtracting them is the lease's own arithmetic.
MOMENTS = {"boot_ns", "awake_ns", "renewed", "acquired"}

#: May read clocks, each with its reason.
MAY_READ = {
    "testing/search/__main__.py": "prints how long a search took",
}

#: May do arithmetic on a lease's moments, each with its reason.
MAY_COMPARE = {
    "testing/search/laws.py": "says the rule a second time, so that the search can doubt the first",
}


def readings(module: Module) -> Iterator[ast.AST]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr in TAILS:
            owner = dotted(node.value).rsplit(".", 1)[-1]
            if owner in OWNERS:
                yield node
    for node, name in imported(module.tree):
        if name in READINGS:
            yield node


def test_only_the_clock_module_reads_a_clock():
    found = {
        module.name: ", ".join(module.where(node) for node in readings(module))
        for module in package()
        if module.name != "kernel/clock.py" and any(True for _ in readings(module))
    }
    ratchet(found, MAY_READ, "reads a clock; take the moment as an argument")


def test_the_clock_module_is_where_clocks_are_read():
    (clock,) = [module for module in package("kernel") if module.name == "kernel/clock.py"]
    assert any(True for _ in readings(clock))


@pytest.mark.parametrize(
    "path",
    sorted(PACKAGE.rglob("*.sql")),
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_no_statement_reads_a_clock(path):
    statement = re.sub(r"--.*", "", path.read_text(encoding="utf-8"))
    assert not SQL_READINGS.search(statement), f"{path.name} reads a clock; bind the moment"


#: A lease inside a condition, or taken apart by SQL's JSON functions.
SQL_COMPARISON = re.compile(
    r"lease\w*\s*(?:[<>]|->|between)|json_\w+\s*\(\s*\w*lease", re.IGNORECASE
)

#: The statements that may compare a lease with a bound moment, by name. None needs to yet.
STATEMENTS_MAY_COMPARE: set[str] = set()


def test_no_statement_compares_a_lease():
    found = {
        path.relative_to(PACKAGE).as_posix(): "compares a lease"
        for path in PACKAGE.rglob("*.sql")
        if SQL_COMPARISON.search(re.sub(r"--.*", "", path.read_text(encoding="utf-8")))
    }
    ratchet(found, STATEMENTS_MAY_COMPARE, "the lease module compares leases")


def comparisons(module: Module) -> Iterator[ast.AST]:
    for node in ast.walk(module.tree):
        operands: list[ast.expr] = []
        if isinstance(node, ast.Compare) and any(
            isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for operator in node.ops
        ):
            operands = [node.left, *node.comparators]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Add):
            operands = [node.left, node.right]
        if any(isinstance(one, ast.Attribute) and one.attr in MOMENTS for one in operands):
            yield node


def test_only_the_lease_module_compares_a_lease_with_a_clock():
    found = {
        module.name: ", ".join(module.where(node) for node in comparisons(module))
        for module in package()
        if module.name != "kernel/lease.py" and any(True for _ in comparisons(module))
    }
    ratchet(found, MAY_COMPARE, "does a lease's arithmetic; ask tenure.kernel.lease")


def test_the_lease_module_is_where_leases_are_compared():
    (lease,) = [module for module in package("kernel") if module.name == "kernel/lease.py"]
    assert any(True for _ in comparisons(lease))
