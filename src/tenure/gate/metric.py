"""Reading the number of a metric from what a job left: a file it wrote, or lines it printed.

Nothing is guessed: what is not there, stands there twice with different numbers, or is no
number, is `Unmeasured` with the reason, never zero.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from tenure.gate.errors import UsageError
from tenure.gate.number import number, plus
from tenure.gate.receipt import MetricLine
from tenure.gate.standard import Metric

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

#: What can be read from a JUnit report. Cases are counted; the totals that a writer puts in are not relied on.
JUNIT: Final = ("tests", "passed", "failures", "errors", "skipped", "time")

#: What can be read from a Cobertura report, and the count that says whether there was anything to cover.
COBERTURA: Final = {
    "line-rate": "lines-valid",
    "branch-rate": "branches-valid",
    "lines-covered": "",
    "lines-valid": "",
    "branches-covered": "",
    "branches-valid": "",
}

#: A report of more bytes than this is none.
LARGEST: Final = 64 * 1024 * 1024

_MARK = b"\nTENURE_METRIC"
_CHUNK = 1 << 20
_MOST_NAMES = 1000
_LONGEST_LINE = 400


class Unmeasured(Exception):
    """There is no number where the metric says; the message says why."""


def read_file(metric: Metric, content: bytes) -> str:
    """The number that the metric reads from the content of its file.

    Raises:
        Unmeasured: there is none, or more than one.
    """
    readers = {"json": _json, "regex": _regex, "junit": _junit, "cobertura": _cobertura}
    return readers[metric.kind](metric.what, content)


def read_lines(metric: Metric, lines: Iterable[MetricLine]) -> str:
    """The number of the line that the metric names, among those a job printed.

    Raises:
        Unmeasured: it printed no such line, or several with different numbers.
    """
    said = [line.number for line in lines if line.name == metric.what]
    if not said:
        raise Unmeasured(f"the job printed no line TENURE_METRIC {metric.what}")
    return _the_one([_number(text) for text in said], "the job printed")


def _the_one(found: Sequence[str], where: str) -> str:
    different = list(dict.fromkeys(found))
    if len(different) > 1:
        more = ", …" if len(different) > 3 else ""
        raise Unmeasured(f"{where} different numbers: {', '.join(different[:3])}{more}")
    return different[0]


def _number(text: str) -> str:
    try:
        return number(text)
    except UsageError as error:
        raise Unmeasured(str(error.fields["what"])) from error


# ── JSON ─────────────────────────────────────────────────────────────────────────────────


class _Number(msgspec.Struct, frozen=True):
    """A number of a JSON document, as it is written there."""

    text: str


#: In place of the values of a key that an object has more than once.
_TWICE: Final = object()


def json_path(text: str) -> tuple[str | int, ...]:
    """The keys and indices of a path such as `totals.percent`, `runs[0].n` or `files."a.py".n`.

    Raises:
        UsageError: it is no such path.
    """
    import re

    part = re.compile(r"""(?:^|\.)([^."\[\]]+)|(?:^|\.)"((?:[^"\\]|\\.)*)"|\[(\d{1,9})\]""")
    found: list[str | int] = []
    at = 0
    while at < len(text):
        match = part.match(text, at)
        if match is None:
            break
        bare, quoted, index = match.groups()
        if index is not None:
            found.append(int(index))
        else:
            found.append(bare if bare is not None else re.sub(r"\\(.)", r"\1", quoted))
        at = match.end()
    if not text or at < len(text) or text[0] == "." or found[:1] == ["$"]:
        raise UsageError(
            what=f"{text!r} is no path into a JSON document",
            next="""write it as totals.percent_covered, runs[0].seconds or files."a.py".lines""",
        )
    return tuple(found)


def _json(path: str, content: bytes) -> str:
    import json

    try:
        found: Any = json.loads(
            content,
            parse_float=_Number,
            parse_int=_Number,
            parse_constant=_Number,
            object_pairs_hook=_object,
        )
    except (ValueError, RecursionError) as error:
        raise Unmeasured(f"it does not parse as JSON: {error}") from error
    walked = ""
    for key in json_path(path):
        shown = f"[{key}]" if isinstance(key, int) else f".{key}" if walked else key
        found = _below(found, key, walked, shown)
        walked += shown
    if not isinstance(found, _Number):
        raise Unmeasured(f"{walked} is {_kind(found)}, not a number")
    return _number(found.text)


def _below(found: Any, key: str | int, walked: str, shown: str) -> object:
    """What stands at `key` of the part of a document to which the path has led so far."""
    fits = isinstance(found, list) if isinstance(key, int) else isinstance(found, dict)
    if not fits:
        raise Unmeasured(f"{walked or 'its content'} is {_kind(found)}, so there is no {shown}")
    try:
        below: object = found[key]
    except (KeyError, IndexError):
        raise Unmeasured(f"there is no {walked}{shown}") from None
    if below is _TWICE:
        raise Unmeasured(f"there is more than one {walked}{shown}")
    return below


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        found[key] = _TWICE if key in found else value
    return found


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {"bool": "a truth value", "str": "a string", "list": "an array", "dict": "an object"}
    return names.get(type(value).__name__, "a number")


# ── Text ─────────────────────────────────────────────────────────────────────────────────


def check_regex(text: str) -> str:
    """The regular expression, if it says where the number is.

    Raises:
        UsageError: it does not compile, or has not exactly one group.
    """
    import re

    try:
        groups = re.compile(text, re.MULTILINE).groups
    except (re.error, OverflowError, RecursionError) as error:
        what = f"{text!r} is no regular expression: {error}"
        raise UsageError(what=what, next="see the syntax of Python's re") from error
    if groups != 1:
        raise UsageError(
            what=f"{text!r} has {groups} groups, and one has to be the number",
            next=r"put the number in parentheses, as in ^total: ([0-9.]+), and others in (?:…)",
        )
    return text


def _regex(pattern: str, content: bytes) -> str:
    import re

    text = content.decode("utf-8", "replace")
    found = [match[1] for match in re.finditer(pattern, text, re.MULTILINE)]
    if not found:
        raise Unmeasured("the expression matches nothing in it")
    if None in found:
        raise Unmeasured("the expression matches without its number")
    return _the_one([_number(one) for one in found], "the expression finds")


# ── XML ──────────────────────────────────────────────────────────────────────────────────


def _parsed(content: bytes, *roots: str) -> "Element":
    from tenure.gate.markup import Malformed, parse_xml

    try:
        root = parse_xml(content)
    except Malformed as error:
        raise Unmeasured(str(error)) from error
    if _name(root) not in roots:
        raise Unmeasured(f"its root is <{_name(root)}>, not <{'> or <'.join(roots)}>")
    return root


def _name(element: "Element") -> str:
    return str(element.tag).rpartition("}")[2]


def _junit(what: str, content: bytes) -> str:
    root = _parsed(content, "testsuites", "testsuite")
    cases = [element for element in root.iter() if _name(element) == "testcase"]
    if what == "time":
        total = "0"
        for case in cases:
            total = plus(total, _number(_attribute(case, "time")))
        return total
    _require_honest_suites(root, cases)
    ends = [_end(case) for case in cases]
    counts = {"tests": len(ends), "passed": ends.count(""), "failures": ends.count("failure")}
    counts |= {"errors": ends.count("error"), "skipped": ends.count("skipped")}
    return str(counts[what])


def _require_honest_suites(root: "Element", cases: "Sequence[Element]") -> None:
    """Pass if the cases can be counted: some are there, and what failed is a case of its own."""
    if not cases:
        raise Unmeasured("there is no test case in it")
    elements = [_name(element) for element in root.iter()]
    suites = [root] if _name(root) == "testsuite" else list(root)
    for what, one in (("failures", "failure"), ("errors", "error")):
        told = [suite.get(what, "0").strip() for suite in suites]
        said = sum(int(number) for number in told if number.isdecimal())
        inside = sum(_name(child) == one for case in cases for child in case)
        if said > inside or elements.count(one) > inside:
            raise Unmeasured(f"its suites tell of {what} that are no test cases")


def _end(case: "Element") -> str:
    """How a test case ended: the worst of what is said of it, nothing if it passed."""
    said = {_name(child) for child in case}
    return next((end for end in ("error", "failure", "skipped") if end in said), "")


def _cobertura(what: str, content: bytes) -> str:
    root = _parsed(content, "coverage")
    counted = COBERTURA[what]
    # A writer that measured no branches says 0 or 1, and means neither.
    if counted and root.get(counted) is not None and _number(_attribute(root, counted)) == "0":
        raise Unmeasured(f"its {counted} is 0, so its {what} says nothing")
    value = _number(_attribute(root, what))
    covered = root.get(counted.replace("-valid", "-covered")) if counted else None
    if covered is not None and root.get(counted) is not None:
        _require_one_story(what, value, covered.strip(), _attribute(root, counted))
    return value


def _require_one_story(what: str, rate: str, covered: str, valid: str) -> None:
    """Pass if a rate is that of the counts beside it, give or take how writers round."""
    from decimal import Decimal

    apart = abs(Decimal(rate) * Decimal(_number(valid)) - Decimal(_number(covered)))
    if apart > 1 + Decimal(_number(valid)) / 50:
        raise Unmeasured(f"its {what} is {rate}, and it counts {covered} of {valid}")


def _attribute(element: "Element", name: str) -> str:
    value = element.get(name)
    if value is None:
        raise Unmeasured(f"a <{_name(element)}> has no attribute {name}")
    return value.strip()


# ── Lines of a job's output ──────────────────────────────────────────────────────────────


def metric_lines(path: str) -> tuple[MetricLine, ...]:
    """The lines `TENURE_METRIC name number` of a job's output, in their order.

    What stands there as a number is kept as it is; of a name the first two that differ, which
    is all that can be said of it. Of very many names, the first ones are kept.
    """
    found: dict[str, list[str]] = {}
    try:
        with open(path, "rb") as file:
            for line in _marked(file):
                words = line.decode("utf-8", "replace").split()
                if words[0] != _MARK.decode().strip() or len(words) < 2:
                    continue
                number = " ".join(words[2:])
                if len(found) < _MOST_NAMES or words[1] in found:
                    said = found.setdefault(words[1], [])
                    if number not in said and len(said) < 2:
                        said.append(number)
    except OSError:
        pass  # without its output there are no lines; whoever wants one says so
    return tuple(MetricLine(name=name, number=one) for name, said in found.items() for one in said)


def _marked(file: Any) -> Iterator[bytes]:
    """The lines that begin with the mark, without holding a long file in memory.

    Of a line that is too long there is its beginning, with a sign that makes a number of it none.
    """
    rest = b"\n"
    while chunk := file.read(_CHUNK):
        rest += chunk
        at = rest.find(_MARK)
        while at >= 0:
            end = rest.find(b"\n", at + 1)
            if end < 0 and len(rest) - at <= _LONGEST_LINE:
                break
            yield _cut(rest[at + 1 : end if end >= 0 else len(rest)])
            at = rest.find(_MARK, at + 1)
        rest = rest[at if at >= 0 else -len(_MARK) :]
    at = rest.find(_MARK)
    if at >= 0:
        yield _cut(rest[at + 1 :])


def _cut(line: bytes) -> bytes:
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + b" [...]"
