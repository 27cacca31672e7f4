"""Which tests failed, by the JUnit reports that a job wrote. For people: nothing is decided by it.

A report that cannot be read, or is no JUnit, names nobody: the job's own output says the same.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST_NAMES = 20
MOST_CHARACTERS = 200
_MOST_FILES = 50
_MOST_BYTES = 8 * 1024 * 1024

#: How a command is told where to write its report.
_OPTIONS = ("--junit-xml", "--junitxml")

#: File systems stamp with a clock that may be a moment behind.
_A_MOMENT_NS = 100_000_000


class FailingTests(msgspec.Struct, frozen=True, kw_only=True):
    """The first names, in the order of the reports, and how many there are."""

    names: tuple[str, ...] = ()
    count: int = 0


def failing_tests(
    argv: Sequence[str], cwd: str, outputs: Iterable[str], top: str, since_wall_ns: int
) -> FailingTests:
    """The tests that failed according to reports among `outputs`, or at the place `argv` names.

    A report that was there before `since_wall_ns` is somebody else's.
    """
    paths = [*_among(outputs, top), *_named(argv, cwd)]
    found: list[str] = []
    count = 0
    for path in list(dict.fromkeys(map(os.path.normpath, paths)))[:_MOST_FILES]:
        for name in _failing(_content(path, since_wall_ns - _A_MOMENT_NS)):
            count += 1
            if len(found) < MOST_NAMES:
                found.append(name)
    return FailingTests(names=tuple(found), count=count)


def _among(outputs: Iterable[str], top: str) -> Iterator[str]:
    for output in outputs:
        path = os.path.join(top, output)
        if os.path.isdir(path):
            yield from (os.path.join(path, name) for name in _reports_in(path))
        elif output.endswith(".xml"):
            yield path


def _reports_in(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".xml"))
    except OSError:
        return []


def _named(argv: Sequence[str], cwd: str) -> Iterator[str]:
    words = [part for word in argv for part in word.split()]  # a shell's command is one word
    for word, following in zip(words, [*words[1:], ""], strict=False):
        option, given, path = word.partition("=")
        if option in _OPTIONS and (path if given else following):
            yield os.path.join(cwd, path if given else following)


def _content(path: str, since_wall_ns: int) -> bytes:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            seen = os.fstat(file.fileno())
            if not stat.S_ISREG(seen.st_mode) or seen.st_mtime_ns < since_wall_ns:
                return b""
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError):
        return b""
    return content if len(content) <= _MOST_BYTES else b""


def _failing(content: bytes) -> Iterator[str]:
    if not content:
        return
    from tenure.gate.markup import Malformed, parse_xml

    try:
        root = parse_xml(content)
    except Malformed:
        return
    if root.tag not in ("testsuites", "testsuite"):
        return
    for case in root.iter("testcase"):
        if any(child.tag in ("failure", "error") for child in case):
            yield _name(case)


def _name(case: "Element") -> str:
    parts = [case.get("classname") or "", case.get("name") or "a test without a name"]
    text = "::".join(part for part in parts if part)[: MOST_CHARACTERS + 1]
    shown = "".join(one if one.isprintable() else " " for one in text)
    return shown if len(shown) <= MOST_CHARACTERS else shown[: MOST_CHARACTERS - 1] + "…"
