"""A stage: one repository with worktrees, jobs that a story holds, and the real command.

Nothing in it is patched. Faults are planted through the environment of the command, which
hands them to the supervisor and the runner that it forks.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from tenure.faces.embed import open_gate_store
from tenure.gate.jobs.reap import survivors
from tenure.gate.place import Place
from tenure.gate.record import RunRecord
from tenure.gate.store import GateStore
from tenure.kernel.clock import SystemClock
from tests.gate import repos
from tests.scenarios.audit import Books, check, read_books
from tests.scenarios.caller import Caller
from tests.scenarios.processes import Process, marked
from tests.waiting import until

#: Name and stage of the jobs that most stories use.
JOBS = {"format": "fix", "lint": "check", "suite": "test"}

#: A job says that it began, waits as long as the story holds it, and says that it ended.
JOB = """\
echo "$1" >> "$STORY/began"
[ -e "$STORY/slow" ] && sleep 0.2
while [ -e "$STORY/hold/$1" ]; do sleep 0.05; done
echo "$1" >> "$STORY/ended"
"""

#: A lease for stories in which it is let lapse, and one that nobody lives to see lapse.
SHORT = ("3s", "1s")
HOUR = ("3600s", "1s")


class Stage:
    """A repository with one commit at `top`, and everything a story does to it."""

    def __init__(
        self,
        root: Path,
        *,
        lease: tuple[str, str] = SHORT,
        jobs: Mapping[str, str] = JOBS,
        extra: str = "",
        files: repos.Files | None = None,
        verb: str = "done",
    ) -> None:
        self.root = root
        self.verb = verb  #: what a story asks that is told of several verbs
        self.story = root / "story"
        (self.story / "hold").mkdir(parents=True)
        (self.story / "points").mkdir()
        self.top = repos.make_repo(
            root / "main",
            {
                "tenure.toml": self._policy(lease, jobs) + extra.format(story=self.story),
                "job.sh": JOB,
                "code.txt": "one\n",
                **(files or {}),
            },
        )
        self.place = Place(str(self.top / ".git"))
        self._jobs = tuple(jobs)
        self.ttl = float(lease[0].removesuffix("s"))
        self._calls = 0

    def _policy(self, lease: tuple[str, str], jobs: Mapping[str, str]) -> str:
        ttl, interval = lease
        text = f'[gate]\nlease_ttl = "{ttl}"\nrenew_interval = "{interval}"\n'
        for name, stage in jobs.items():
            text += (
                f'[jobs.{name}]\nstage = "{stage}"\nrun = "sh job.sh {name}"\n'
                f'set-env = {{ STORY = "{self.story}" }}\n'
            )
        return text

    def side(self, name: str, *, change: bool = False) -> Path:
        """A linked worktree on a branch of its own; with `change`, another candidate."""
        path = repos.worktree(self.top, self.root / name, name)
        if change:
            repos.commit(path, {"code.txt": f"{name}\n"})
        return path

    # commands

    def tenure(
        self,
        *arguments: str,
        cwd: Path | None = None,
        faults: str = "",
        stdin: int = subprocess.DEVNULL,
        stdout: int | IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
        through: tuple[str, ...] = (),
    ) -> Caller:
        """Start a command; with `faults`, those of `tenure.testing.faults` are planted in it."""
        self._calls += 1
        out, err = (self.root / f"call-{self._calls}.{end}" for end in ("out", "err"))
        command: tuple[str, ...] = (str(Path(sys.executable).parent / "tenure"),)
        variables = {**os.environ, "STAGE": str(self.root), **(env or {})}
        if faults:
            command = (sys.executable, "-m", "tenure.testing.cli")
            variables["TENURE_FAULTS"] = faults
        with open(out, "wb") as out_file, open(err, "wb") as err_file:
            popen = subprocess.Popen(
                [*through, *command, *arguments],
                cwd=cwd or self.top,
                env=variables,
                stdin=stdin,
                stdout=out_file if stdout is None else stdout,
                stderr=err_file,
            )
        return Caller(popen, out, err)

    def done(
        self,
        *arguments: str,
        cwd: Path | None = None,
        faults: str = "",
        stdout: int | IO[bytes] | None = None,
    ) -> Caller:
        """Start `tenure done --json`."""
        return self.tenure("done", "--json", *arguments, cwd=cwd, faults=faults, stdout=stdout)

    def ask(self, *arguments: str, cwd: Path | None = None, faults: str = "") -> Caller:
        """Start the verb that this story is told of."""
        return self.tenure(self.verb, "--json", *arguments, cwd=cwd, faults=faults)

    def proven_by(self, *runs: str) -> list[str]:
        """The runs of which there should be Proofs: these, unless the verb makes none."""
        return list(runs) if self.verb == "done" else []

    def follows(self, caller: Caller) -> bool:
        """Whether a command watches the directory of a run that somebody else started."""
        return caller.process.watches

    # jobs

    def hold(self, *jobs: str) -> None:
        """Keep jobs running from now on, whoever runs them."""
        for job in jobs:
            (self.story / "hold" / job).touch()

    def let_go(self, *jobs: str) -> None:
        """Let held jobs end."""
        for job in jobs:
            (self.story / "hold" / job).unlink()

    @property
    def began(self) -> list[str]:
        """The jobs that began, in their order, in any worktree."""
        return _lines(self.story / "began")

    @property
    def ended(self) -> list[str]:
        """The jobs that ran to their own end."""
        return _lines(self.story / "ended")

    def await_job(self, name: str, times: int = 1) -> None:
        """Wait until a job began as many times."""
        until(lambda: self.began.count(name) >= times, f"{name} begins")

    def await_only(self, name: str) -> str:
        """Wait until a job is all that is left of the only run; the run's id."""
        self.await_job(name)
        (run,) = self.run_ids()
        wanted = len(self._jobs) - 1
        until(lambda: len(self.books().receipts_of(run)) == wanted, f"{name} is all that runs")
        return run

    # points

    def pause(self, point: str) -> str:
        """The fault that keeps whoever arrives at `point` waiting there."""
        return f"{point}=signal:{self._sign(point, 'here')}+wait:{self._sign(point, 'go')}"

    def await_point(self, point: str) -> None:
        """Wait until somebody arrived."""
        until(self._sign(point, "here").exists, f"somebody arrives at {point}")

    def resume(self, point: str) -> None:
        """Let whoever waits at `point` go on."""
        self._sign(point, "go").touch()

    def _sign(self, point: str, what: str) -> Path:
        return self.story / "points" / f"{point.replace('#', '-')}.{what}"

    # what the record says

    @contextmanager
    def store(self) -> Iterator[GateStore]:
        """The real store."""
        store = open_gate_store(self.place, SystemClock(), create=False)
        try:
            yield store
        finally:
            store.close()

    def books(self) -> Books:
        """Everything in the store, read without the code that wrote it."""
        return read_books(self.place.database)

    def check(self) -> Books:
        """The books, once they are found to be in order, with nothing unfinished."""
        return check(self.place.database)

    def recorded(self) -> list[RunRecord]:
        """The runs in the store, newest first; none while there is no store."""
        if not os.path.exists(self.place.database):
            return []
        with self.store() as store:
            return store.recent_runs(1000)

    def run_ids(self) -> list[str]:
        """Every run that was started, recorded or not."""
        runs = Path(self.place.run("x")).parent
        return sorted(path.name for path in runs.iterdir()) if runs.exists() else []

    def await_lapse(self) -> None:
        """Wait past the lease: of every unfinished attempt, or as long where there is none."""
        until_then = time.monotonic() + self.ttl

        def past() -> bool:
            with self.store() as store:
                unfinished = store.unfinished()
                lapsed = [store.licence(record) for record in unfinished]
            if not unfinished:
                return time.monotonic() > until_then
            return all(licence and licence.ground == "lapsed" for licence in lapsed)

        until(past, "the lease lapses")

    # processes

    def jobs_of(self, run: str) -> list[Process]:
        """Every live process marked with the run."""
        return marked(f"TENURE_RUN={run}")

    def everybody(self) -> list[Process]:
        """Every live process of this stage: commands, supervisors, runners, jobs."""
        return marked(str(self.root))

    def everybody_is_gone(self) -> None:
        """Nothing runs on behalf of any run, and every checkout is free."""
        for run in self.run_ids():
            until(partial(_nobody_of, run), f"nothing of run {run} is left")
        for recorded in self.recorded():
            for mark in (recorded.supervisor, recorded.runner):
                known = Process(mark.pid, mark.start_ticks)
                until(partial(_is_gone, known), f"{known} is gone")
        for git_dir in [self.top / ".git", *(self.top / ".git" / "worktrees").glob("*")]:
            until(partial(_is_free, git_dir), f"{git_dir} is free")


def continue_all(processes: list[Process]) -> None:
    """Continue processes, the last of them first."""
    for one in reversed(processes):
        one.send(signal.SIGCONT)


def _nobody_of(run: str) -> bool:
    return not survivors(run)


def _is_gone(known: Process) -> bool:
    return not known.alive


def _is_free(git_dir: Path) -> bool:
    descriptor = os.open(git_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(descriptor)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split() if path.exists() else []
