"""One running job: told the time by its caller, it says when it is over and how it went.

No loop, thread or timer of its own. The first process of a job, its leader, stays
unreaped until everybody who outlived it is gone, so that its pid, session and group
cannot become somebody else's.
"""

import os
import signal
from typing import Literal

from tenure.gate.jobs.awake import AwakeTime
from tenure.gate.jobs.ladder import Ladder
from tenure.gate.jobs.outcome import Graces, JobResult, Outcome, Survivor
from tenure.gate.jobs.process import command_of, find, living
from tenure.gate.jobs.sweep import Sweep
from tenure.gate.jobs.wake import Wake
from tenure.kernel.points import point

#: Why we end a job. Without one of these it ended by itself.
Reason = Literal["cancelled", "timed_out", "stopped"]

#: A job must be seen stopped this many times in a row, besides for long enough.
_SEEN_STOPPED = 3


class RunningJob:
    """A job from its start to its result, made by `spawn.start`.

    Wait until `fileno()` is readable or `deadline(now)` has come, then call `tick(now)`,
    until that returns a result. `now` is one clock of the caller's that never goes back.
    """

    def __init__(
        self,
        pid: int,
        *,
        job_id: str,
        output: str,
        now: float,
        timeout: float | None,
        graces: Graces,
    ) -> None:
        self._wake = Wake()
        self.pid = pid
        self.pidfd = os.pidfd_open(pid)
        self.output = output
        self.started = now
        leader = find(pid)
        self._since = leader.start_ticks if leader else 0
        self._job_id = job_id
        self._timeout = timeout
        self._graces = graces
        self._awake = AwakeTime(now, graces.awake_step)
        self._wake.watch(self.pidfd)
        self._reason: Reason | None = None
        self._sentence = ""
        self._ladder: Ladder | None = None
        self._stop = _Stop(graces.stopped)
        self._sweep: Sweep | None = None
        self._ended = now
        self._result: JobResult | None = None

    def fileno(self) -> int:
        """What to wait on: readable when a tick is due for anything but the time.

        The same number as long as this object lives. It can be registered once and is not
        left readable by a process that ended.
        """
        return self._wake.fileno()

    def deadline(self, now: float) -> float:
        """When the next tick is due at the latest."""
        if self._result is not None:
            return now
        awake = self._awake.at(now)
        wait = self._graces.check_every
        if self._sweep is not None:
            wait = min(wait, self._sweep.next_at - awake, self._sweep.pause)
        elif self._ladder is not None:
            wait = min(wait, self._ladder.next_at - awake)
        elif self._timeout is not None:
            wait = min(wait, self._timeout - awake)
        return now + max(0.0, wait)

    def tick(self, now: float) -> JobResult | None:
        """Do what is due; the result once the job and all that belonged to it are over.

        Never blocks. Once there is a result, every tick returns it.
        """
        if self._result is not None:
            return self._result
        awake = self._awake.at(now)
        self._wake.drain()
        if self._sweep is None:
            self._attend(now, awake)
        if self._sweep is None:
            return None
        survivors = self._sweep.tick(awake)
        if survivors is None:
            return None
        self._result = self._finish(survivors, now)
        return self._result

    def cancel(self, now: float) -> None:
        """Have the job ended: INT now, TERM and KILL as its graces say.

        Whatever it does about it, its result is *cancelled*, unless it was over before.
        Repeated, nothing: a second INT would interrupt its cleaning up. What already
        outlived the job is given no more time to end by itself.
        """
        awake = self._awake.at(now)
        if self._sweep is not None:
            self._sweep.hurry()
        elif self._reason is None and not _is_over(self._look()):
            self._end("cancelled", Ladder.of_a_job(self._graces, awake))
            self._climb(awake)

    def close(self) -> None:
        """Give back all descriptors, before a result too; the processes are left as they are."""
        if self._sweep is not None:
            self._sweep.close()
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        self._wake.close()

    def _attend(self, now: float, awake: float) -> None:
        """Look at the leader: over, stopped, out of time, or due for the next signal."""
        seen = self._look()
        if _is_over(seen) or (self._ladder is not None and self._ladder.spent(awake)):
            self._ended = now
            # A pid that somebody else reaped may be another's by now: only the marker counts.
            leader = -1 if seen == "lost" else self.pid
            self._sweep = Sweep(leader, self._since, self._job_id, self._wake, self._graces, awake)
            point("jobs.leader_ended")
            return
        if self._ladder is None:
            if self._timeout is not None and awake >= self._timeout:
                self._sentence = f"it took longer than {self._timeout:g} s{self._who_is_stopped()}"
                self._end("timed_out", Ladder.of_a_job(self._graces, awake))
            elif self._stop.is_for_good(seen, awake):
                self._sentence = f"it stopped on {self._stop.name} and was not continued"
                self._end("stopped", Ladder.of_what_is_left(self._graces, awake))
        self._climb(awake)

    def _end(self, reason: Reason, ladder: Ladder) -> None:
        self._reason = reason
        self._ladder = ladder

    def _climb(self, awake: float) -> None:
        """Send the signal that is due, if one is, to the whole group."""
        due = self._ladder.due(awake) if self._ladder else None
        if due is None:
            return
        try:
            os.killpg(self.pid, due)
            if due != signal.SIGKILL:
                # A stopped process acts on a signal only once it is continued.
                os.killpg(self.pid, signal.SIGCONT)
        except (ProcessLookupError, PermissionError):
            pass  # what is out of our reach ends up among the survivors, by name

    def _look(self, *, reap: bool = False) -> "os.waitid_result | Literal['lost'] | None":
        """How the leader ended or that it is stopped, None if it runs."""
        flags = os.WEXITED | os.WNOHANG | (0 if reap else os.WSTOPPED | os.WNOWAIT)
        try:
            return os.waitid(os.P_PIDFD, self.pidfd, flags)
        except ChildProcessError:
            return "lost"

    def _who_is_stopped(self) -> str:
        stopped = [
            f"{process.pid} ({command_of(process)})"
            for process in living()
            if process.session == self.pid and process.state == "T"
        ]
        return f", while stopped: {', '.join(stopped)}" if stopped else ""

    def _finish(self, survivors: tuple[Survivor, ...], now: float) -> JobResult:
        seen = self._look(reap=True)
        point("jobs.reaped")
        outcome, code, signum = _told(seen, self._reason)
        sentence = self._sentence
        if seen is None:
            sentence = f"process {self.pid} could not be killed. {sentence}".strip()
        elif seen == "lost":
            sentence = "its exit status was taken by something else, so its end is not known"
        if self._reason == "stopped":
            signum = self._stop.signal
        if self._sweep is not None:
            self._sweep.close()
        os.close(self.pidfd)
        self.pidfd = -1
        return JobResult(
            outcome=outcome,
            code=code,
            signal=signum,
            sentence=sentence,
            survivors=survivors,
            started=self.started,
            ended=self._ended,
            over=now,
            output=self.output,
            output_size=_size(self.output),
        )


