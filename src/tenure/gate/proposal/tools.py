"""Tools that are known by the commands which run them."""

import shlex

import msgspec

from tenure.gate.policy import Stage


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """What a command runs: the same tool is proposed once, however it is called."""

    key: str
    name: str  #: of the job
    stage: Stage


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    stage: Stage = "check"
    looks: frozenset[str] = frozenset()  #: options with which a fixer only looks
    fixes: frozenset[str] = frozenset()  #: options with which a check fixes


_FIXES = frozenset({"--fix", "--write", "--fix-only", "-w"})


def _fix(name: str, *looks: str) -> _Known:
    return _Known(name=name, stage="fix", looks=frozenset({"--check", "--diff", *looks}))


def _check(name: str) -> _Known:
    return _Known(name=name, fixes=_FIXES)


def _test(name: str = "test") -> _Known:
    return _Known(name=name, stage="test")


#: A program, or a program and its subcommand.
_TOOLS = {
    "ruff format": _fix("format"),
    "ruff check": _check("lint"),
    "black": _fix("format"),
    "isort": _fix("imports", "-c", "--check-only"),
    "flake8": _check("lint"),
    "pylint": _check("lint"),
    "bandit": _check("security"),
    "codespell": _check("spelling"),
    "lint-imports": _check("layers"),
    "mypy": _check("types"),
    "pyright": _check("types"),
    "basedpyright": _check("types"),
    "ty check": _check("types"),
    "pytest": _test(),
    "unittest": _test(),
    "sphinx-build": _Known(name="docs"),
    "mkdocs build": _Known(name="docs"),
    "eslint": _check("lint"),
    "biome check": _check("lint"),
    "biome ci": _check("lint"),
    "biome lint": _check("lint"),
    "biome format": _check("format"),
    "prettier": _check("format"),
    "tsc": _check("types"),
    "vue-tsc": _check("types"),
    "vitest": _test(),
    "vitest run": _test(),
    "jest": _test(),
    "playwright test": _test("e2e"),
    "cargo fmt": _fix("format"),
    "cargo check": _check("build"),
    "cargo build": _Known(name="build", stage="build"),
    "cargo clippy": _check("lint"),
    "cargo test": _test(),
    "cargo nextest": _test(),
    "cargo deny": _check("security"),
    "gofmt": _fix("format", "-l", "-d"),
    "go vet": _check("lint"),
    "go build": _Known(name="build", stage="build"),
    "go test": _test(),
    "golangci-lint run": _check("lint"),
    "staticcheck": _check("lint"),
    "shellcheck": _check("shell"),
}

#: Different ways to have the same done.
_SAME = {"cargo nextest": "cargo test", "biome ci": "biome check", "vitest run": "vitest"}

#: A longer command is nobody's.
_MOST_CHARACTERS = 2000

#: Programs that run the one that comes after them.
_RUNNERS = {
    "uv": ("run",),
    "poetry": ("run",),
    "pdm": ("run",),
    "pipenv": ("run",),
    "hatch": ("run",),
    "rye": ("run",),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx", "run"),
    "bun": ("x",),
    "npm": ("exec",),
    "coverage": ("run",),
}
_RUN_AT_ONCE = ("uvx", "npx", "bunx", "pnpx", "time", "env")

#: Programs whose word is the name of something in a file that is read as well.
_TARGETS = {
    "make": "make",
    "gmake": "make",
    "just": "just",
    "npm": "script",
    "pnpm": "script",
    "yarn": "script",
    "bun": "script",
    "turbo": "turbo",
    "nox": "nox",
    "tox": "tox",
    "pre-commit": "hooks",
    "prek": "hooks",
    "lefthook": "hooks",
}

