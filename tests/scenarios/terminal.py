"""A terminal of a test's own, with somebody in front of it who reads, or does not."""

import os
import pty
import termios
import threading
from types import TracebackType
from typing import Self

import pyte


class _Screen(pyte.HistoryScreen):
    """An emulated terminal, and what scrolled out of it."""

    @property
    def seen(self) -> list[str]:
        gone = ["".join(line[x].data for x in range(self.columns)) for line in self.history.top]
        lines = [line.rstrip() for line in (*gone, *self.display)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def below(self) -> list[str]:
        """From the line of the cursor on."""
        return [str(line).rstrip() for line in self.display[self.cursor.y :]]


class Terminal:
    """A pseudo-terminal. Nobody reads it before `read`."""

    def __init__(self, columns: int = 80, rows: int = 24) -> None:
        self._master, self.slave = pty.openpty()
        self._text = bytearray()
        self._size = (columns, rows)
        self.resize(columns, rows)
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

    def resize(self, columns: int, rows: int) -> None:
        """Make the window larger or smaller; whoever is in front of it is told."""
        self._size = (columns, rows)
        termios.tcsetwinsize(self._master, (rows, columns))

    def screen(self) -> list[str]:
        """What is to be seen now, if the window always had its size; lines without their right end."""
        return self._emulated().seen

    def clean(self) -> bool:
        """Whether whoever types next finds a visible cursor at the beginning of an empty line, and nothing below."""
        seen = self._emulated()
        return not seen.cursor.hidden and seen.cursor.x == 0 and not any(seen.below)

    def _emulated(self) -> "_Screen":
        screen = _Screen(*self._size, history=1000)
        pyte.ByteStream(screen).feed(bytes(self._text))
        return screen

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
