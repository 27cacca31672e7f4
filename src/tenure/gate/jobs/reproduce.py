"""The line that runs a job again by hand."""

from collections.abc import Mapping, Sequence


def reproduce(
    command: Sequence[str], *, cwd: str, changes: Mapping[str, str | None] | None = None
) -> str:
    """One shell line that runs `command` in `cwd` with `changes` to the environment.

    None as a value takes a variable away. It is for bash, zsh or any shell that knows
    `$'…'` where something unprintable has to be written, and for any shell otherwise. It
    shows what it is given: pass no secret.
    """
    sets = {name: value for name, value in (changes or {}).items() if value is not None}
    unsets = [name for name, value in (changes or {}).items() if value is None]
    words = []
    # A shell assigns only to names it could have made; `env` takes any, and takes away.
    if unsets or not all(name.isidentifier() and name.isascii() for name in sets):
        words.append("env")
        for name in unsets:
            words += ["-u", _quote(name)]
        words += [_quote(f"{name}={value}") for name, value in sets.items()]
    else:
        words += [f"{name}={_quote(value)}" for name, value in sets.items()]
    words += [_quote(word) for word in command]
    folder = _quote(cwd)
    return f"(cd {'-- ' if folder.startswith('-') else ''}{folder} && {' '.join(words)})"


def _quote(word: str) -> str:
    if not all(character.isprintable() for character in word):
        return "$'" + "".join(_escaped(character) for character in word) + "'"
    import shlex

    return shlex.quote(word)


def _escaped(character: str) -> str:
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    # Bytes that were no text came in as surrogates and go out as the bytes they were.
    raw = character.encode("utf-8", "surrogateescape")
    return "".join(f"\\{byte:03o}" for byte in raw)
