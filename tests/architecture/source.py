"""The source tree, parsed once, for tests that judge its shape."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tenure"

#: What the project's own texts are called; anything else was generated or is data.
WRITTEN = frozenset(
    {".py", ".sql", ".md", ".toml", ".txt", ".sh", ".cfg", ".yml", ".yaml", ".html", ".js", ".css"}
)


class Module:
    """One Python file: `name` is its path below the package, with slashes."""

    def __init__(self, path: Path, below: Path) -> None:
        self.path = path
        self.name = path.relative_to(below).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text, filename=str(path))

    def __repr__(self) -> str:
        return self.name

    def where(self, node: ast.AST) -> str:
        """`file:line` of a node, as an editor understands it."""
        return f"{self.name}:{getattr(node, 'lineno', 1)}"

    def functions(self) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """Every function with its qualified name."""
        yield from _functions(self.tree, "")


def _functions(
    node: ast.AST, prefix: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name, child
            yield from _functions(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")
        else:
            yield from _functions(child, prefix)


@cache
def package(*below: str) -> tuple[Module, ...]:
    """The modules of the package, or of the named parts of it (`"kernel"`, `"gate"`)."""
    folders = [PACKAGE / part for part in below] or [PACKAGE]
    return tuple(
        Module(path, PACKAGE) for folder in folders for path in sorted(folder.rglob("*.py"))
    )


@cache
def suite() -> tuple[Module, ...]:
    """Every test module and its support."""
    folder = ROOT / "tests"
    return tuple(Module(path, folder) for path in sorted(folder.rglob("*.py")))


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Every text of the project that people wrote, as (path, content)."""
    paths = [path for path in ROOT.iterdir() if path.suffix in WRITTEN or path.name == "Makefile"]
    for folder in ("src", "tests", "docs", "bench", "demo", "examples", ".ci"):
        paths.extend(
            path
            for path in (ROOT / folder).rglob("*")
            if path.suffix in WRITTEN or (path.is_file() and not path.suffix)
        )
    return tuple(
        (path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8", errors="replace"))
        for path in sorted(paths)
        if path.is_file() and not path.match("*.egg-info/*")
    )


def dotted(node: ast.expr) -> str:
    """`a.b.c` for a chain of names, "" for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        front = dotted(node.value)
        return f"{front}.{node.attr}" if front else ""
    return ""


def imported(tree: ast.AST) -> Iterator[tuple[ast.stmt, str]]:
    """Each import, wherever it stands, as (statement, full dotted name)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node, alias.name
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield node, f"{node.module}.{alias.name}"
