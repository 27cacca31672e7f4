"""The ground every test stands on: a home of its own, nothing inherited, nothing left behind."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tenure.kernel import points

GIT_CONFIG = """\
[user]
    name = Ada Tester
    email = ada@tests.invalid
[init]
    defaultBranch = main
[commit]
    gpgSign = false
[tag]
    gpgSign = false
[gc]
    auto = 0
[maintenance]
    auto = false
[advice]
    detachedHead = false
[protocol "file"]
    allow = always
"""

#: Variables of the caller that would change what a test sees, by prefix.
INHERITED = ("GIT_", "TENURE_", "XDG_", "LC_", "CLICOLOR", "FORCE_COLOR", "NO_COLOR")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background, and inherited
    signal.signal(signal.SIGINT, signal.default_int_handler)

#: How long a process that a test ended may take to leave the process table.
LINGER_SECONDS = 5.0

settings.register_profile(
    "tenure",
    deadline=None,  # the machine is shared; slowness is measured in bench/
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tenure")


@pytest.fixture(scope="session", autouse=True)
def _scrubbed_environment() -> Iterator[None]:
    """For the whole session: no git, tenure or locale settings of whoever runs the tests."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(INHERITED) or name in {"CI", "COLUMNS", "LINES", "LANGUAGE"}:
            del os.environ[name]
    os.environ.update(
        GIT_CONFIG_NOSYSTEM="1",
        GIT_TERMINAL_PROMPT="0",
        LANG="C.UTF-8",
        TZ="UTC",
        TERM="dumb",
        # `python`, `python3` and `tenure` are the ones under test, whatever shims come later.
        PATH=os.pathsep.join([str(Path(sys.executable).parent), before.get("PATH", os.defpath)]),
    )
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(autouse=True)
def home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A home directory for this test alone, known to git; whoever still lives in it afterwards leaked.

    HOME reaches every descendant, jobs included, since the gate passes it on. That makes it
    the mark by which a process that outlived its test is found.
    """
    place = tmp_path_factory.mktemp("home")
    (place / ".gitconfig").write_text(GIT_CONFIG, encoding="utf-8")
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(place / ".gitconfig"))
    for name, folder in (
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
    ):
        monkeypatch.setenv(name, str(place / folder))
    monkeypatch.setenv("TENURE_SLOTS", str(place / "slots"))  # nobody else waits for ours
    before = _pids()
    yield place
    points.install(None)
    leaked = _leaked(place, before)
    for pid in leaked:
        _kill(pid)
    if leaked:
        listed = "\n".join(f"  {pid}: {command}" for pid, command in leaked.items())
        pytest.fail(f"processes outlived the test (now killed):\n{listed}")


def _leaked(place: Path, before: set[int]) -> dict[int, str]:
    """Live processes with this test's HOME that appeared during it and do not go away."""
    mark = b"HOME=" + os.fsencode(place)
    deadline = time.monotonic() + LINGER_SECONDS
    while True:
        left = {pid: _command(pid) for pid in _pids() - before if mark in _environment(pid)}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


def _pids() -> set[int]:
    try:
        return {int(name) for name in os.listdir("/proc") if name.isdecimal()}
    except OSError:  # no /proc: nothing can be said, and nothing is
        return set()


def _environment(pid: int) -> list[bytes]:
    """What `pid` was started with; empty for the dead, for zombies, and for other users'."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _command(pid: int) -> str:
    try:
        return (
            Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        )
    except OSError:
        return "?"


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
