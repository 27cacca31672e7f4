"""Error trees: drawn as they are, one per layer, and made of data."""

import ast
import importlib
import inspect
import pickle
import pkgutil
import re
import string
import types

import pytest

import tenure
from tenure.kernel.errors import TenureError
from tests.architecture.source import package

#: The gate's errors write their sentence from these, whatever the error.
GATE_FIELDS = {"what": "it is broken", "next": "mend it", "file": "tenure.toml", "key": "jobs.test"}


def trees() -> list[types.ModuleType]:
    return [
        importlib.import_module("tenure." + module.name.removesuffix(".py").replace("/", "."))
        for module in package()
        if module.name.endswith("/errors.py")
    ]


def own(module: types.ModuleType) -> dict[str, type[TenureError]]:
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isclass(value)
        and issubclass(value, TenureError)
        and value.__module__ == module.__name__
    }


ERRORS = [error for module in trees() for error in own(module).values()]


def drawn(docstring: str) -> dict[str, tuple[str | None, str]]:
    """Each name of a drawn tree, with the name it hangs from and what stands beside it."""
    lines = docstring.splitlines()
    first = next((number for number, line in enumerate(lines) if set(line) & set("├└")), 0)
    found: dict[str, tuple[str | None, str]] = {}
    path: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        match = re.match(r"^([\s│├└─]*)(\w+)\b(.*)$", line)
        if not match or (number != first - 1 and not set(match[1]) & set("├└")):
            continue
        depth, name, beside = len(match[1]), match[2], match[3].strip()
        while path and path[-1][0] >= depth:
            path.pop()
        found[name] = (path[-1][1] if path else None, beside)
        path.append((depth, name))
    return found


def test_a_drawing_is_read_as_people_read_it():
    picture = """What can go wrong.

    Root           of all
    ├── Branch
    │   └── Twig   breaks easily
    └── Leaf       falls

    Words after it are no part of it.
    """
    assert drawn(picture) == {
        "Root": (None, "of all"),
        "Branch": ("Root", ""),
        "Twig": ("Branch", "breaks easily"),
        "Leaf": ("Root", "falls"),
    }


@pytest.mark.parametrize("module", trees(), ids=lambda module: module.__name__)
def test_the_drawn_tree_is_the_tree(module):
    picture = drawn(module.__doc__ or "")
    classes = own(module)
    assert set(picture) == set(classes)
    for name, (parent, _) in picture.items():
        if parent is not None:
            assert classes[name].__bases__ == (classes[parent],), f"{name} hangs from {parent}"


@pytest.mark.parametrize("module", trees(), ids=lambda module: module.__name__)
def test_every_drawn_leaf_says_something(module):
    picture = drawn(module.__doc__ or "")
    parents = {parent for parent, _ in picture.values()}
    for name, (_, beside) in picture.items():
        assert beside or name in parents or len(picture) == 1, f"{name}: say what the caller does"


def test_errors_live_in_the_error_modules():
    for found in pkgutil.walk_packages(tenure.__path__, "tenure."):
        if found.name.endswith("__main__"):
            continue
        importlib.import_module(found.name)
    strays = [
        f"{error.__module__}.{error.__qualname__}"
        for error in descendants(TenureError)
        if error.__module__.startswith("tenure.") and not error.__module__.endswith(".errors")
    ]
    assert strays == []


def descendants(kind: type) -> set[type]:
    below: set[type] = set(kind.__subclasses__())
    return below.union(*(descendants(one) for one in below))


def fields_of(error: type[TenureError]) -> dict[str, object]:
    """A value for every field that the error's sentence needs."""
    if not error.template:
        return dict(GATE_FIELDS) if ".gate." in error.__module__ else {}
    needed: dict[str, object] = {}
    for _, name, specification, _ in string.Formatter().parse(error.template):
        if name:
            needed[name] = 2.5 if specification else f"a {name}"
    return needed


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_an_error_survives_pickling(error):
    before = error(**fields_of(error))
    after = pickle.loads(pickle.dumps(before))
    assert type(after) is error
    assert after.fields == before.fields
    assert str(after) == str(before)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_an_errors_fields_read_as_attributes(error):
    made = error(**fields_of(error))
    for name, value in made.fields.items():
        assert getattr(made, name) == value


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_an_error_says_a_sentence_from_its_fields(error):
    fields = fields_of(error)
    sentence = str(error(**fields))
    assert "{" not in sentence
    assert "\n" not in sentence
    if error.template:
        assert all(str(value) in sentence for value in fields.values())


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_an_error_takes_no_positional_argument(error):
    with pytest.raises(TypeError):
        error("a sentence")


def test_nothing_raises_a_bare_exception():
    vague = {"Exception", "BaseException"}
    for module in package("kernel", "gate", "faces"):
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Raise) and node.exc is not None:
                raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
                name = raised.id if isinstance(raised, ast.Name) else ""
                assert name not in vague, f"{module.where(node)}: name what happened"