class _Stop:
    """Tells a job that stopped itself from one that was stopped together with the caller.

    Time counts only while the caller runs, and the job must be seen stopped again and
    again: whoever continues the caller continues the job a moment later.
    """

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._since: float | None = None
        self._seen = 0
        self.signal = 0

    def is_for_good(self, seen: object, awake: float) -> bool:
        if not (isinstance(seen, os.waitid_result) and seen.si_code == os.CLD_STOPPED):
            self._since = None
            self._seen = 0
            return False
        if self._since is None:
            self._since = awake
        self._seen += 1
        self.signal = seen.si_status
        return self._seen >= _SEEN_STOPPED and awake - self._since >= self._grace

    @property
    def name(self) -> str:
        return signal.Signals(self.signal).name


def _is_over(seen: object) -> bool:
    """Whether the leader ended; a status that was lost is an end as well."""
    if isinstance(seen, os.waitid_result):
        return seen.si_code != os.CLD_STOPPED
    return seen == "lost"


def _told(seen: object, reason: Reason | None) -> tuple[Outcome, int | None, int | None]:
    """Outcome, exit code and signal of a leader that ended with `seen`, and was told to."""
    code = signum = None
    if isinstance(seen, os.waitid_result):
        if seen.si_code == os.CLD_EXITED:
            code = seen.si_status
        else:
            signum = seen.si_status
    if reason == "stopped":
        return "killed", code, signum
    if reason is not None:
        return reason, code, signum
    if signum is not None:
        return "killed", code, signum
    return ("passed" if code == 0 else "failed"), code, signum


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:  # the job removed it; there is nothing to show
        return 0
