"""Repositories to measure in: files, a policy of four jobs that do nothing, two commits."""

import subprocess
from pathlib import Path

JOBS = ("lint", "types", "unit", "docs")

POLICY = 'trunk = "main"\n' + "".join(
    f'\n[jobs.{name}]\nstage = "{"check" if name in ("lint", "types") else "test"}"\nrun = "true"\n'
    for name in JOBS
)


def make(top: Path, files: int, extra: dict[str, str] | None = None) -> Path:
    """A repository with a branch `work` on top of `main`, and `extra` files beside the policy."""
    top.mkdir(parents=True)
    git(top, "init", "-q", "-b", "main")
    for key, value in (("user.name", "bench"), ("user.email", "bench@invalid"), ("gc.auto", "0")):
        git(top, "config", key, value)
    for number in range(files):
        path = top / f"src/p{number // 50:03}/m{number:05}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'"""Module {number}."""\n\nVALUE = {number}\n' * 8)
    for name, text in {"tenure.toml": POLICY, **(extra or {})}.items():
        (top / name).write_text(text)
    (top / "note.txt").write_text("0\n")
    commit(top, "Begin")
    git(top, "checkout", "-q", "-b", "work")
    change(top, "1")
    return top


def change(top: Path, text: str) -> None:
    """A new commit that changes one file: a candidate nobody has seen."""
    (top / "note.txt").write_text(f"{text}\n")
    commit(top, f"Note {text}")


def commit(top: Path, message: str) -> None:
    """Commit everything."""
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", message)


def git(top: Path, *words: str) -> None:
    """Run git, which must succeed."""
    subprocess.run(["git", "-C", str(top), *words], check=True)
