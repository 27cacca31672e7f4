"""What the hooks of a repository run: pre-commit, prek, lefthook."""

from collections.abc import Iterator
from itertools import islice

from tenure.gate.proposal.parsed import json, toml, yaml
from tenure.gate.proposal.proposed import Files, Findings, Proposed, text, texts
from tenure.gate.proposal.tools import recognised, words_of

_PRE_COMMIT = (".pre-commit-config.yaml", ".pre-commit-config.yml")
_LEFTHOOK = tuple(
    f"{dot}lefthook.{end}" for end in ("yml", "yaml", "toml", "json") for dot in ("", ".")
)

READ = (*_PRE_COMMIT, "prek.toml", *_LEFTHOOK)

#: Hooks by their usual ids, as the tools that they run.
_TOOL_OF_HOOK = {
    "ruff": "ruff check",
    "ruff-check": "ruff check",
    "ruff-format": "ruff format",
    "black": "black",
    "black-jupyter": "black",
    "isort": "isort",
    "flake8": "flake8",
    "pylint": "pylint",
    "mypy": "mypy",
    "pyright": "pyright",
    "bandit": "bandit",
    "codespell": "codespell",
    "eslint": "eslint",
    "prettier": "prettier",
    "fmt": "cargo fmt",
    "clippy": "cargo clippy",
    "cargo-check": "cargo check",
    "golangci-lint": "golangci-lint run",
    "go-fmt": "gofmt",
}

#: Hooks that say something about the moment of committing, and nothing about a commit.
_OF_THE_MOMENT = ("no-commit-to-branch",)

#: What lefthook puts in place of files.
_FILES = ("{staged_files}", "{all_files}", "{push_files}", "{files}")

#: No repository has more; a file that repeats itself by reference might seem to.
_MOST = 500

_JUDGED = ("pre-commit", "pre-push")


def find_pre_commit(files: Files, found: Findings) -> None:
    """Propose one job for all hooks that are not proposed on their own."""
    name = next((name for name in ("prek.toml", *_PRE_COMMIT) if name in files), None)
    if name is None:
        return
    runner = "prek" if name == "prek.toml" else "pre-commit"
    content = toml(files, name, found) if runner == "prek" else yaml(files, name, found)
    hooks = list(islice(_hooks(content), _MOST))
    covered = found.covered()
    skipped = [hook for hook, tool in hooks if tool in covered or hook in _OF_THE_MOMENT]
    if hooks and len(skipped) == len(hooks):
        found.unused.append(f"{name}: each of its hooks is a job of its own")
        return
    job = Proposed(
        name="hooks",
        stage="fix",
        command=f"{runner} run --all-files",
        source=name,
        tools=frozenset({"hooks", *(tool for _, tool in hooks if tool)}),
        whole=False,
        set_env={"SKIP": ",".join(dict.fromkeys(skipped))} if skipped else {},
        hint=_said_of_skip(skipped),
    )
    found.jobs.append(job)


def _said_of_skip(skipped: list[str]) -> str:
    """Why SKIP has these names."""
    why = [
        told
        for told, names in (
            ("is another job here", set(skipped).difference(_OF_THE_MOMENT)),
            (
                "is about the moment of committing, not about a commit",
                set(skipped) & set(_OF_THE_MOMENT),
            ),
        )
        if names
    ]
    return f"SKIP names what {', or '.join(why)}" if why else ""


def _hooks(content: object) -> Iterator[tuple[str, str]]:
    """Each hook that runs by itself, and the tool that it is, if that is known."""
    for repo in _maps(content, "repos"):
        for hook in _maps(repo, "hooks"):
            called = hook.get("id")
            stages = texts(hook.get("stages"))
            if isinstance(called, str) and (not stages or {"pre-commit", "commit"} & set(stages)):
                tool = recognised(text(hook.get("entry")))
                yield called, tool.key if tool else _TOOL_OF_HOOK.get(called, "")


def find_lefthook(files: Files, found: Findings) -> None:
    """Propose a job for each command that is known, or needs no list of files."""
    for name in _LEFTHOOK:
        if name not in files:
            continue
        if name.endswith(".toml"):
            content: object = toml(files, name, found)
        else:
            content = (
                json(files, name, found) if name.endswith(".json") else yaml(files, name, found)
            )
        for hook in _JUDGED:
            section = content.get(hook) if isinstance(content, dict) else None
            for called, command in islice(_commands(section), _MOST):
                _add(called, command, f"{name}: {hook}", found)


def _commands(section: object, depth: int = 0) -> Iterator[tuple[str, dict[object, object]]]:
    """Commands and jobs, also those in groups."""
    if not isinstance(section, dict) or depth > 4:
        return
    commands = section.get("commands")
    for name, command in commands.items() if isinstance(commands, dict) else ():
        if isinstance(command, dict):
            yield text(name) or "job", command
    for job in _maps(section, "jobs"):
        yield text(job.get("name")) or "job", job
        yield from _commands(job.get("group"), depth + 1)


def _add(called: str, command: dict[object, object], source: str, found: Findings) -> None:
    run, root = command.get("run"), command.get("root")
    if not isinstance(run, str):
        return
    bare = " ".join(word for word in run.split() if word not in _FILES)
    tool = recognised(bare)
    if tool is None and (bare != " ".join(run.split()) or not words_of(bare) or "{" in bare):
        found.unused.append(f"{source}: {called} runs on a list of files: {run.strip()}")
        return
    here = f"{bare} ." if bare != " ".join(run.split()) else bare
    job = Proposed(
        name=tool.name if tool else called,
        stage=tool.stage if tool else "check",
        command=here,
        source=f"{source}, {called}",
        tools=frozenset({tool.key}) if tool else frozenset({bare}),
        cwd=root.rstrip("/") or "." if isinstance(root, str) else ".",
    )
    found.jobs.append(job)


def _maps(content: object, key: str) -> list[dict[object, object]]:
    """The tables in a list of a table, as far as there are any."""
    found = content.get(key) if isinstance(content, dict) else None
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []
