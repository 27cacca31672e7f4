"""What tests do at the points of a protocol: look, pause, let a rival act, kill.

Inside one process, a `Faults` is installed for the length of a block:

    with Faults() as faults:
        pause = faults.pause("settle:read")
        ...                        # start the writer in a thread
        pause.await_arrival()      # it has read, and has not written
        ...                        # the rival acts
        pause.resume()

For a process that a test starts, the environment says what happens; see
`install_from_environment`.
"""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

from tenure.kernel import points
from tenure.kernel.errors import StoreBusy, StoreUnavailable

#: The variable that plants faults in a process.
VARIABLE = "TENURE_FAULTS"

#: Longest wait for another party, in seconds. Only a test that is failing waits this long.
PATIENCE_SECONDS = 60.0

_POLL_SECONDS = 0.005


class Planted(Exception):
    """Raised by a fault that simulates a crash of the code at a point."""


class Pause:
    """Holds one thread at a point until it is resumed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._arrived = threading.Event()
        self._resumed = threading.Event()

    def await_arrival(self) -> None:
        """Wait until a thread stands at the point."""
        assert self._arrived.wait(PATIENCE_SECONDS), f"nobody arrived at {self.name}"

    def resume(self) -> None:
        """Let it go on. Idempotent."""
        self._resumed.set()

    def __call__(self) -> None:
        self._arrived.set()
        assert self._resumed.wait(PATIENCE_SECONDS), f"nobody resumed {self.name}"


class Faults:
    """Actions at points, each taken once, in the order planted, by whoever arrives first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planted: dict[str, list[Callable[[], None]]] = {}
        self._pauses: list[Pause] = []
        self.passed: Counter[str] = Counter()  #: how often each point was passed

    def at(self, name: str, act: Callable[[], None]) -> None:
        """Call `act` in the thread that next arrives at the point."""
        with self._lock:
            self._planted.setdefault(name, []).append(act)

    def skip(self, name: str, times: int = 1) -> None:
        """Let the next arrivals at the point pass before what is planted after this."""
        for _ in range(times):
            self.at(name, _pass)

    def within(self, outer: str, name: str, act: Callable[[], None]) -> None:
        """Plant `act` at `name` once somebody arrives at `outer`."""
        self.at(outer, lambda: self.at(name, act))

    def pause(self, name: str) -> Pause:
        """Hold the thread that next arrives at the point."""
        pause = Pause(name)
        self._pauses.append(pause)
        self.at(name, pause)
        return pause

    def crash(self, name: str) -> None:
        """Raise `Planted` in the thread that next arrives at the point."""

        def crash() -> None:
            raise Planted(name)

        self.at(name, crash)

    def hook(self, name: str) -> None:
        """What `tenure.kernel.points` calls."""
        with self._lock:
            self.passed[name] += 1
            queue = self._planted.get(name)
            act = queue.pop(0) if queue else None
        if act is not None:
            act()

    def __enter__(self) -> Self:
        points.install(self.hook)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        points.install(None)
        for pause in self._pauses:
            pause.resume()


def _pass() -> None:
    """Nothing, on purpose."""


def install_from_environment(environment: Mapping[str, str] = os.environ) -> None:
    """Plant what `TENURE_FAULTS` says, in this process and in what it forks.

    The value is a comma-separated list of `POINT=ACTION`, or `POINT#N=ACTION` for the N-th
    arrival; `POINT#N>LATER=ACTION` is the first arrival at LATER after that one. Actions may
    be joined by `+` and are taken in order:

        kill            SIGKILL this process        stop            SIGSTOP this process
        exit:CODE       end without cleaning up     raise           raise `Planted`
        busy            raise `StoreBusy`           unavailable     raise `StoreUnavailable`
        signal:PATH     create the file             wait:PATH       wait until the file exists

    Without the variable nothing is installed.

    Raises:
        ValueError: the variable does not say this.
    """
    value = environment.get(VARIABLE)
    if not value:
        return
    faults = Faults()
    for entry in value.split(","):
        where, found, actions = entry.partition("=")
        if not found:
            raise ValueError(f"{VARIABLE}: {entry!r} is not POINT=ACTION")
        where, _, later = where.partition(">")
        name, _, arrival = where.partition("#")
        if arrival and not arrival.isdecimal():
            raise ValueError(f"{VARIABLE}: {entry!r} is not POINT#N=ACTION")
        faults.skip(name, int(arrival or 1) - 1)
        act = _sequence([_action(action) for action in actions.split("+")])
        if later:
            faults.within(name, later, act)
        else:
            faults.at(name, act)
    points.install(faults.hook)


def _sequence(actions: list[Callable[[], None]]) -> Callable[[], None]:
    def act() -> None:
        for action in actions:
            action()

    return act


def _action(text: str) -> Callable[[], None]:
    name, _, argument = text.partition(":")
    if name not in _ACTIONS:
        raise ValueError(f"{VARIABLE}: {text!r} is none of {', '.join(sorted(_ACTIONS))}")
    return lambda: _ACTIONS[name](argument)


def _kill(_: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _stop(_: str) -> None:
    # Sent to this very thread, which then does not run on until another one has noticed.
    signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


def _exit(code: str) -> None:
    os._exit(int(code or 1))


def _raise(_: str) -> None:
    raise Planted("planted by the environment")


def _busy(_: str) -> None:
    raise StoreBusy(store="a planted fault")


def _unavailable(_: str) -> None:
    raise StoreUnavailable(store="a planted fault", reason="unavailable", hint="try again")


def _signal(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def _wait(path: str) -> None:
    for _ in range(round(PATIENCE_SECONDS / _POLL_SECONDS)):
        if os.path.exists(path):
            return
        time.sleep(_POLL_SECONDS)
    raise Planted(f"{path} never appeared")


_ACTIONS: Mapping[str, Callable[[str], None]] = {
    "kill": _kill,
    "stop": _stop,
    "exit": _exit,
    "raise": _raise,
    "busy": _busy,
    "unavailable": _unavailable,
    "signal": _signal,
    "wait": _wait,
}
