"""One word, one meaning; and no word that means nothing."""

import ast
import re

from tests.architecture.source import package, suite

#: Words that say where code was put instead of what it is.
EMPTY_WORDS = {"manager", "helper", "helpers", "util", "utils", "misc", "common", "stuff"}


def words(name: str) -> list[str]:
    """`LeaseKeeper` and `lease_keeper` both as ["lease", "keeper"]."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def test_words_are_split_as_people_read_them():
    assert words("SQLStoreHelper") == ["sql", "store", "helper"]
    assert words("lease_keeper") == ["lease", "keeper"]


def test_no_module_has_an_empty_name():
    for module in (*package(), *suite()):
        for part in module.path.with_suffix("").parts[-2:]:
            assert not EMPTY_WORDS & set(words(part)), f"{module.name}: name the noun it holds"


def test_no_class_has_an_empty_name():
    for module in package():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                empty = EMPTY_WORDS & set(words(node.name))
                assert not empty, f"{module.where(node)}: {node.name}: name what it is"
                assert words(node.name)[:1] != ["base"], f"{module.where(node)}: {node.name}"


def test_nothing_has_an_async_twin():
    for module in package():
        for qualified, function in module.functions():
            assert not qualified.endswith("_async"), module.where(function)
