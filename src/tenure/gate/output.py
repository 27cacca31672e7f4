"""Output to somebody who may not be reading: queued, written when there is room, never blocking.

A terminal that is stopped, a full pipe or a closed one costs the reader lines, never the
run and never the exit code.
"""

import errno
import os
import select
import stat

from tenure.gate.text import readable


class Output:
    """One stream. `pump` writes what fits; `drain` waits for the rest."""

    #: When `beat` wants to be called, in seconds of a monotonic clock; None: never.
    due: float | None = None

    def __init__(self, descriptor: int) -> None:
        self.descriptor = _reopened(descriptor)
        self._queue = bytearray()
        self.dead = False  #: nobody can read this any more

    @property
    def pending(self) -> bool:
        """Whether something waits for room."""
        return bool(self._queue) and not self.dead

    def write(self, text: str) -> None:
        """Queue text and write as much as there is room for."""
        if not self.dead:
            self._queue += readable(text).encode()
            self.pump()

    def pump(self) -> None:
        """Write what fits."""
        while self.pending and self._has_room():
            # A terminal may announce little room; a small piece does not block for long.
            try:
                written = os.write(self.descriptor, bytes(self._queue[:256]))
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.EINTR:
                    continue
                self.dead = True
                return
            del self._queue[:written]

    def beat(self, now: float) -> None:
        """Show that time goes by. Lines do not change, so there is nothing to do."""

    def end(self) -> None:
        """Take away what is not meant to stay. Lines are."""

    def drain(self, signals: int) -> None:
        """Wait until everything is written, nobody can read it, or a signal comes."""
        while self.pending:
            poll = select.poll()
            poll.register(self.descriptor, select.POLLOUT)
            poll.register(signals, select.POLLIN)
            if any(descriptor == signals for descriptor, _ in poll.poll()):
                return
            self.pump()

    def _has_room(self) -> bool:
        poll = select.poll()
        poll.register(self.descriptor, select.POLLOUT)
        return bool(poll.poll(0))


def _reopened(descriptor: int) -> int:
    """The same terminal or pipe with a description of our own, so that it need not block.

    The flag belongs to the description, which we share with the shell. A regular file never
    blocks, and opening one anew would begin at its start.
    """
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISCHR(mode) or stat.S_ISFIFO(mode):
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
            return os.open(f"/proc/self/fd/{descriptor}", flags)
    except OSError:
        pass
    return descriptor
