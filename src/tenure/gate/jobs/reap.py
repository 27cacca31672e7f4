"""Everything that still runs on behalf of a run, found by its marker, and its end.

For whoever outlives a runner: its supervisor, and a recovery after both were killed.
"""

import os
import select
from collections.abc import Collection
from signal import Signals

import msgspec

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
_UNSURE_LOOKS_MAX = 20  #: how often a process in the middle of an exec is asked again
_WATCHED_MAX = 256


def survivors(run_id: str, *, exclude: Collection[int] = ()) -> list[Survivor]:
    """Every live process marked with `run_id`, but this one and the pids in `exclude`.

    The marker is a list, and `run_id` must be one of its members. Processes of other
    users that we may not look into are left out, as is one that wrote over its
    environment.

    Raises:
        PlatformError: there is no process table to read.
    """
    found, unsure = _marked(run_id, exclude)
    for _ in range(_UNSURE_LOOKS_MAX):
        if not unsure:
            break
        _pause()
        found, unsure = _marked(run_id, exclude)
    return [_survivor(process) for process in found]


def kill_run(run_id: str, *, exclude: Collection[int] = (), clean_looks: int = 1) -> list[Survivor]:
    """Kill everything marked with `run_id`, stopped processes too, until none is left.

    Returns whom it killed, once each. It tries for a few seconds: whoever is there after
    that, unkillable or started faster than it can look, has `gone=False`. Ask for two `clean_looks` after a runner was killed: it may have been
    starting a job, which has its marker a moment later.

    Raises:
        PlatformError: there is no process table to read.
    """
    found: dict[tuple[int, int], Survivor] = {}
    left, unsure = _marked(run_id, exclude)
    clean = unsure_looks = 0
    for _ in range(_ROUNDS_MAX):
        unsure_looks = unsure_looks + 1 if unsure and not left else 0
        doubtful = 0 < unsure_looks <= _UNSURE_LOOKS_MAX
        clean = 0 if left or doubtful else clean + 1
        if clean >= clean_looks:
            break
        # The newest first: it is the one that may be gone, with a successor, in a moment.
        for process in reversed(left):
            found.setdefault(process.identity, _survivor(process))
            send(process, Signals.SIGKILL)
        _wait_for_ends(left)
        left, unsure = _marked(run_id, exclude)
    for process in left:
        survivor = found.get(process.identity) or _survivor(process)
        found[process.identity] = msgspec.structs.replace(survivor, gone=False)
    return list(found.values())


def _marked(run_id: str, exclude: Collection[int]) -> tuple[list[Process], bool]:
    """Everybody found to be of the run, and whether somebody in an exec may be too."""
    marker, wanted, own = RUN_MARKER.encode(), os.fsencode(run_id), os.getpid()
    found, unsure = [], False
    for process in living():
        if process.pid == own or process.pid in exclude:
            continue
        marks = environment_entries(process, marker)
        if marks is None:
            unsure = True
        elif any(wanted in mark.split(b":") for mark in marks):
            found.append(process)
    return found, unsure


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
            _pause()
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


def _pause() -> None:
    select.select([], [], [], _SETTLE_MS / 1000)


def _survivor(process: Process) -> Survivor:
    return Survivor(pid=process.pid, command=command_of(process))
