"""A first policy, proposed from what a repository already has. Text in, text out."""

from collections.abc import Callable, Mapping

import msgspec


class Proposed(msgspec.Struct, frozen=True, kw_only=True):
    """One job to propose, and the file that suggested it."""

    name: str
    stage: str
    run: str
    because: str


def propose(files: Mapping[str, str], trunk: str) -> str:
    """The text of a `tenure.toml` for a repository whose root has `files` (name to content).

    Every proposal is a line to be read and changed by whoever commits it. Where nothing is
    recognised, the one job in it is a placeholder that fails until it is replaced.
    """
    jobs: dict[str, Proposed] = {}
    for suggest in _SUGGESTIONS:
        for job in suggest(files):
            jobs.setdefault(job.name, job)
    if not jobs:
        placeholder = "echo 'say in tenure.toml what has to pass' && false"
        jobs["test"] = Proposed(
            name="test", stage="test", run=placeholder, because="nothing was recognised"
        )
    lines = [
        "# What has to pass before a commit counts as done. `tenure done` runs it.",
        f'trunk = "{trunk}"',
    ]
    for job in jobs.values():
        key = "shell" if "&&" in job.run else "run"
        lines += [
            "",
            f"[jobs.{job.name}]  # {job.because}",
            f'stage = "{job.stage}"',
            f'{key} = "{job.run}"',
        ]
    return "\n".join(lines) + "\n"


def _python(files: Mapping[str, str]) -> list[Proposed]:
    project = files.get("pyproject.toml", "")
    found = []
    if "[tool.ruff" in project or "ruff.toml" in files:
        found.append(_job("format", "fix", "ruff format .", "ruff is configured"))
        found.append(_job("lint", "check", "ruff check .", "ruff is configured"))
    if "[tool.mypy" in project or "mypy.ini" in files:
        found.append(_job("types", "check", "mypy .", "mypy is configured"))
    if "pytest" in project or "pytest.ini" in files:
        found.append(_job("test", "test", "pytest -q", "pytest is configured"))
    elif "tox.ini" in files:
        found.append(_job("test", "test", "tox -q", "tox.ini"))
    elif "noxfile.py" in files:
        found.append(_job("test", "test", "nox", "noxfile.py"))
    return found


def _hooks(files: Mapping[str, str]) -> list[Proposed]:
    if ".pre-commit-config.yaml" in files:
        run = "pre-commit run --all-files"
        return [_job("hooks", "check", run, ".pre-commit-config.yaml")]
    return []


def _make(files: Mapping[str, str]) -> list[Proposed]:
    lines = files.get("Makefile", "").splitlines()
    targets = {line.split(":")[0] for line in lines if ":" in line and line[:1].isalpha()}
    return [
        _job(name, stage, f"make {name}", "Makefile")
        for name, stage in (("lint", "check"), ("test", "test"))
        if name in targets
    ]


def _others(files: Mapping[str, str]) -> list[Proposed]:
    found = []
    if '"test"' in files.get("package.json", ""):
        found.append(_job("test", "test", "npm test", "package.json has a test script"))
    if "Cargo.toml" in files:
        found.append(_job("lint", "check", "cargo clippy --all-targets", "Cargo.toml"))
        found.append(_job("test", "test", "cargo test", "Cargo.toml"))
    if "go.mod" in files:
        found.append(_job("lint", "check", "go vet ./...", "go.mod"))
        found.append(_job("test", "test", "go test ./...", "go.mod"))
    return found


def _job(name: str, stage: str, run: str, because: str) -> Proposed:
    return Proposed(name=name, stage=stage, run=run, because=because)


_SUGGESTIONS: tuple[Callable[[Mapping[str, str]], list[Proposed]], ...] = (
    _python,
    _hooks,
    _make,
    _others,
)

#: What is worth reading at the root of a repository.
READ = (
    "pyproject.toml",
    "ruff.toml",
    "mypy.ini",
    "pytest.ini",
    "tox.ini",
    "noxfile.py",
    ".pre-commit-config.yaml",
    "Makefile",
    "package.json",
    "Cargo.toml",
    "go.mod",
)
