"""How often in a row a session was blocked in the same state, so that it is not blocked for ever.

A small file for each session in the person's own state directory: the first blocks may come
before there is a store, and where a sandbox lets no store be written.
"""

import os
from collections.abc import Mapping

import msgspec

from tenure.gate.digest import digest
from tenure.gate.wire import encoded

#: A session that did not ask for so long is over; its file is removed by the next that counts.
STALE_SECONDS = 7 * 24 * 3600.0


class _Count(msgspec.Struct, frozen=True):
    state: str
    blocks: int


class Streak:
    """The blocks of one session in a row."""

    def __init__(self, directory: str, who: str) -> None:
        self._directory = directory
        self._path = os.path.join(directory, digest("hook", who)[:24])

    def block(self, state: str, wall_ns: int) -> int:
        """Count one more block in `state`; how many there are in a row now.

        Files of sessions that were over long before `wall_ns` are removed on the way.

        Raises:
            OSError: it cannot be kept.
        """
        known = self._known()
        count = known.blocks + 1 if known is not None and known.state == state else 1
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        beside = f"{self._path}.{os.getpid()}"
        with open(beside, "wb") as file:
            file.write(encoded(_Count(state, count)))
        os.replace(beside, self._path)
        if count == 1:
            self._sweep(wall_ns / 1e9 - STALE_SECONDS)
        return count

    def end(self) -> None:
        """The session was let go: whatever blocks it next is the first. Never raises."""
        try:
            os.unlink(self._path)
        except OSError:
            pass

    def _known(self) -> _Count | None:
        try:
            with open(self._path, "rb") as file:
                return msgspec.json.decode(file.read(), type=_Count)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as error:
            raise OSError(f"{self._path} is no count of blocks") from error

    def _sweep(self, oldest: float) -> None:
        for entry in os.scandir(self._directory):
            try:
                if entry.stat().st_mtime < oldest:
                    os.unlink(entry.path)
            except OSError:
                continue


def state_directory(environ: Mapping[str, str]) -> str:
    """Where counts are kept for this person."""
    base = environ.get("XDG_STATE_HOME") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".local", "state"
    )
    return os.path.join(base, "tenure", "hooks")
