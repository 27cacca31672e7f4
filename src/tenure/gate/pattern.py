"""Paths and globs over paths: which files of a tree a job reads, and which it writes.

A pattern is anchored at the root of the tree and written with `/`:

    `*` `?` `[a-z]` `[!a-z]`   within one segment; a leading dot is a character like others
    `**`                       a whole segment: any number of directories, none included
    `src` `src/`               a last segment without wildcards, or a trailing `/`, takes
                               everything beneath; with the `/` it has to be a directory

A path is bytes, as git has them. Bytes that are no UTF-8 count as one character each, so that
`*` and `?` match them. There is no exclusion and no brace expansion, and what looks like one
is refused instead of matching nothing: an input that is silently missing would let a receipt
stand for files it never saw.
"""

from collections.abc import Callable, Iterable, Sequence

from tenure.gate.errors import UsageError

WILDCARDS = frozenset("*?[")

_REFUSED = {
    "\\": ("a backslash separates nothing here", "write `/`, or `[*]` for a literal `*`"),
    "{": ("braces are not expanded", "write a pattern for each alternative, or a literal `[{]`"),
    "}": ("braces are not expanded", "write a pattern for each alternative, or a literal `[}]`"),
}


def compile_patterns(patterns: Iterable[str]) -> Callable[[bytes], bool]:
    """A predicate that tells whether a path, relative to the root, matches any of the patterns.

    Raises:
        UsageError: a pattern is malformed, absolute, or leaves the tree.
    """
    import re

    match = re.compile("|".join(map(_expression, patterns)) or r"(?!)", re.DOTALL).fullmatch

    def matches(path: bytes) -> bool:
        return match(path.decode("utf-8", "surrogateescape")) is not None

    return matches


def without_match(patterns: Sequence[str], paths: Iterable[bytes]) -> tuple[str, ...]:
    """The patterns that match none of the paths, in their order: most often a misspelt input."""
    waiting = {pattern: compile_patterns([pattern]) for pattern in patterns}
    for path in paths:
        for pattern in [pattern for pattern, matches in waiting.items() if matches(path)]:
            del waiting[pattern]
        if not waiting:
            break
    return tuple(waiting)


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that `compile_patterns` would refuse.

    Raises:
        UsageError: as `compile_patterns`.
    """
    import re

    re.compile(_expression(pattern))


def check_path(path: str) -> None:
    """Refuse a path that is not plainly inside the tree and outside its git directory.

    Raises:
        UsageError: it is empty, absolute, has `..` or empty segments, or names `.git`.
    """
    if path == "":
        raise UsageError(what="the path is empty", next="write `.` for the root")
    if path.startswith("/"):
        raise UsageError(what=f"{path!r} is absolute", next="write it relative to the root")
    if "\0" in path:
        raise UsageError(what=f"{path!r} contains a NUL character")
    for segment in path.removesuffix("/").split("/"):
        if segment == "":
            raise UsageError(what=f"{path!r} has an empty segment", next="write `/` once")
        if segment == "..":
            raise UsageError(what=f"{path!r} may leave the tree", next="write it without `..`")
        if segment.lower() == ".git":
            raise UsageError(
                what=f"{path!r} is in the git directory, which is not part of the tree",
                next="name files of the tree",
            )


def plain_path(text: str) -> str:
    """A path below the root with nothing superfluous in it; `.` is the root itself.

    Raises:
        UsageError: it leaves the tree, is in the git directory, or has wildcards.
    """
    check_path(text)
    if WILDCARDS.intersection(text):
        raise UsageError(what=f"{text!r} has wildcards", next="name one file or directory each")
    return "/".join([part for part in text.split("/") if part not in ("", ".")]) or "."


def overlap(one: str, other: str) -> bool:
    """Whether two plain paths are the same place, or one is inside the other."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _expression(pattern: str) -> str:
    """The pattern as a regular expression for a whole path."""
    check_path(pattern)
    if pattern.startswith("!"):
        raise UsageError(
            what=f"{pattern!r} would exclude, and patterns only include",
            next="list what is read, or write `[!]` for a literal `!`",
        )
    beneath = pattern.endswith("/")
    segments = [segment for segment in pattern.rstrip("/").split("/") if segment != "."]
    if not segments or segments[-1] == "**":
        return "".join(map(_directory, segments[:-1])) + ".+"
    front = "".join(map(_directory, segments[:-1]))
    last = _segment(segments[-1])
    if beneath:
        return f"{front}{last}/.+"
    return f"{front}{last}" if WILDCARDS & set(segments[-1]) else f"{front}{last}(?:/.+)?"


def _directory(segment: str) -> str:
    return "(?:[^/]+/)*" if segment == "**" else _segment(segment) + "/"


def _segment(segment: str) -> str:
    """One segment, without its `/`."""
    import re

    if "**" in segment:
        raise UsageError(
            what=f"`**` is only part of the segment {segment!r}",
            next="make it a segment of its own, as in `src/**/*.py`",
        )
    out, at = [], 0
    while at < len(segment):
        character = segment[at]
        if character in _REFUSED:
            what, after = _REFUSED[character]
            raise UsageError(what=f"{segment!r}: {what}", next=after)
        if character == "[":
            expression, at = _set(segment, at)
            out.append(expression)
            continue
        out.append({"*": "[^/]*", "?": "[^/]"}.get(character) or re.escape(character))
        at += 1
    return "".join(out)


def _set(segment: str, start: int) -> tuple[str, int]:
    """The `[…]` that opens at `start` as an expression, and the position after it."""
    import re

    negated = segment[start + 1 : start + 2] in {"!", "^"}
    first = start + 1 + negated
    end = segment.find("]", first + 1)  # a `]` that comes first is a member
    if end < 0:
        raise UsageError(
            what=f"`[` is never closed in {segment!r}", next="write `[[]` for a literal bracket"
        )
    members, at = [], first
    while at < end:
        ranged = segment[at + 1] == "-" and at + 2 < end
        low, high = segment[at], segment[at + 2] if ranged else ""
        if ranged and high < low:
            raise UsageError(
                what=f"the range `{low}-{high}` in {segment!r} is empty", next="swap its ends"
            )
        members.append(re.escape(low) + (f"-{re.escape(high)}" if ranged else ""))
        at += 3 if ranged else 1
    return f"(?:(?!/)[{'^' if negated else ''}{''.join(members)}])", end + 1
