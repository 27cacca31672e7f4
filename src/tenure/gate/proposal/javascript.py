"""What a JavaScript project can run: scripts of package.json, tasks of turbo."""

from tenure.gate.proposal.parsed import json
from tenure.gate.proposal.proposed import Files, Findings, table, text
from tenure.gate.proposal.runners import target

READ = (
    "package.json",
    "turbo.json",
    "turbo.jsonc",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
)

_MANAGERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}

#: What npm writes where there are no tests.
_PLACEHOLDER = "no test specified"


def find(files: Files, found: Findings) -> None:
    """Propose tasks of turbo, then scripts, each where its name says what it is for."""
    package = json(files, "package.json", found)
    manager = _manager(files, package)
    run = {"npm": "npx", "pnpm": "pnpm exec", "yarn": "yarn", "bun": "bunx"}[manager]
    for name in ("turbo.json", "turbo.jsonc"):
        content = json(files, name, found)
        tasks = table(content, "tasks") or table(content, "pipeline")
        for task in tasks:
            if not table(tasks, task).get("persistent") and "#" not in task:
                target(f"{run} turbo run", "turbo", task, [], f"{name}: {task}", found)
    scripts = table(package, "scripts")
    for name, script in scripts.items():
        if isinstance(script, str) and _PLACEHOLDER not in script:
            source = f"package.json: the script {name}"
            target(f"{manager} run", "script", name, _commands(script), source, found)


def _manager(files: Files, package: dict[str, object]) -> str:
    """The package manager: the one that is named, else the one whose lock file is there."""
    named = text(package.get("packageManager")).partition("@")[0]
    if named in _MANAGERS.values():
        return named
    return next((manager for lock, manager in _MANAGERS.items() if lock in files), "npm")


def _commands(script: str) -> list[str]:
    return [part.strip() for part in script.replace("||", "&&").split("&&")]
