"""The chapter about the runtime: a turn that is killed in the middle of a tool call, and goes on.

`python -m demo.session` tells it alone.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from demo.page import Page, StoryBroken

CLERK = Path(__file__).with_name("clerk.py")
TENURE = Path(sys.executable).with_name("tenure")
QUESTION = "Refund order 7, please. Is there another kettle?"
SCRIPTED = "TENURE_MODEL_URL" not in os.environ
#: With a model of one's own nobody knows which tool it calls first.
HANGING = ("refund", "count_stock") if SCRIPTED else ("find_order", "refund", "count_stock")


class Ended(NamedTuple):
    """What one process did."""

    pid: int
    code: int
    lines: list[str]
    trace: list[dict[str, Any]]

    @property
    def text(self) -> str:
        """Everything it printed."""
        return "\n".join(self.lines)


class SessionStory:
    """One turn, three processes."""

    def __init__(self, page: Page, home: Path) -> None:
        self._page = page
        self._home = home

    def tell(self) -> None:
        """The chapter."""
        shutil.rmtree(self._home, ignore_errors=True)
        self._home.mkdir(parents=True)
        self._page.chapter(
            "6  An agent is killed in the middle of a tool call, and goes on elsewhere",
            "The same ownership, as a library. demo/clerk.py is a service of one file: an agent with "
            "three tools. Each writes down when it begins; two of them then wait for an answer that "
            "does not come in time.",
        )
        key, killed = "msg-17", self.killed("msg-17", waits=HANGING)
        if killed.code == 0:
            self._page.line()
            self._page.text("The model answered without a tool. So again, killed while it speaks:")
            key, killed = "msg-18", self.killed("msg-18", waits=HANGING)
        self.left()
        resumed = self.resumed(key)
        if resumed.trace:  # or else the model was faster than the kill, and the turn is committed
            self.compared(killed, resumed)
        self.asked_again(key, resumed)

    def killed(self, key: str, *, waits: tuple[str, ...]) -> Ended:
        """Ask, and kill whoever drives the turn once it is where nobody knows what happened."""
        page = self._page
        awaited = {f"  begun   {name}" for name in waits}
        enough = len(awaited) if SCRIPTED else 1
        page.line()
        process = self._asked(key, "--hang", *waits)
        lines, struck = [], False
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            page.line(lines[-1])
            speaks = key == "msg-18" and lines[-1].startswith("  says")
            if not struck and (speaks or len(awaited.intersection(lines)) >= enough):
                process.send_signal(signal.SIGKILL)
                struck = True
                page.line("kill -9")
        ended = Ended(process.pid, process.wait(), lines, self._trace(process.pid))
        if SCRIPTED:
            page.holds("it was killed with two tools under way", ended.code == -9, ended.text)
        return ended

    def left(self) -> None:
        """What anybody sees of it, while nobody drives it."""
        self._page.line()
        command = ["sessions", "show", "chat-1", "--store", "sqlite:///agents.db"]
        self._page.command("session", f"tenure {' '.join(command)}")
        done = self._run([str(TENURE), *command])
        for line in done.stdout.splitlines():
            self._page.line(line)
        if SCRIPTED:
            self._page.holds(
                "the turn is open, and two effects have no recorded outcome",
                done.stdout.count("started, outcome unknown") == 2,
                done.stdout + done.stderr,
            )

    def resumed(self, key: str) -> Ended:
        """The client asks again, as clients do, and reaches another process."""
        self._page.line()
        self._page.text(
            "The client asks again, and reaches another process. It takes the turn over once the "
            "lease has lapsed, 1.8 s here:"
        )
        self._page.line()
        ended = self._ended(self._asked(key))
        self._page.holds("the turn was finished by another owner", ended.code == 0, ended.text)
        return ended

    def compared(self, killed: Ended, resumed: Ended) -> None:
        """What was replayed and what was run, by the traces of both processes."""
        page, before = self._page, {span["id"] for span in killed.trace}
        begun = self._outside(killed.pid)
        rows, effects = [], [span for span in resumed.trace if span["kind"] != "turn"]
        for span in effects:
            name = span["name"].removeprefix("execute_tool ").replace("chat ", "model: ")
            first = "ran" if span["id"] in before else "begun, killed" if name in begun else ""
            rows.append((name, first, _how(span, again=bool(first))))
        page.line()
        page.text("By the traces of the two processes, and by what the tools wrote down:")
        page.line()
        page.table(("", str(killed.pid), str(resumed.pid)), rows)
        page.line()
        replayed = {span["id"] for span in effects if span["replayed"] and span["status"] == "ok"}
        page.holds("every recorded outcome was reused, and nothing else was", replayed == before)
        if not SCRIPTED:
            return
        ran = self._outside(resumed.pid)
        page.holds(
            'refund (in_doubt="report") was not called again: the model was told that nobody knows',
            "refund" not in ran and "  replay  refund: unknown" in resumed.lines,
            resumed.text,
        )
        keys = {line[2] for line in self._book() if line[0] == "count_stock"}
        page.holds(
            'count_stock (in_doubt="rerun") was called again, with the same effect_key',
            ran == ["count_stock"] and len(keys) == 1,
            f"It called {ran}.",
        )

    def asked_again(self, key: str, resumed: Ended) -> None:
        """A third process, and nothing is left to do."""
        page = self._page
        page.line()
        ended = self._ended(self._asked(key))
        page.holds(
            "asked once more, the record answers: no model, no tool, the same words",
            ended.trace == [] and ended.lines[-1] == resumed.lines[-1],
            ended.text,
        )

    # processes

    def _asked(self, key: str, *more: str) -> subprocess.Popen[str]:
        typed = " ".join(["python ../../demo/clerk.py", key, f'"{QUESTION}"', *more])
        self._page.command("session", typed)
        return subprocess.Popen(
            [sys.executable, str(CLERK), key, QUESTION, *more],
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def _ended(self, process: subprocess.Popen[str]) -> Ended:
        lines = []
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            self._page.line(lines[-1])
        code = process.wait()
        if code:
            raise StoryBroken(f"clerk.py ended with {code}: {lines[-1:]}")
        return Ended(process.pid, code, lines, self._trace(process.pid))

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=self._home, capture_output=True, text=True)

    # what they left

    def _trace(self, pid: int) -> list[dict[str, Any]]:
        path = self._home / f"trace-{pid}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def _book(self) -> list[list[str]]:
        path = self._home / "outside.txt"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def _outside(self, pid: int) -> list[str]:
        """What one process made happen."""
        return [name for name, by, _ in self._book() if by == str(pid)]


def _how(span: dict[str, Any], *, again: bool) -> str:
    if span["status"] == "in_doubt":
        return "told as unknown"
    if span["replayed"]:
        return "replayed"
    return "ran again" if again else "ran"


def main() -> int:
    """Tell the chapter alone; 1 if it does not hold."""
    home = Path(sys.argv[1] if len(sys.argv) > 1 else CLERK.parents[1] / ".demo").resolve()
    page, began = Page(f"{home}/"), time.monotonic()
    try:
        SessionStory(page, home / "session").tell()
    except StoryBroken as broken:
        print(f"\n✗ {broken}")
        return 1
    page.line()
    page.line(f"All of it held, in {time.monotonic() - began:.0f} s.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
