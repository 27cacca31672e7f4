"""Hosts as processes: started, killed, stopped, continued, and asked what they got."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self, TypeVar

from tests.scenarios.processes import Process, process
from tests.waiting import until

T = TypeVar("T")

WORKER = Path(__file__).parent / "worker.py"

#: Only a test that is failing waits this long for a process, in seconds.
PATIENCE_SECONDS = 100.0
#: Processes that are busy at once; more only wait for each other on a small machine.
AT_ONCE = 6


class Host:
    """One process that runs `worker.py`. It is ended with the block that it is used in."""

    def __init__(
        self,
        act: str,
        *stores: Path,
        faults: str = "",
        flags: Iterable[str] = (),
        worker: Path = WORKER,
    ) -> None:
        self._popen = subprocess.Popen(
            [sys.executable, str(worker), act, *map(str, stores), *flags],
            env={**os.environ, "TENURE_FAULTS": faults},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        found = process(self._popen.pid)
        self.process = found or Process(self._popen.pid, 0)

    @property
    def pid(self) -> int:
        return self._popen.pid

    def begin(self) -> None:
        """Let a host that waits at its barrier go on. It says when it is there."""
        assert self._popen.stdin is not None
        self._popen.stdin.write("\n")
        self._popen.stdin.flush()

    def await_barrier(self) -> None:
        assert self._popen.stdout is not None
        assert self._popen.stdout.readline() == "ready\n", self._failure()

    def answers(self) -> list[dict[str, Any]]:
        """What it got, store by store, once it ends well."""
        output, errors = self._popen.communicate(timeout=PATIENCE_SECONDS)
        assert self._popen.returncode == 0, f"ended with {self._popen.returncode}:\n{errors}"
        found: list[dict[str, Any]] = json.loads(output)
        return found

    def expect_killed(self) -> None:
        """Wait until it was killed by what was planted in it."""
        output, errors = self._popen.communicate(timeout=PATIENCE_SECONDS)
        assert self._popen.returncode == -signal.SIGKILL, f"survived: {output}\n{errors}"

    def await_stopped(self) -> None:
        """Wait until it stopped itself."""
        until(lambda: self.process.state in ("T", ""), "the host stops itself")
        assert self.process.state == "T", self._failure()

    def terminate(self) -> None:
        """Ask it to end, as a supervisor does."""
        self._popen.send_signal(signal.SIGTERM)

    def end(self) -> None:
        """End it now, if it is there."""
        if self._popen.poll() is None:
            self._popen.kill()
        self._popen.communicate()

    def _failure(self) -> str:
        self._popen.kill()
        return self._popen.communicate()[1]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()


def effects(store: Path) -> Counter[str]:
    """How often each effect of a turn happened outside. It has one key, whoever tries it."""
    counted: Counter[str] = Counter()
    keys: defaultdict[str, set[str]] = defaultdict(set)
    for name, key, _ in happened(store):
        counted[name] += 1
        keys[name].add(key)
    assert all(len(found) == 1 for found in keys.values()), f"one key an effect: {dict(keys)}"
    return counted


def happened(store: Path) -> list[tuple[str, str, int]]:
    """Name, key and process of everything that happened outside, in order."""
    path = Path(f"{store}.effects")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return [(name, key, int(pid)) for name, key, pid in (line.split() for line in lines)]


def side_by_side(act: Callable[[T], None], items: Iterable[T]) -> None:
    """Do it to every item, several at once.

    Raises:
        ExceptionGroup: what went wrong, each with the item it went wrong with.
    """
    failures: list[Exception] = []

    def one(item: T) -> None:
        try:
            act(item)
        except (Exception, AssertionError) as error:
            error.add_note(f"with {item}")
            failures.append(error)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, items))
    if failures:
        raise ExceptionGroup("it went wrong", failures)
