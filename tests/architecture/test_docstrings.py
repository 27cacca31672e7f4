"""What is public says what it promises."""

import ast
from collections.abc import Iterator

from tests.architecture.source import Module, dotted, package


def is_protocol(node: ast.ClassDef) -> bool:
    return any(dotted(base).rsplit(".", 1)[-1] == "Protocol" for base in node.bases)


def classes(module: Module) -> Iterator[ast.ClassDef]:
    for node in module.tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node


def methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for child in node.body:
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if not child.name.startswith(("_", "test_")):  # a law is said by its name
            yield child


#: A method promised by a seam is documented there, once, and not again in every backend.
PROMISED = {
    method.name
    for module in package()
    for node in classes(module)
    if is_protocol(node)
    for method in methods(node)
}

#: Named by each error for itself; the promise stands at the root of the tree.
OVERRIDDEN = {"sentence"}


def test_every_module_says_why_it_exists():
    silent = [
        module.name
        for module in package()
        if module.tree.body and not ast.get_docstring(module.tree)
    ]
    assert silent == []


def test_every_public_class_and_function_says_what_it_promises():
    silent = []
    for module in package():
        for node in module.tree.body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if not node.name.startswith("_") and not ast.get_docstring(node):
                silent.append(f"{module.where(node)} {node.name}")
    assert silent == []


def test_every_method_of_a_seam_is_specified():
    silent = [
        f"{module.where(method)} {node.name}.{method.name}"
        for module in package()
        for node in classes(module)
        if is_protocol(node)
        for method in methods(node)
        if not ast.get_docstring(method)
    ]
    assert silent == []


def test_every_public_method_says_what_it_promises():
    silent = [
        f"{module.where(method)} {node.name}.{method.name}"
        for module in package()
        for node in classes(module)
        for method in methods(node)
        if not ast.get_docstring(method) and method.name not in PROMISED | OVERRIDDEN
    ]
    assert silent == []
