"""Where the bench works: `.bench/`, with Tenure installed the way a user installs it."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.measuring import clean_environment

ROOT = Path(__file__).resolve().parent.parent
PLACE = Path(os.environ.get("TENURE_BENCH", ROOT / ".bench"))


class Installed:
    """A virtual environment with Tenure and nothing that it does not need."""

    def __init__(self, python: str, tenure: str) -> None:
        self.python = python
        self.tenure = tenure


def installed() -> Installed:
    """Tenure as it is in this tree, installed without links to it; reinstalled when it changed."""
    venv, stamp = PLACE / "venv", PLACE / "venv" / "installed"
    python = venv / "bin" / "python"
    digest = _digest_of_source()
    if not stamp.exists() or stamp.read_text() != digest:
        make_venv(venv)
        source = PLACE / "source"
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir(parents=True)
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            if (ROOT / name).exists():
                shutil.copy(ROOT / name, source / name)
        (source / "README.md").touch()
        shutil.copytree(ROOT / "src", source / "src", ignore=_not_source)
        pip(venv, "--force-reinstall", "-c", str(ROOT / "constraints.txt"), str(source))
        stamp.write_text(digest)
    return Installed(str(python), str(venv / "bin" / "tenure"))


def make_venv(venv: Path) -> None:
    """A virtual environment of the interpreter that runs the bench, if it is not there yet."""
    if not (venv / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)


def pip(venv: Path, *words: str) -> None:
    """Install with the environment's own pip, which also compiles.

    Raises:
        RuntimeError: pip failed; the last thing it said.
    """
    done = subprocess.run(
        [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", *words],
        env={**clean_environment(), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise RuntimeError(last_line(done.stdout))


def last_line(text: str) -> str:
    """What a program said last, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


def fresh(name: str) -> Path:
    """An empty directory of the bench's own."""
    directory = PLACE / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    return directory


def _digest_of_source() -> str:
    found = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in (".py", ".sql") and path.is_file():
            found.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    found.update((ROOT / "pyproject.toml").read_bytes())
    return found.hexdigest()


def _not_source(_: str, names: list[str]) -> set[str]:
    return {name for name in names if name == "__pycache__" or name.endswith(".egg-info")}
