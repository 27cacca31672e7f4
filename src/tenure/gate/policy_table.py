"""Reading the tables of a policy file, and saying exactly what is wrong with them, and where."""

from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar

from tenure.gate.errors import PolicyError, UsageError
from tenure.gate.policy_lines import Path

T = TypeVar("T")

_ARTICLES = {"str": "a string", "bool": "a boolean", "int": "an integer", "Float": "a float"}
_ARTICLES |= {"list": "a list", "dict": "a table"}


class Float:
    """A TOML float, as its text: a number that is judged is never rounded to a binary one."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


class Problems:
    """What was found wrong with one file, to be raised together."""

    def __init__(self, file: str, text: str, root: Path) -> None:
        self.file = file
        self._text = text
        self._root = root
        self._found: list[tuple[Path, str, str]] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, path: Path, what: str, after: str = "") -> None:
        """Note what is wrong with the thing at `path` (below the policy), and what to do next."""
        self._found.append((self._root + path, what, after))

    def raise_all(self) -> NoReturn:
        """Raise a `PolicyError` with every problem, in the order of the file.

        Its own fields are those of the first; `problems` has an error for each.
        """
        from tenure.gate.policy_lines import locate, nearest

        lines = locate(self._text)
        located = [(nearest(lines, path), path, what, after) for path, what, after in self._found]
        located.sort(key=lambda problem: problem[0] or 0)
        errors = tuple(
            PolicyError(file=self.file, line=line, key=dotted(path), what=what, next=after)
            for line, path, what, after in located
        )
        raise PolicyError(**errors[0].fields, problems=errors)


class Table:
    """One table of the file, read key by key.

    A value that is wrong is noted in `problems` and read as if it were not there, so that
    the rest of the file can still be judged.
    """

    def __init__(self, content: dict[str, object], path: Path, problems: Problems) -> None:
        self.content = content
        self.path = path
        self._problems = problems

    def note(self, below: str | Path, what: str, after: str = "") -> None:
        """Note a problem with a key of this table, or with something below it."""
        self._problems.add(self.path + ((below,) if isinstance(below, str) else below), what, after)

    def refuse_others(self, known: Iterable[str], later: frozenset[str]) -> None:
        """Note every key that is not known, and every one that only a later version knows."""
        names = tuple(known)
        for key in self.content:
            if key in later:
                self.note(key, "not supported by this version yet", "remove it for now")
            elif key not in names:
                self.note(key, "unknown key", suggestion(key, names))

    def text(self, key: str) -> str | None:
        """A string."""
        value = self.content.get(key)
        return None if value is None else self._string((key,), value)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.content.get(key, default)
        if isinstance(value, bool):
            return value
        self.mistyped((key,), "true or false", value)
        return default

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of strings that names nothing twice."""
        found: list[str] = []
        items = self.items(key, "strings")
        for index, item in enumerate(items or ()):
            value = self._string((key, index), item)
            if value in found:
                self.note((key, index), f"{value!r} is listed twice", "list it once")
            elif value is not None:
                found.append(value)
        return None if items is None else tuple(found)

    def place(self, key: str, item: str) -> Path:
        """Where below this table the item of a list stands."""
        value = self.content.get(key)
        return (key, value.index(item)) if isinstance(value, list) and item in value else (key,)

    def items(self, key: str, of: str) -> list[object] | None:
        """A list of anything; `of` says what it should hold."""
        value = self.content.get(key)
        if value is None or isinstance(value, list):
            return value
        self.mistyped((key,), f"a list of {of}", value)
        return None

    def seconds(self, key: str) -> float | None:
        """A duration, in seconds."""
        from tenure.gate.duration import parse_duration

        value = self.content.get(key)
        if isinstance(value, str):
            return self.checked((key,), value, parse_duration)
        if type(value) in (int, Float):
            what = f"expected a duration with its unit, found {kind_of(value)}"
            self.note(key, what, f'write "{value}s" for seconds')
        elif value is not None:
            self.mistyped((key,), 'a duration as "10m"', value)
        return None

    def number(self, key: str) -> str | None:
        """A number, as the decimal that is written there."""
        from tenure.gate.number import number

        value = self.content.get(key)
        if isinstance(value, Float) or type(value) is int:
            return self.checked((key,), str(value).replace("_", ""), number)
        if value is not None:
            self.mistyped((key,), "a number", value)
        return None

    def table(self, key: str) -> "Table | None":
        """A table below this one."""
        value = self.content.get(key)
        if isinstance(value, dict):
            return Table(value, (*self.path, key), self._problems)
        if value is not None:
            self.mistyped((key,), "a table", value)
        return None

    def checked(self, below: Path, value: str, check: Callable[[str], T]) -> T | None:
        """What `check` makes of the value; the `UsageError` it may raise is noted."""
        try:
            return check(value)
        except UsageError as error:
            self.note(below, error.fields["what"], error.fields.get("next", ""))
            return None

    def mistyped(self, below: Path, expected: str, found: object) -> None:
        """Note a value of the wrong type."""
        after = ""
        if expected == "a string" and isinstance(found, bool | int | Float):
            after = "write it in quotes"
        elif expected == "a number" and isinstance(found, str):
            after = "write it without quotes"
        elif expected.startswith("a list") and isinstance(found, str):
            after = f'write it as ["{found}"]'
        self.note(below, f"expected {expected}, found {kind_of(found)}", after)

    def _string(self, below: Path, value: object) -> str | None:
        if not isinstance(value, str):
            self.mistyped(below, "a string", value)
        elif "\0" in value:
            self.note(below, "a NUL character can be part of no command or path", "remove it")
        else:
            return value
        return None


def kind_of(value: object) -> str:
    """What a TOML value is, in words, with the value where it is short."""
    name = _ARTICLES.get(type(value).__name__, "a date or time")
    if isinstance(value, bool):
        return f"{name} ({str(value).lower()})"
    return f"{name} ({value})" if isinstance(value, int | Float) else name


def suggestion(word: str, known: Iterable[str]) -> str:
    """`did you mean …?` if something known is close, else everything that is known."""
    import difflib

    names = list(known)
    close = difflib.get_close_matches(word.lower(), names, n=1) or difflib.get_close_matches(
        word, names, n=1
    )
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known here: {', '.join(names)}" if names else ""


def dotted(path: Path) -> str:
    """A path as it could be written in the file: `jobs.test.inputs[2]`."""
    out = ""
    for part in path:
        if isinstance(part, int):
            out += f"[{part}]"
            continue
        bare = part.isascii() and part.replace("-", "").replace("_", "").isalnum()
        quoted = part if bare else '"' + part.replace("\\", "\\\\").replace('"', '\\"') + '"'
        out += f".{quoted}" if out else quoted
    return out
