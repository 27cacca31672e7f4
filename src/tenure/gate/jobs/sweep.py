"""What outlives a job is found by session and marker, told to end, and named."""

import os
from signal import Signals

from tenure.gate.jobs.environment import JOB_MARKER
from tenure.gate.jobs.ladder import Ladder
from tenure.gate.jobs.outcome import Graces, Survivor
from tenure.gate.jobs.process import (
    Process,
    command_of,
    environment_entries,
    living,
    open_pidfd,
    send,
)
from tenure.gate.jobs.wake import Wake

_WATCHED_MAX = 64  #: more than this many survivors are looked for by the tick alone
_PAUSE = 0.25  #: seconds between two looks: those it could not watch, and new ones
_KILL_PAUSE = 0.05  #: the same once KILL was sent
_UNSURE_PAUSE = 0.005  #: the same for a process in the middle of an exec
_UNSURE_MAX = 1.0  #: for how long it is believed to be in one


class Sweep:
    """The end of one job's processes, from the end of its first one.

    They are given `linger` to end by themselves, which is no offence: the last process of
    a pipeline often is a moment late. Whoever is left is named, sent TERM and then KILL,
    new ones among them too. A process that cannot be killed is given up on, and said so.

    Not found: a process that left the session **and** wrote over its environment.
    """

    def __init__(
        self, leader: int, since: int, job_id: str, wake: Wake, graces: Graces, awake: float
    ) -> None:
        self._leader = leader
        self._since = since  #: start ticks of the leader
        self._job_id = os.fsencode(job_id)
        self._wake = wake
        self._graces = graces
        self._linger_until = awake + graces.linger
        self._unsure_since: float | None = None
        self._ladder: Ladder | None = None
        self._named: dict[tuple[int, int], Survivor] = {}
        self._told: set[tuple[int, int]] = set()
        self._watched: dict[tuple[int, int], int] = {}

    @property
    def next_at(self) -> float:
        """The awake time at which there is something to do without being woken."""
        return self._ladder.next_at if self._ladder else self._linger_until

    @property
    def pause(self) -> float:
        """The longest to wait before looking again, unless woken."""
        if self._unsure_since is not None:
            return _UNSURE_PAUSE
        return _KILL_PAUSE if self._ladder and self._ladder.killing else _PAUSE

    def hurry(self) -> None:
        """Let nobody linger any more."""
        self._linger_until = 0.0

    def tick(self, awake: float) -> tuple[Survivor, ...] | None:
        """Everybody who had to be named once all are gone or given up on; None until then."""
        left, unsure = self._alive()
        if not left:
            if unsure and self._may_be_unsure(awake):
                return None
            return tuple(self._named.values())
        self._unsure_since = None
        self._watch(left)
        if awake < self._linger_until:
            return None
        if self._ladder is None:
            self._ladder = Ladder.of_what_is_left(self._graces, awake)
        if self._ladder.spent(awake):
            self._name(left)
            still = {process.identity for process in left}
            return tuple(
                Survivor(pid=one.pid, command=one.command, gone=key not in still)
                for key, one in self._named.items()
            )
        self._ladder.due(awake)
        self._tell(left, kill=self._ladder.killing)
        return None

    def close(self) -> None:
        """Give back the descriptors of watched processes."""
        for descriptor in self._watched.values():
            os.close(descriptor)
        self._watched.clear()

    def _alive(self) -> tuple[list[Process], bool]:
        """Everybody found to be of the job, and whether somebody else may be."""
        left, unsure = [], False
        for process in living():
            ours = self._ours(process)
            if ours:
                left.append(process)
            unsure = unsure or ours is None
        return left, unsure

    def _ours(self, process: Process) -> bool | None:
        if process.session == self._leader:  # whatever its group: a group is of one session
            return True
        if process.start_ticks < self._since:  # older than the job, so not of it
            return False
        marks = environment_entries(process, JOB_MARKER.encode())
        if marks is None:
            return None
        return any(self._job_id in mark.split(b":") for mark in marks)

    def _may_be_unsure(self, awake: float) -> bool:
        if self._unsure_since is None:
            self._unsure_since = awake
        return awake - self._unsure_since < _UNSURE_MAX

    def _watch(self, left: list[Process]) -> None:
        for process in left:
            if len(self._watched) >= _WATCHED_MAX:
                return
            if process.identity not in self._watched:
                descriptor = open_pidfd(process)
                if descriptor is not None:
                    self._watched[process.identity] = descriptor
                    self._wake.watch(descriptor)

    def _name(self, left: list[Process]) -> None:
        for process in left:
            if process.identity not in self._named:
                survivor = Survivor(pid=process.pid, command=command_of(process))
                self._named[process.identity] = survivor

    def _tell(self, left: list[Process], *, kill: bool) -> None:
        # The newest first: it is the one that may be gone, with a successor, in a moment.
        for process in reversed(left):
            self._name([process])
            if kill:
                send(process, Signals.SIGKILL)
            elif process.identity not in self._told:
                self._told.add(process.identity)
                # A stopped process acts on TERM only once it is continued.
                send(process, Signals.SIGTERM, Signals.SIGCONT)
