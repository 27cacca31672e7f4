"""Files hold one noun and functions fit on a screen."""

from tests.architecture.excuses import ratchet
from tests.architecture.source import Module, package, suite

LINES_PER_FILE = 500
LINES_PER_FUNCTION = 70
LINES_PER_DOOR = 80  # an __init__.py is a door: one screen

#: Names here are excused for now. The list only gets shorter.
LONG_FILES: set[str] = set()
LONG_FUNCTIONS: set[str] = set()


def everything() -> list[tuple[str, Module]]:
    return [(f"src/tenure/{module.name}", module) for module in package()] + [
        (f"tests/{module.name}", module) for module in suite()
    ]


def test_no_file_is_longer_than_500_lines():
    found = {}
    for name, module in everything():
        lines = module.text.count("\n")
        if lines > LINES_PER_FILE:
            found[name] = f"{lines} lines, which second noun moved in?"
    ratchet(found, LONG_FILES, f"longer than {LINES_PER_FILE} lines")


def test_no_function_is_longer_than_70_lines():
    found = {}
    for name, module in everything():
        for qualified, function in module.functions():
            lines = (function.end_lineno or function.lineno) - function.lineno + 1
            if lines > LINES_PER_FUNCTION:
                found[f"{name}:{qualified}"] = f"{lines} lines"
    ratchet(found, LONG_FUNCTIONS, f"longer than {LINES_PER_FUNCTION} lines")


def test_a_package_door_fits_on_one_screen():
    found = {
        name: f"{module.text.count(chr(10))} lines"
        for name, module in everything()
        if name.endswith("__init__.py") and module.text.count("\n") > LINES_PER_DOOR
    }
    ratchet(found, (), f"a door longer than {LINES_PER_DOOR} lines")
