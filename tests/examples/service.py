"""The chat service as its processes: workers started, told to leave and killed, on one port and one file."""

import json
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Self

from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]

#: What a module's name and its arguments follow.
PYTHON = [sys.executable, "-m"]

#: Far longer than a test may take: whoever would have to wait for its lapse never gets anywhere.
FOR_EVER = 36_000.0


class Worker:
    """One process that serves."""

    def __init__(self, arguments: list[str], log: Path) -> None:
        self._log = log
        with log.open("ab") as errors:
            self._popen = subprocess.Popen(
                [*PYTHON, *arguments],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self._popen.stdout is not None
        self.url = self._popen.stdout.readline().strip().rstrip("/")
        assert self.url.startswith("http://"), log.read_text("utf-8")

    @property
    def pid(self) -> int:
        return self._popen.pid

    def terminate(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to leave, as a supervisor does."""
        self._popen.send_signal(number)

    def left(self) -> None:
        """Wait until it has left by itself, and said nothing."""
        code = self._popen.wait(timeout=60)
        said = self._log.read_text("utf-8")
        assert (code, said) == (0, ""), f"ended with {code}:\n{said}"

    def end(self) -> None:
        """Kill it, if it is there."""
        self._popen.kill()
        self._popen.wait()
        assert self._popen.stdout is not None
        self._popen.stdout.close()


class Service:
    """All workers on one port. It and the file stay, whoever comes and goes."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "chat.db"
        self._folder = folder
        self._workers: list[Worker] = []
        self._place = socket.socket()  # bound and never listening: nobody else gets the port
        self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._place.bind(("127.0.0.1", 0))
        self.port: int = self._place.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self, *, release: int = 1, ttl: float = FOR_EVER, port: int | None = None) -> Worker:
        """One more worker, that answers by now."""
        wanted = self.port if port is None else port
        arguments = [str(self.store), str(wanted), str(release), str(ttl)]
        log = self._folder / f"worker-{len(self._workers)}.log"
        self._workers.append(Worker(["tests.examples.worker", *arguments], log))
        return self._workers[-1]

    def allow(self, words: int | None) -> None:
        """Let each answer of the model have so many words for now, None for all."""
        file = self.store.with_suffix(".words")
        if words is None:
            file.unlink(missing_ok=True)
        else:
            aside = file.with_suffix(".new")
            aside.write_text(str(words), "utf-8")
            aside.rename(file)

    def calls(self, chat: str | None = None) -> Counter[int]:
        """How often the model was asked, by step; of one chat or of all."""
        lines = [line.split() for line in self._lines(".calls")]
        return Counter(int(step) for session, step in lines if chat in (None, session))

    def paid(self) -> list[int]:
        """Euros of each payment."""
        return [json.loads(line)["euros"] for line in self._lines(".bank")]

    def asked(self, calls: int) -> None:
        """Wait until the model was asked so often."""
        until(lambda: self.calls().total() >= calls, f"{calls} calls of the model")

    def _lines(self, suffix: str) -> list[str]:
        file = self.store.with_suffix(suffix)
        return file.read_text("utf-8").splitlines() if file.exists() else []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.allow(None)
        for worker in self._workers:
            worker.end()
        self._place.close()
