"""Real repositories for tests: small, made in milliseconds, deaf to the machine's git settings."""

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

Content = str | bytes
Files = Mapping[str | bytes, Content]

_WHO = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment for a git of the test's own: nothing inherited, nobody's configuration."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return (
        env
        | _WHO
        | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        | dict(extra or {})
    )


def git(
    cwd: Path, *args: str | bytes, check: bool = True, env: Mapping[str, str] | None = None
) -> str:
    """Run git in `cwd` and answer its stdout without the last line break."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *args],
        cwd=cwd,
        env=environment(env),
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    if check and done.returncode != 0:
        raise AssertionError(f"git {args} in {cwd}: {done.stderr.decode(errors='replace')}")
    return os.fsdecode(done.stdout).removesuffix("\n")


def write(top: Path, files: Files, *, executable: Iterable[str | bytes] = ()) -> None:
    """Write files below `top`, making directories. Names may be bytes."""
    for name, content in files.items():
        path = top / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    for name in executable:
        (top / os.fsdecode(name)).chmod(0o755)


def make_repo(
    path: Path,
    files: Files | None = None,
    *,
    branch: str = "main",
    options: Iterable[str] = (),
) -> Path:
    """A repository at `path`; with `files` it has one commit. `options` go to `git init`."""
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "-q", "-b", branch, *options)
    if files is not None:
        commit(path, files, "Start")
    return path


def commit(
    top: Path, files: Files | None = None, message: str = "Change", *, remove: Iterable[str] = ()
) -> str:
    """Write and remove files, commit everything that is not ignored, answer the commit's id."""
    write(top, files or {})
    for name in remove:
        (top / name).unlink()
    git(top, "add", "-A")
    git(top, "commit", "-q", "--no-verify", "--allow-empty", "-m", message)
    return git(top, "rev-parse", "HEAD")


def worktree(repo: Path, path: Path, branch: str | None = None, *, start: str = "HEAD") -> Path:
    """A linked worktree at `path`, on a new `branch`, or detached without one."""
    where = ("-b", branch) if branch else ("--detach",)
    git(repo, "worktree", "add", "-q", *where, str(path), start)
    return path


def clone(source: Path, path: Path, *options: str) -> Path:
    """A clone of `source` at `path`, over a transport that respects --depth."""
    git(source, "clone", "-q", *options, f"file://{source}", str(path))
    return path


def submodule(top: Path, source: Path, name: str) -> Path:
    """Add `source` as the submodule `name` and commit that."""
    git(top, "submodule", "--quiet", "add", str(source), name)
    commit(top, message=f"Add {name}")
    return top / name
