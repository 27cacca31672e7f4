"""What a Python project is configured for."""

import configparser

from tenure.gate.policy import Stage
from tenure.gate.proposal.parsed import toml
from tenure.gate.proposal.proposed import Files, Findings, Proposed, table

READ = (
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "ruff.toml",
    ".ruff.toml",
    "mypy.ini",
    ".mypy.ini",
    "pyrightconfig.json",
    ".flake8",
    ".pylintrc",
    ".importlinter",
    "pytest.ini",
    "conftest.py",
    "uv.lock",
    "poetry.lock",
    "pdm.lock",
)

#: With what a project's own environment is entered, by the lock file that says so.
_RUNNERS = {"uv.lock": "uv run ", "poetry.lock": "poetry run ", "pdm.lock": "pdm run "}

_TESTS_HINT = 'with --junit-xml=report.xml in the command and outputs = ["report.xml"], failing tests are named'


def find(files: Files, found: Findings) -> None:
    """Propose a job for each tool that has a configuration."""
    project = toml(files, "pyproject.toml", found)
    tools, ini = table(project, "tool"), _sections(files, found)
    runner = next((how for name, how in _RUNNERS.items() if name in files), "")

    def where(tool: str, *others: str) -> str:
        """The file that configures a tool, "" if none does."""
        if tool in tools:
            return f"pyproject.toml: [tool.{tool}]"
        return next((name for name in others if name in files or name in ini), "")

    def add(name: str, stage: Stage, command: str, key: str, source: str, hint: str = "") -> None:
        if source:
            job = Proposed(
                name=name,
                stage=stage,
                command=runner + command,
                source=source.partition("#")[0],
                tools=frozenset({key}),
                hint=hint,
            )
            found.jobs.append(job)

    ruff, black = where("ruff", "ruff.toml", ".ruff.toml"), where("black")
    add("format", "fix", "black .", "black", black)
    add("imports", "fix", "isort .", "isort", where("isort"))
    add("format", "fix", "ruff format .", "ruff format", "" if black else ruff)
    add("lint", "check", "ruff check .", "ruff check", ruff)
    flake8 = where("flake8", ".flake8", "setup.cfg#flake8", "tox.ini#flake8")
    add("lint", "check", "flake8", "flake8", flake8)
    mypy = where("mypy", "mypy.ini", ".mypy.ini", "setup.cfg#mypy")
    paths = "" if {"files", "packages"} & set(table(tools, "mypy")) else " ."
    add("types", "check", f"mypy{paths}", "mypy", mypy)
    add("types", "check", "pyright", "pyright", where("pyright", "pyrightconfig.json"))
    add("types", "check", "ty check", "ty check", where("ty"))
    add("layers", "check", "lint-imports", "lint-imports", where("importlinter", ".importlinter"))
    pytest = where("pytest", "pytest.ini", "setup.cfg#tool:pytest", "tox.ini#pytest", "conftest.py")
    if not pytest and "pytest" in _requirements(project):
        pytest = "pyproject.toml: it is among the requirements"
    add("test", "test", "pytest -q", "pytest", pytest, _TESTS_HINT)


def _requirements(project: dict[str, object]) -> set[str]:
    """The names of everything that a project may want installed."""
    lists: list[object] = [table(project, "project").get("dependencies")]
    lists += table(project, "project", "optional-dependencies").values()
    lists += table(project, "dependency-groups").values()
    poetry = table(project, "tool", "poetry", "group")
    names = set(table(project, "tool", "poetry", "dependencies"))
    for group in poetry:
        names |= set(table(poetry, group, "dependencies"))
    for one in lists:
        for item in one if isinstance(one, list) else []:
            if isinstance(item, str):
                names.add(
                    "".join(c if c.isalnum() or c in "-_." else " " for c in item).split(" ")[0]
                )
    return {name.lower() for name in names}


def _sections(files: Files, found: Findings) -> set[str]:
    """The sections of files that several tools share, each as file#section."""
    told = set()
    for name in ("setup.cfg", "tox.ini"):
        told |= {f"{name}#{section}" for section in sections(files, name, found)}
    return told


def sections(files: Files, name: str, found: Findings) -> dict[str, dict[str, str]]:
    """The sections of an INI file, empty where it does not parse."""
    if name not in files:
        return {}
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(files[name])
    except configparser.Error as error:
        told = f"{name}: it does not parse ({' '.join(str(error).split())[:120]})"
        if told not in found.unused:
            found.unused.append(told)
        return {}
    return {section: dict(parser.items(section)) for section in parser.sections()}
