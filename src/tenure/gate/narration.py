"""The run log: what a run says while it works, one JSON event a line.

The log is the only thing a run writes for people, and writing it never waits for anyone:
whoever wants to read follows the file. A terminal that stops reading stops a follower.
"""

import os
from collections.abc import Iterator

import msgspec

from tenure.gate.kind import RunKind
from tenure.gate.measurement import Measurement
from tenure.gate.proof import Proof
from tenure.gate.report import Report
from tenure.gate.wire import encoded

LOG = "log"


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened in a run. `wall_ns` is filled in by the log."""

    wall_ns: int = 0


class Began(Event, frozen=True, kw_only=True, tag="began"):
    """The run exists."""

    run: str
    worktree: str
    commit: str
    branch: str | None
    kind: RunKind = "done"


class Waiting(Event, frozen=True, kw_only=True, tag="waiting"):
    """It waits for something outside."""

    reason: str
    other: str | None = None


class Recovered(Event, frozen=True, kw_only=True, tag="recovered"):
    """It retired somebody else's attempt."""

    attempt: str
    run: str
    evidence: str
    killed: tuple[str, ...] = ()


class Planned(Event, frozen=True, kw_only=True, tag="planned"):
    """Which receipts are reused (with the run they come from) and which jobs run, and why."""

    reused: dict[str, str]
    execute: dict[str, tuple[str, ...]]
    estimate: dict[str, float]  #: seconds each took last time, where it is known
    stages: dict[str, str] = {}  #: of the jobs that run


class Bound(Event, frozen=True, kw_only=True, tag="bound"):
    """It holds its subject."""

    attempt: str
    sequence: int


class JobWaiting(Event, frozen=True, kw_only=True, tag="job_waiting"):
    """A job could run and waits for a slot or a hold, which others have."""

    requirement: str
    wanted: str  #: "slot heavy", "hold db"
    places: int
    holders: tuple[str, ...]  #: job, run and worktree of each, in words
    runs: tuple[str, ...]


class JobBegan(Event, frozen=True, kw_only=True, tag="job_began"):
    """A job runs."""

    requirement: str


class JobRetried(Event, frozen=True, kw_only=True, tag="job_retried"):
    """A job did not pass and runs again."""

    requirement: str
    outcome: str
    seconds: float
    detail: str
    number: int  #: of the try that begins
    of: int


class JobEnded(Event, frozen=True, kw_only=True, tag="job_ended"):
    """A job ended."""

    requirement: str
    outcome: str
    seconds: float
    detail: str = ""


class Measured(Event, frozen=True, kw_only=True, tag="measured"):
    """A standard was measured, or could not be."""

    measurement: Measurement


class Noted(Event, frozen=True, kw_only=True, tag="noted"):
    """Something worth knowing that changes nothing."""

    text: str


class Ended(Event, frozen=True, kw_only=True, tag="ended"):
    """The run ended, and its end is recorded (unless `report` says that it could not be)."""

    report: Report
    proof: Proof | None = None  #: of a pass, so that whoever asked for it need not look it up


AnyEvent = (
    Began
    | Waiting
    | Recovered
    | Planned
    | Bound
    | JobWaiting
    | JobBegan
    | JobRetried
    | JobEnded
    | Measured
    | Noted
    | Ended
)

_decoder = msgspec.json.Decoder(AnyEvent)


class RunLog:
    """The writing end. `wake` is a non-blocking pipe that tells the starter to look, if any."""

    def __init__(self, directory: str, wake: int | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        try:
            self._descriptor = os.open(os.path.join(directory, LOG), flags, 0o600)
        except OSError:
            self._descriptor = -1
        self._wake = wake
        self.dropped = 0  #: events that could not be written (a full disk); the run goes on

    def write(self, event: Event, wall_ns: int) -> None:
        """Append one event. Never blocks, never raises: the log proves nothing."""
        line = encoded(msgspec.structs.replace(event, wall_ns=wall_ns)) + b"\n"
        try:
            os.write(self._descriptor, line)
        except OSError:
            self.dropped += 1
        self.wake()

    def wake(self) -> None:
        """Tell the starter to look. A full pipe means that it has been told."""
        if self._wake is None:
            return
        try:
            os.write(self._wake, b".")
        except BlockingIOError:
            pass
        except OSError:
            self._wake = None


class LogReader:
    """The reading end: yields each event once, as far as the log is written."""

    def __init__(self, directory: str) -> None:
        self.path = os.path.join(directory, LOG)
        self._descriptor: int | None = None
        self._rest = b""

    def events(self) -> Iterator[AnyEvent]:
        """The events since the last call. A line that does not parse is skipped."""
        if self._descriptor is None:
            try:
                self._descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                return
        while chunk := os.read(self._descriptor, 1 << 16):
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            for line in lines:
                try:
                    yield _decoder.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
