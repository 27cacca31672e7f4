"""Other tools that run a project's checks, set up to do the same nothing.

Each is installed below `.bench/` when it is first needed. One that cannot be installed is
left out of the tables, and the reason is printed.
"""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.measuring import clean_environment, command
from bench.place import PLACE, last_line, make_venv, pip
from bench.repositories import JOBS

#: What pip calls each tool, and the program it brings.
_FROM_PIP = {
    "just": "rust-just",
    "prek": "prek",
    "lefthook": "lefthook",
    "nox": "nox",
    "pre-commit": "pre-commit",
    "tox": "tox",
}
_TURBO = "turbo@2"


def _hooks(files: str) -> str:
    lines = ["repos:", "- repo: local", "  hooks:"]
    for name in JOBS:
        lines += [f"  - id: {name}", f"    name: {name}", "    language: system"]
        lines += ['    entry: "true"', "    pass_filenames: false", f"    files: {files}"]
        lines += ["    always_run: false", "    stages: [pre-commit]"]
    return "\n".join(lines) + "\n"


def _lefthook(glob: str) -> str:
    jobs = "".join(
        f'    {name}:\n      run: "true"\n      glob: "{glob}"\n      files: git ls-files\n'
        for name in JOBS
    )
    return f"no_auto_install: true\ncheck:\n  parallel: true\n  commands:\n{jobs}"


def _nox(body: str) -> str:
    lines = ["import nox", "", 'nox.options.default_venv_backend = "none"', ""]
    for name in JOBS:
        lines += ["", "@nox.session", f"def {name}(session):", f"    {body}", ""]
    return "\n".join(lines)


def _tox(commands: str) -> str:
    return (
        f"[tox]\nenv_list = {','.join(JOBS)}\nno_package = true\n\n[testenv]\nskip_install = true\n"
        f"allowlist_externals = true\ncommands = {commands}\n"
    )


#: The configuration of every tool for four jobs that run `true`.
FOUR_JOBS = {
    "justfile": f"all: {' '.join(JOBS)}\n" + "".join(f"{n}:\n    @true\n" for n in JOBS),
    ".pre-commit-config.yaml": _hooks("."),
    "lefthook.yml": _lefthook("*"),
    "noxfile.py": _nox('session.run("true", external=True)'),
    "tox.ini": _tox("true"),
    "package.json": json.dumps(
        {
            "name": "bench",
            "private": True,
            "packageManager": "npm@10.0.0",
            "scripts": dict.fromkeys(JOBS, "true"),
        }
    ),
    "turbo.json": json.dumps({"tasks": {name: {} for name in JOBS}}),
    ".gitignore": ".tox/\n.nox/\n.turbo/\nnode_modules/\n__pycache__/\n",
}

#: The same where there is nothing to do. nox and tox have no way to know; their jobs are empty.
#: turbo finds what it did before, so its configuration stays.
NOTHING_TO_DO = {
    **FOUR_JOBS,
    "justfile": "all:\n",
    ".pre-commit-config.yaml": _hooks("^nothing$"),
    "lefthook.yml": _lefthook("*.nothing"),
    "noxfile.py": _nox("pass"),
    "tox.ini": _tox(""),
}


class Peer(NamedTuple):
    """A tool that is ready to be measured in the repository it was set up for."""

    name: str
    run: Callable[[], None]


def peers(top: Path) -> tuple[list[Peer], list[str]]:
    """Every tool that works in the repository at `top`, and why the others do not."""
    found: list[Peer] = []
    missing: list[str] = []
    for name, words in {**_programs(missing), **_turbo(missing)}.items():
        run = command(words, str(top), environment=_environment())
        try:
            run()  # what is made once is made here
        except (OSError, RuntimeError) as error:
            missing.append(f"{name} does not work here: {last_line(str(error))}")
        else:
            found.append(Peer(name, run))
    return found, missing


def _environment() -> dict[str, str]:
    home = PLACE / "peers" / "home"
    home.mkdir(parents=True, exist_ok=True)
    kept = clean_environment()
    for name in ("XDG_CACHE_HOME", "PRE_COMMIT_HOME", "PREK_HOME"):
        kept[name] = str(home)
    kept |= {"TURBO_TELEMETRY_DISABLED": "1", "DO_NOT_TRACK": "1", "NO_COLOR": "1"}
    return kept


def _programs(missing: list[str]) -> dict[str, list[str]]:
    """The command line of each tool that pip installs, each in an environment of its own."""
    words = {
        "just": ["--quiet", "all"],
        "prek": ["run", "--all-files"],
        "lefthook": ["run", "check"],
        "nox": ["--non-interactive"],
        "pre-commit": ["run", "--all-files"],
        "tox": ["run"],
    }
    found = {}
    for name, package in _FROM_PIP.items():
        venv = PLACE / "peers" / name
        program = venv / "bin" / name
        if not program.exists():
            try:
                make_venv(venv)
                pip(venv, package)
            except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
                missing.append(f"{name} cannot be installed: {last_line(str(error))}")
                continue
        found[name] = [str(program), *words[name]]
    return found


def _turbo(missing: list[str]) -> dict[str, list[str]]:
    place = PLACE / "peers" / "turbo"
    program = place / "node_modules" / ".bin" / "turbo"
    if not program.exists():
        npm = shutil.which("npm")
        if npm is None:
            missing.append("turbo cannot be installed: there is no npm")
            return {}
        place.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [npm, "install", "--prefix", str(place), "--no-fund", "--no-audit", _TURBO],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode != 0 or not program.exists():
            missing.append(f"turbo cannot be installed: {last_line(done.stdout)}")
            return {}
    return {"turbo": [str(program), "run", *JOBS, "--no-color"]}
