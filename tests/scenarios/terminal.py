"""A terminal of a test's own, with somebody in front of it who reads, or does not."""

import os
import pty
import termios
import threading
from types import TracebackType
from typing import Self


class Terminal:
    """A pseudo-terminal. Nobody reads it before `read`."""

    def __init__(self) -> None:
        self._master, self.slave = pty.openpty()
        self._text = bytearray()
        self._reader = threading.Thread(target=self._read_all, daemon=True)

    def fill(self) -> None:
        """Write to it until not one more byte fits, as if it had not been read for long."""
        os.set_blocking(self.slave, False)
        try:
            while os.write(self.slave, b"-" * 64):
                pass
        except BlockingIOError:
            pass
        finally:
            os.set_blocking(self.slave, True)

    def press(self, keys: bytes) -> None:
        """Type keys; Ctrl-C is 3."""
        os.write(self._master, keys)

    def pause(self) -> None:
        """What Ctrl-S does: whoever writes to it waits."""
        termios.tcflow(self.slave, termios.TCOOFF)

    def go_on(self) -> None:
        """What Ctrl-Q does."""
        termios.tcflow(self.slave, termios.TCOON)

    def read(self) -> None:
        """Read it from now on."""
        self._reader.start()

    def text(self) -> str:
        """Everything that was written to it, once everybody who could write has closed it."""
        os.close(self.slave)
        self.slave = -1
        self._reader.join(60)
        assert not self._reader.is_alive(), "somebody still has the terminal open"
        return self._text.decode("utf-8", "replace").replace("\r\n", "\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.slave >= 0:
            os.close(self.slave)
        os.close(self._master)

    def _read_all(self) -> None:
        while True:
            try:
                data = os.read(self._master, 4096)
            except OSError:  # EIO: nobody has it open any more
                return
            if not data:
                return
            self._text += data
