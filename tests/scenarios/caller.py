"""One `tenure` command as a process of its own, and the run that it started."""

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.scenarios.processes import Process, companions_below, leaders_below, process
from tests.waiting import PATIENCE_SECONDS, until


class Caller:
    """A command that was started. What it writes goes to files, which are always read."""

    def __init__(self, popen: "subprocess.Popen[bytes]", out: Path, err: Path) -> None:
        self._popen = popen
        self._out = out
        self._err = err
        self.pid = popen.pid
        seen = process(popen.pid)
        self.process = seen or Process(popen.pid, 0)

    @property
    def out(self) -> str:
        """Its standard output so far."""
        return self._out.read_text("utf-8")

    @property
    def err(self) -> str:
        """Its standard error so far."""
        return self._err.read_text("utf-8")

    @property
    def answer(self) -> dict[str, Any]:
        """The one object that a finished command with `--json` printed."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def over(self) -> bool:
        """Whether the command has ended."""
        return self._popen.poll() is not None

    def wait(self) -> int:
        """Its exit code, once it has ended; minus the signal that killed it."""
        try:
            return self._popen.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(
                f"the command has not ended; it wrote: {self.out}{self.err}"
            ) from None

    def expect(self, code: int) -> None:
        """It ends with this code."""
        found = self.wait()
        assert found == code, f"exit {found} instead of {code}; it wrote: {self.out}{self.err}"

    def send(self, number: signal.Signals) -> None:
        """Signal the command alone."""
        self._popen.send_signal(number)

    def kill(self) -> None:
        """Kill the command alone, and wait until it is gone."""
        self._popen.kill()
        self._popen.wait()

    def supervisor(self) -> Process:
        """The supervisor of the run it started, once that is there."""
        return self._only(lambda: leaders_below(self.pid), "supervisor")

    def runner(self) -> Process:
        """The runner of the run it started, once that is there."""
        supervisor = self.supervisor()
        return self._only(lambda: companions_below(supervisor.pid), "runner")

    def _only(self, find: Callable[[], list[Process]], what: str) -> Process:
        found = until(lambda: find() or self.over, f"there is a {what}")
        assert isinstance(found, list), f"no {what} any more; it wrote: {self.out}{self.err}"
        assert len(found) == 1, f"more than one {what}: {found}"
        return found[0]
