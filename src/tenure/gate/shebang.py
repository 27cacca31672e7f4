"""Who runs a script: its first line read as the kernel, `env` and the installers mean it."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: A kernel reads no further either.
HEAD_BYTES = 4096

_ENV_TAKES_VALUE = frozenset({"-u", "--unset", "-C", "--chdir"})


class Shebang:
    """The interpreter a script names, and where its own text begins.

    `name` is a path, or a bare name to be looked for on PATH; None if the line names nothing.
    """

    __slots__ = ("body", "name")

    def __init__(self, name: str | None, body: int) -> None:
        self.name = name
        self.body = body


def read_shebang(head: bytes, path: str) -> Shebang | None:
    """What the beginning `head` of the script at `path` says, None if it is no script.

    Understands `#!/path`, `#!/usr/bin/env name`, `env -S name args`, and the three-line form
    that installers write where the path of the interpreter is too long for a first line.
    """
    if not head.startswith(b"#!"):
        return None
    line, _, rest = head.partition(b"\n")
    body = min(len(line) + 1, len(head))
    words = os.fsdecode(line[2:].strip(b" \t\r")).split(None, 1)
    if not words:
        return Shebang(None, body)
    name = os.path.basename(words[0])
    if name == "sh" and rest.startswith(b"'''exec' "):
        return _installed(rest, body, path)
    if name == "env":
        return Shebang(_through_env(words[1] if len(words) > 1 else ""), body)
    return Shebang(words[0], body)


def _through_env(argument: str) -> str | None:
    """The program `env` would run; the kernel hands it everything after its name as one argument."""
    first, _, rest = argument.partition(" ")
    if first.startswith("--split-string"):
        words = _split(argument.removeprefix("--split-string").removeprefix("="))
    elif first.startswith("-") and not first.startswith("--") and "S" in first:
        words = _split(first.partition("S")[2] + " " + rest)
    else:
        words = [argument] if argument else []
    return _program(words)


def _program(words: "Sequence[str]") -> str | None:
    left = iter(words)
    for word in left:
        if word in _ENV_TAKES_VALUE:
            next(left, None)
        elif not word.startswith("-") and "=" not in word:
            return word
    return None


def _installed(rest: bytes, body: int, path: str) -> Shebang:
    """`#!/bin/sh`, then a line that is an exec to the shell and half a string to Python."""
    second, _, after = rest.partition(b"\n")
    third = after.partition(b"\n")[0]
    body += len(second) + 1 + len(third) + 1
    text = os.fsdecode(second)
    if "$(" in text:  # relative to the script's own place
        command = text.partition(' "$0" ')[0]
        name = command.rpartition("/")[2].strip("'\" ")
        return Shebang(os.path.join(os.path.dirname(os.path.realpath(path)), name), body)
    words = _split(text)
    return Shebang(words[1] if len(words) > 1 else None, body)


def _split(text: str) -> list[str]:
    import shlex

    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