#: What a target is for, by what it is called.
_PURPOSES: dict[str, tuple[str, Stage]] = {
    **dict.fromkeys(("format", "fmt"), ("format", "fix")),
    **dict.fromkeys(
        ("format-check", "fmt-check", "check-format", "format:check", "fmt:check", "check:format"),
        ("format-check", "check"),
    ),
    **dict.fromkeys(("lint", "linters"), ("lint", "check")),
    **dict.fromkeys(
        ("types", "typecheck", "type-check", "type_check", "typing", "check-types", "check:types"),
        ("types", "check"),
    ),
    **dict.fromkeys(
        ("test", "tests", "unit", "unit-test", "unit-tests", "test:unit"), ("test", "test")
    ),
    **dict.fromkeys(("e2e", "test:e2e", "test-e2e"), ("e2e", "test")),
    **dict.fromkeys(
        ("integration", "integration-tests", "test:integration"), ("integration", "test")
    ),
    **dict.fromkeys(("build", "compile"), ("build", "build")),
    **dict.fromkeys(("docs", "doc"), ("docs", "check")),
    **dict.fromkeys(("security", "audit"), ("security", "check")),
}


def purpose(target: str) -> tuple[str, Stage] | None:
    """The name and the stage of a job for a target of this name, if it says what it is for."""
    return _PURPOSES.get(target.lower())


def words_of(command: str) -> list[str]:
    """The words of a command, as a shell would split them; none where it could not."""
    try:
        return shlex.split(command) if len(command) <= _MOST_CHARACTERS else []
    except ValueError:
        return []


def recognised(command: str) -> Tool | None:
    """What a command runs, without what only runs it: a package manager, an interpreter."""
    words = _bare(words_of(command))
    if not words:
        return None
    program = words[0].rpartition("/")[2]
    for key in (" ".join([program, *words[1:2]]), program):
        known = _TOOLS.get(key)
        if known is not None:
            return Tool(key=_SAME.get(key, key), name=known.name, stage=_stage(known, words))
    return _target(program, words)


def _stage(known: _Known, words: list[str]) -> Stage:
    if known.looks.intersection(words):
        return "check"
    if known.fixes.intersection(words):
        return "fix"
    return known.stage


def _target(program: str, words: list[str]) -> Tool | None:
    """A target of a file that is read as well, so that it is the same tool here and there."""
    kind = _TARGETS.get(program)
    rest = [word for word in words[1:] if not word.startswith("-")]
    if kind is None or (not rest and kind not in ("nox", "tox")):
        return None
    if kind == "hooks":
        return Tool(key="hooks", name="hooks", stage="fix") if rest[0] == "run" else None
    if rest[:1] == ["run"] and kind in ("script", "turbo", "tox"):
        rest = rest[1:]
    elif kind == "script" and program == "npm" and rest[0] != "test":
        return None  # a command of npm's own
    wanted = rest[0] if rest else "test"
    found = purpose(wanted)
    return None if found is None else Tool(key=f"{kind} {wanted}", name=found[0], stage=found[1])


def _bare(words: list[str]) -> list[str]:
    """The command itself, without assignments, runners and interpreters before it."""
    while words:
        first = words[0].rpartition("/")[2]
        if "=" in first and first.partition("=")[0].isidentifier():
            words = words[1:]
        elif first in _RUN_AT_ONCE:
            words = _past_options(words[1:])
        elif len(words) > 1 and words[1] in _RUNNERS.get(first, ()):
            if _is_script(first, words):
                return words
            words = _past_options(words[2:])
        elif first.startswith("python") and "-m" in words[1:3]:
            words = words[words.index("-m") + 1 :]
        elif first == "-m":
            words = words[1:]
        else:
            return words
    return words


def _is_script(first: str, words: list[str]) -> bool:
    """Whether `yarn run X` runs a script, and no program."""
    return first == "yarn" and words[1] == "run" and " ".join(words[2:3]) not in _TOOLS


def _past_options(words: list[str]) -> list[str]:
    """What follows the options; those of `uv run` that take a value are known."""
    valued = ("--with", "--extra", "--group", "--python", "-p", "--package", "--from", "--env-file")
    while words and words[0].startswith("-") and words[0] != "-m":
        words = words[2:] if words[0] in valued else words[1:]
    return words
