"""Calling the real `tenure` from tests, as somebody in a terminal or an agent would."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

from tests.gate.repos import Files, make_repo
from tests.waiting import until

#: The command as it is installed beside the interpreter that runs the tests.
TENURE = str(Path(sys.executable).parent / "tenure")

#: Far more than any call here needs; one that hangs is a failure with its output shown.
PATIENCE_SECONDS = 90

#: A job that passes and one that fails, as short as they come.
PASS = '[jobs.lint]\nrun = "true"\n'
FAIL = '[jobs.lint]\nrun = "false"\n'

#: A job that waits until the test says go, so that its run can be looked at while it goes on.
HOLD = "mkdir -p out; touch out/began; while [ ! -e out/go ]; do sleep 0.02; done"

IGNORED = "/out/\n*.xml\n.venv/\n"


class Ending:
    """How one call ended: its exit code and everything it printed."""

    def __init__(self, args: tuple[str, ...], code: int, out: bytes, err: bytes) -> None:
        self.args = args
        self.code = code
        self.out = out.decode()  # whatever a job prints, what we print is UTF-8
        self.err = err.decode()

    @property
    def said(self) -> str:
        """Both streams."""
        return self.out + self.err

    @property
    def object(self) -> dict[str, Any]:
        """The one JSON object on standard output, after a look at what every one has."""
        assert self.out.count("\n") == 1, f"one object on one line: {self.out!r}"
        found = json.loads(self.out)
        assert type(found) is dict
        assert found["exit_code"] == self.code
        assert found["ok"] == (self.code == 0)
        assert {"verb", "meaning"} <= set(found)
        return found

    def __repr__(self) -> str:
        return f"tenure {' '.join(self.args)} -> {self.code}\n{self.out}--\n{self.err}"


def environment(extra: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """The caller's environment with changes; None takes a variable away."""
    env = dict(os.environ)
    for name, value in (extra or {}).items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = value
    return env


def start(
    cwd: Path,
    *args: str,
    env: Mapping[str, str | None] | None = None,
    faults: str = "",
    **how: Any,
) -> subprocess.Popen[bytes]:
    """Start `tenure args…` in `cwd`. With `faults` it is the same program with faults planted."""
    command = [sys.executable, "-m", "tenure.testing.cli"] if faults else [TENURE]
    extra = {**(env or {}), **({"TENURE_FAULTS": faults} if faults else {})}
    how.setdefault("stdin", subprocess.DEVNULL)
    how.setdefault("stdout", subprocess.PIPE)
    how.setdefault("stderr", subprocess.PIPE)
    return subprocess.Popen([*command, *args], cwd=cwd, env=environment(extra), **how)


def tenure(cwd: Path, *args: str, **how: Any) -> Ending:
    """Run `tenure args…` in `cwd` to its end. No traceback is ever an answer."""
    return ended(start(cwd, *args, **how), *args)


def ended(call: subprocess.Popen[bytes], *args: str) -> Ending:
    """The end of a call that was started."""
    try:
        out, err = call.communicate(timeout=PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        call.send_signal(signal.SIGABRT)
        out, err = call.communicate()
        raise AssertionError(f"tenure {args} hangs: {out!r} {err!r}") from None
    ending = Ending(args, call.returncode, out or b"", err or b"")
    assert "Traceback" not in ending.said, ending
    return ending


def gated(path: Path, policy: str = PASS, files: Files | None = None, **how: Any) -> Path:
    """A repository at `path` whose one commit has this `tenure.toml` and `files`."""
    return make_repo(
        path, {"tenure.toml": policy, ".gitignore": IGNORED, "a.txt": "a\n", **(files or {})}, **how
    )


def job(name: str, shell: str, **keys: object) -> str:
    """The table of one job that runs `shell` in a shell."""
    lines = [f"[jobs.{name}]", f"shell = {quoted(shell)}"]
    lines += [f"{key.replace('_', '-')} = {_toml(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text)


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def store(repo: Path) -> Path:
    """The store's directory of a repository that is not a linked worktree."""
    return repo / ".git" / "tenure"


def at_rest(repo: Path, git_dir: Path | None = None) -> Path:
    """The store's file once the last run's processes are gone and all is in the file itself.

    A call is answered a moment before its run's processes end; they hold the checkout's
    lock for as long as there is one.
    """
    descriptor = os.open(git_dir or repo / ".git", os.O_RDONLY | os.O_DIRECTORY)
    try:
        until(lambda: _locked(descriptor), "the checkout is free")
    finally:
        os.close(descriptor)
    database = store(repo) / "tenure.db"
    with closing(apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.set_busy_timeout(10_000)
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    return database


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def rows(repo: Path, statement: str) -> list[tuple[Any, ...]]:
    """What a statement returns or changes in the store of `repo`, once it is at rest."""
    with closing(apsw.Connection(str(at_rest(repo)))) as connection:
        return connection.execute(statement).fetchall()


def executed(ending: Ending) -> list[str]:
    """The requirements that a call's run executed, sorted."""
    return sorted(ending.object["report"]["executed"])


def reused(ending: Ending) -> list[str]:
    """The requirements that a call's run reused, sorted."""
    return sorted(ending.object["report"]["reused"])


def failures(ending: Ending) -> list[tuple[str, str]]:
    """Requirement and kind of each failure in a call's report, in order."""
    return [(each["requirement"], each["kind"]) for each in ending.object["report"]["failures"]]
