"""How a job ended, and who had to be killed after it."""

from typing import Literal

import msgspec

#: What a finished process can amount to. Jobs that never ran have other words, elsewhere.
Outcome = Literal["passed", "failed", "killed", "timed_out", "not_found", "cancelled"]


class Survivor(msgspec.Struct, frozen=True, kw_only=True):
    """A process that was still alive when its job or run should have been over."""

    pid: int
    command: str  #: its command line, shortened; its name in brackets if it has none
    gone: bool = True  #: False: it could not be killed in the time given, and may still run


class JobResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one process returned.

    `passed` means that it exited with 0 by itself: a job that was told to stop never
    passes, whatever it exits with. `sentence` says in words what `outcome`, `code` and
    `signal` do not: why a command was not found, or that a job stopped itself.
    """

    outcome: Outcome
    code: int | None = None  #: exit code, where it exited
    signal: int | None = None  #: the signal that ended it, or that it stopped on
    sentence: str = ""
    survivors: tuple[Survivor, ...] = ()
    started: float
    ended: float  #: when the process was seen to be over; survivors may have taken longer
    over: float  #: when nothing of it was left any more, as far as could be seen
    output: str  #: path of the file with everything it wrote, both streams
    output_size: int = 0


class Graces(msgspec.Struct, frozen=True, kw_only=True):
    """How long a job is given at each step, in seconds during which the caller was awake."""

    interrupt: float = 8.0  #: from INT to TERM
    terminate: float = 4.0  #: from TERM to KILL
    stopped: float = 10.0  #: how long a job may stay stopped before it is taken for hung
    linger: float = 0.5  #: for processes that outlive their job to end by themselves
    survivors: float = 2.0  #: then from TERM to KILL for those
    unkillable: float = 10.0  #: from KILL to giving up on a process that does not die
    check_every: float = 1.0  #: the longest the caller may wait between two ticks
    awake_step: float = 2.0  #: the most that may count as awake between two ticks
