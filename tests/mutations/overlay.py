"""A copy of the project in which a fault can be planted, and its tests run."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.mutations.planted import Mutation

ROOT = Path(__file__).resolve().parents[2]

#: How long the tests of one fault may take, in seconds; one that hangs counts as caught.
LIMIT_SECONDS = 120

#: The same for everything that any fault names, without a fault.
SOUND_SECONDS = 1800

PASSED, FAILED = 0, 1


class Outcome(NamedTuple):
    """What became of a fault, and what there is to say about it."""

    caught: bool
    says: str


def copied() -> Path:
    """The source and the tests in a directory of their own, compiled files and all."""
    place = Path(tempfile.mkdtemp(prefix="tenure-mutation-"))
    for name in ("src", "tests", "examples"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("*.egg-info"))
    shutil.copy2(ROOT / "pyproject.toml", place)
    return place


def run(
    place: Path,
    tests: tuple[str, ...],
    limit: float = LIMIT_SECONDS,
    how: tuple[str, ...] = ("-p", "no:xdist"),
) -> tuple[int, str]:
    """Run tests in the copy: pytest's exit code and its output."""
    flags = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *how)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *flags, *tests],
            cwd=place,
            env=_environment(place),
            capture_output=True,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return FAILED, "FAILED (hung)"
    return done.returncode, done.stdout + done.stderr


def plant(place: Path, mutation: Mutation) -> str | None:
    """Plant the fault; why it cannot be, if it cannot."""
    path = place / mutation.path
    text = path.read_text(encoding="utf-8")
    found = text.count(mutation.old)
    if found != 1:
        return f"its place in {mutation.path} was found {found} times"
    path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    return None


def sound(tests: list[tuple[str, ...]]) -> str | None:
    """Run everything that is selected, once and without a fault; the output if it is not green."""
    place = copied()
    try:
        source = _source(place)
        if not source.startswith(str(place)):
            return f"the copy in {place} uses the source in {source}"
        code, output = run(place, _once(tests), SOUND_SECONDS, ("-n", "logical"))
        return None if code == PASSED else f"it is not green without a fault:\n{output}"
    finally:
        shutil.rmtree(place)


def _once(tests: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Each selection that no other one contains."""
    selected = {one for selection in tests for one in selection}
    return tuple(
        sorted(one for one in selected if not any(one.startswith(f"{o}::") for o in selected))
    )


def tried(mutation: Mutation) -> Outcome:
    """Plant one fault in a fresh copy and see whether its tests notice."""
    place = copied()
    try:
        obstacle = plant(place, mutation)
        if obstacle is not None:
            return Outcome(False, obstacle)
        code, output = run(place, mutation.tests)
        if code == PASSED:
            return Outcome(False, "SURVIVED")
        if code != FAILED:
            return Outcome(False, f"pytest ended with {code}:\n{output}")
        return Outcome(True, _first_failure(output))
    finally:
        shutil.rmtree(place)


def _environment(place: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(place / "src")}


def _source(place: Path) -> str:
    """The package that Python finds in the copy."""
    script = "import tenure; print(tenure.__file__)"
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=place,
        env=_environment(place),
        capture_output=True,
        check=True,
        text=True,
    ).stdout


def _first_failure(output: str) -> str:
    for line in output.splitlines():
        if line.startswith(("FAILED", "ERROR")):
            return line.partition(" - ")[0].partition("::")[2] or line
    return "red"
