"""Everything that still runs on behalf of a run, found by its marker, and its end.

For whoever outlives a runner: its supervisor, and a recovery after both were killed.
"""

import os
import select
from collections.abc import Collection
from signal import Signals

from tenure.gate.jobs.environment import RUN_MARKER
from tenure.gate.jobs.outcome import Survivor
from tenure.gate.jobs.process import (
    Process,
    command_of,
    environment_entries,
    living,
    open_pidfd,
    send,
)

_ROUNDS_MAX = 100
_ROUND_MS = 50  #: the longest one round waits for what it killed
_SETTLE_MS = 10  #: between two looks that should both find nothing
_WATCHED_MAX = 256


def survivors(run_id: str, *, exclude: Collection[int] = ()) -> list[Survivor]:
    """Every live process marked with `run_id`, but this one and the pids in `exclude`.

    The marker is a list, and `run_id` must be one of its members. Processes of other
    users that we may not look into are left out, as is one that wrote over its
    environment.

    Raises:
        PlatformError: there is no process table to read.
    """
    return [_survivor(process) for process in _marked(run_id, exclude)]


def kill_run(run_id: str, *, exclude: Collection[int] = (), clean_looks: int = 1) -> list[Survivor]:
    """Kill everything marked with `run_id`, stopped processes too, until none is left.

    Returns whom it killed, once each. Those it could not kill within a few seconds have
    `gone=False`. Ask for two `clean_looks` after a runner was killed: it may have been
    starting a job, which has its marker a moment later.

    Raises:
        PlatformError: there is no process table to read.
    """
    found: dict[tuple[int, int], Survivor] = {}
    left: list[Process] = []
    clean = 0
    for _ in range(_ROUNDS_MAX):
        left = _marked(run_id, exclude)
        clean = 0 if left else clean + 1
        if clean >= clean_looks:
            break
        for process in left:
            found.setdefault(process.identity, _survivor(process))
            send(process, Signals.SIGKILL)
        _wait_for_ends(left)
    else:
        left = _marked(run_id, exclude)
    stuck = {process.identity for process in left}
    return [
        Survivor(pid=one.pid, command=one.command, gone=key not in stuck)
        for key, one in found.items()
    ]


def _marked(run_id: str, exclude: Collection[int]) -> list[Process]:
    marker, wanted, own = RUN_MARKER.encode(), os.fsencode(run_id), os.getpid()
    return [
        process
        for process in living()
        if process.pid != own
        and process.pid not in exclude
        and any(wanted in mark.split(b":") for mark in environment_entries(process, marker))
    ]


def _wait_for_ends(killed: list[Process]) -> None:
    """Until all of `killed` have ended, or one round's time."""
    poll = select.poll()
    waiting = set()
    try:
        for process in killed[:_WATCHED_MAX]:
            descriptor = open_pidfd(process)
            if descriptor is not None:
                waiting.add(descriptor)
                poll.register(descriptor, select.POLLIN)
        if not waiting:
            select.select([], [], [], _SETTLE_MS / 1000)
        for _ in range(len(waiting)):
            ended = poll.poll(_ROUND_MS)
            if not ended:
                return
            for descriptor, _event in ended:
                poll.unregister(descriptor)
                waiting.discard(descriptor)
                os.close(descriptor)
            if not waiting:
                return
    finally:
        for descriptor in waiting:
            os.close(descriptor)


def _survivor(process: Process) -> Survivor:
    return Survivor(pid=process.pid, command=command_of(process))
