"""A package under the gate: its two worktrees, and everything the demo asks of them."""

import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from demo.package import Package
from demo.page import Page, StoryBroken

TENURE = Path(sys.executable).with_name("tenure")


class Ended(NamedTuple):
    """What a command did."""

    code: int
    lines: list[str]
    seconds: float

    @property
    def text(self) -> str:
        """Everything it printed."""
        return "\n".join(self.lines)


class Suite(NamedTuple):
    """What a JUnit report says of a suite."""

    tests: int
    failed: int
    seconds: float


class Gated:
    """One package in two worktrees, `one` on main and `two` beside it."""

    def __init__(self, package: Package, home: Path, venv: Path, page: Page) -> None:
        self.package = package
        self.one = home / "one"
        self.two = home / "two"
        self._page = page
        kept = ("HOME", "USER", "TMPDIR", "PATH")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        self.environment |= {
            "PATH": os.pathsep.join([str(venv / "bin"), os.environ.get("PATH", os.defpath)]),
            "VIRTUAL_ENV": str(venv),
            "LANG": "C.UTF-8",
            # Whatever the reader's own git is set up to do, it does not do it here.
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }

    # git

    def found(self) -> None:
        """Make the repository: one commit on main, and a second worktree of it."""
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "Demo")
        self.git("config", "user.email", "demo@localhost")
        self.commit(self.one, f"Import {self.package.name} {self.package.version}, and gate it")
        self.git("worktree", "add", "--quiet", "-b", "two", str(self.two))

    def git(self, *arguments: str, where: Path | None = None) -> str:
        """Run git in a worktree (`one` unless told otherwise); what it printed."""
        command = ["git", *arguments]
        done = subprocess.run(
            command, cwd=where or self.one, env=self.environment, capture_output=True, text=True
        )
        if done.returncode:
            raise StoryBroken(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
        return done.stdout.strip()

    def commit(self, where: Path, message: str) -> None:
        """Commit everything in a worktree."""
        self.git("add", "--all", where=where)
        self.git("commit", "--quiet", "--message", message, where=where)

    # tenure

    def start(self, where: Path, *arguments: str) -> subprocess.Popen[str]:
        """Start a tenure command in a worktree."""
        return subprocess.Popen(
            [TENURE, *arguments],
            cwd=where,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def tell(self, process: subprocess.Popen[str], *, margin: str | None = "   ") -> Ended:
        """Pass on what a command prints, line by line, until it ends. A margin of None: in silence."""
        began, lines = time.monotonic(), []
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if margin is not None:
                self._page.line(lines[-1], margin=margin)
        return Ended(process.wait(), lines, time.monotonic() - began)

    def done(self, where: Path, *, told: bool) -> Ended:
        """`tenure done` in a worktree; its output is shown if it is to be told."""
        if told:
            self._page.command(self.name_of(where), "tenure done")
            return self.tell(self.start(where, "done"))
        with self._page.step(f"{self.name_of(where)} $ tenure done"):
            return self.tell(self.start(where, "done"), margin=None)

    def both_done(self) -> dict[str, Ended]:
        """`tenure done` in both worktrees at the same moment."""
        ended: dict[str, Ended] = {}

        def ask(where: Path) -> None:
            ended[where.name] = self.tell(self.start(where, "done"), margin=f"   {where.name} │ ")

        threads = [threading.Thread(target=ask, args=(where,)) for where in (self.one, self.two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return ended

    def done_and_killed(self, where: Path) -> int:
        """`tenure done`, killed by SIGKILL as soon as the suite has started; its exit status."""
        self._page.command(self.name_of(where), "tenure done")
        process = self.start(where, "done")
        assert process.stdout is not None
        for line in process.stdout:
            self._page.line(line.rstrip("\n"))
            if line.split() == ["start", "test"]:
                process.send_signal(signal.SIGKILL)
        return process.wait()

    def cancelled(self) -> None:
        """Ask for the end of whatever runs in either worktree."""
        for where in (self.one, self.two):
            if where.is_dir():
                self.tell(self.start(where, "cancel"), margin=None)

    def asked(self, where: Path, *arguments: str) -> dict[str, Any]:
        """The one object that a command prints with `--json`."""
        ended = self.tell(self.start(where, *arguments, "--json"), margin=None)
        try:
            return dict(json.loads(ended.text))
        except ValueError:
            raise StoryBroken(f"`tenure {' '.join(arguments)} --json` said: {ended.text}") from None

    # what is recorded

    def proof(self, where: Path) -> dict[str, Any]:
        """The Proof of what is checked out in a worktree.

        Raises: StoryBroken if there is none.
        """
        proof = self.asked(where, "proof")["proof"]
        if proof is None:
            raise StoryBroken(f"there is no Proof in {self.name_of(where)}")
        return dict(proof)

    def executed(self, where: Path) -> list[str]:
        """Which jobs the Proof's own run executed; the others were reused."""
        evidence = self.proof(where)["evidence"]
        return sorted(item["requirement"] for item in evidence if item["source"] == "executed")

    def suite_executions(self) -> int:
        """How often the suite was started in this repository, in any worktree: each leaves its output."""
        return len(list((self.one / ".git" / "tenure" / "runs").glob("*/test.out")))

    def suite(self) -> Suite:
        """What the suite's own report says, in the worktree that ran it."""
        where = Path(self.proof(self.one)["worktree"])
        cases = list(ElementTree.parse(where / "report.xml").iter("testcase"))
        bad = sum(1 for case in cases if {"failure", "error"} & {child.tag for child in case})
        seconds = next(
            item["seconds"]
            for item in self.proof(self.one)["evidence"]
            if item["requirement"] == "test"
        )
        return Suite(len(cases), bad, seconds)

    def last_report(self) -> dict[str, Any]:
        """How the newest run ended."""
        return dict(self.asked(self.one, "runs")["runs"][0]["report"])

    # time

    def milliseconds(self, times: int) -> tuple[float, float]:
        """The median of `tenure done` where the Proof exists, and of `python -c pass` beside it."""
        ours, floor = [], []
        for _ in range(times):
            floor.append(self._timed([sys.executable, "-c", "pass"]))
            ours.append(self._timed([str(TENURE), "done"]))
        return statistics.median(ours), statistics.median(floor)

    def _timed(self, command: list[str]) -> float:
        began = time.perf_counter()
        subprocess.run(
            command, cwd=self.two, env=self.environment, stdout=subprocess.DEVNULL, check=True
        )
        return (time.perf_counter() - began) * 1000

    def name_of(self, where: Path) -> str:
        """A worktree as it is called in the demo: `click/one`."""
        return f"{where.parent.name}/{where.name}"
