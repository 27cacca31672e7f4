"""The law books: complete, and bound to every backend."""

import ast

import pytest

from tests.architecture.source import ROOT, dotted, package

#: The laws a kernel without waits can be held to. L3 speaks of waits and of the work they wake.
LAWS = [f"s{number}" for number in range(1, 12)] + ["l1", "l2", "l4"]

BOOKS = {
    node.name: node
    for module in package("testing/conformance")
    for node in module.tree.body
    if isinstance(node, ast.ClassDef) and node.name.endswith("Laws")
}

BACKENDS = sorted((ROOT / "tests" / "conformance").glob("test_*.py"))


@pytest.mark.parametrize("law", LAWS)
def test_every_law_is_written_in_a_book(law):
    entries = [
        f"{book}.{child.name}"
        for book, node in BOOKS.items()
        for child in node.body
        if isinstance(child, ast.FunctionDef) and child.name.startswith(f"test_{law}_")
    ]
    assert entries, f"no test_{law}_… in tenure.testing.conformance"


def test_there_are_books_and_backends():
    assert BOOKS
    assert {path.stem for path in BACKENDS} >= {"test_memory", "test_sqlite"}


@pytest.mark.parametrize("path", BACKENDS, ids=lambda path: path.stem)
def test_every_book_is_bound_to_every_backend(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bound = {
        dotted(base)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test")
        for base in node.bases
    }
    assert set(BOOKS) <= bound, "give each missing book a test class here"
