"""From SIGKILL of a run to the next run bound, on one machine, with a lease of an hour."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.claims import Claim, Limit, Row, main
from bench.measuring import Samples, clean_environment
from bench.place import Installed, fresh, installed
from bench.repositories import make

POLICY = (
    'trunk = "main"\n\n[jobs.long]\nstage = "test"\nrun = "sleep 600"\n\n'
    '[gate]\nlease_ttl = "60m"\nrenew_interval = "20m"\n'
)
PATIENCE_SECONDS = 60


def measure(quick: bool) -> list[Claim]:
    """Kill everything of a run, or leave its job alive, and ask again at once."""
    tool = installed()
    rounds = 3 if quick else 10
    killed = _rounds(tool, "everything", rounds)
    orphan = _rounds(tool, "all but the job", rounds)
    limits = (
        Limit("everything killed, the slowest", 1000, max(killed.milliseconds), "ms"),
        Limit("its job left alive, the slowest", 1000, max(orphan.milliseconds), "ms"),
    )
    rows = (
        Row("everything killed", killed, killed),
        Row("all killed but the job", orphan, killed),
    )
    return [Claim("Takeover after SIGKILL, lease of one hour", limits, rows)]


def _rounds(tool: Installed, victims: str, rounds: int) -> Samples:
    place = fresh(f"takeover-{len(victims)}")
    top = make(place / "repository", 300, {"tenure.toml": POLICY})
    words = [tool.tenure, "done"]
    taken = []
    for _ in range(rounds):
        first, run = _begun(words, top)
        gone = _kill(run, first, with_job=victims == "everything")
        second, after = _begun(words, top)
        taken.append((_event(after, "bound") - gone) / 1e6)
        _end(tool, top, after, second)
    return Samples(tuple(taken))


def _begun(words: list[str], top: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """A `done` whose job runs, and its run's directory."""
    runs = top / ".git" / "tenure" / "runs"
    before = set(runs.iterdir()) if runs.exists() else set()
    caller = subprocess.Popen(
        words,
        cwd=top,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        for run in (set(runs.iterdir()) if runs.exists() else set()) - before:
            if _event(run, "job_began"):
                return caller, run
        if caller.poll() is not None:
            raise RuntimeError(f"`done` ended with {caller.returncode} before its job began")
        time.sleep(0.005)
    raise RuntimeError(f"no job began within {PATIENCE_SECONDS} s")


def _event(run: Path, kind: str) -> int:
    """When the run's log says that this happened, 0 if it does not."""
    try:
        lines = (run / "log").read_bytes().splitlines()
    except FileNotFoundError:
        return 0
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:  # half written
            continue
        if event["event"] == kind:
            return int(event["wall_ns"])
    return 0


def _kill(run: Path, caller: subprocess.Popen[bytes], *, with_job: bool) -> int:
    """Kill what belongs to the run, supervisor first; when the last of it was told to die."""
    job = _marked(run.name)
    held = _holders(run)
    for pid in sorted(held - set(job)):
        _signal(pid)
    for pid in job if with_job else ():
        _signal(pid)
    caller.kill()
    gone = time.time_ns()
    caller.wait()
    return gone


def _holders(run: Path) -> set[int]:
    """Supervisor and runner: whoever has a file in the run's directory open."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            try:
                opened = [os.readlink(fd) for fd in (entry / "fd").iterdir()]
            except OSError:
                continue
            if any(name.startswith(f"{run}/") for name in opened):
                found.add(int(entry.name))
    return found


def _marked(run: str) -> list[int]:
    """Processes of the run's jobs, by the marker in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                environ = (entry / "environ").read_bytes()
            except OSError:
                continue
            if any(
                part.startswith(b"TENURE_RUN=") and run.encode() in part
                for part in environ.split(b"\0")
            ):
                found.append(int(entry.name))
    return found


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _end(tool: Installed, top: Path, run: Path, caller: subprocess.Popen[bytes]) -> None:
    """End the second run by the means that are there for it."""
    subprocess.run(
        [tool.tenure, "cancel", run.name],
        cwd=top,
        env=clean_environment(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    caller.wait(PATIENCE_SECONDS)


if __name__ == "__main__":
    sys.exit(main(measure))
