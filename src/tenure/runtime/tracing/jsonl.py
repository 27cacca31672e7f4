"""Spans as lines of JSON in a file."""

import os
from pathlib import Path

import msgspec

from tenure.runtime.ports.tracing import Span, TraceSink


class JsonlTraceSink(TraceSink):
    """Appends one line a span. `flush` returns when they are on the disk.

    Many processes may append to one file. What a process wrote survives its own end, and after
    `flush` the machine's. A line that could not be written in full, for want of room, is ended
    before the next one: readers skip what is no JSON.

    Raises: OSError, when it is made, if the file cannot be opened.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644
        )
        self._encoder = msgspec.json.Encoder()
        self._torn = False  #: the last line in the file is unfinished
        self._named = False  #: the folder has the file's name on the disk
        self._closed = False

    def span(self, span: Span) -> None:
        """Append a span. Raises: OSError; ValueError: the sink was closed."""
        if self._closed:
            raise ValueError(f"the trace {self._path} was closed")
        line = self._encoder.encode(span) + b"\n"
        left = memoryview(b"\n" + line if self._torn else line)
        self._torn = True
        while left:
            left = left[os.write(self._descriptor, left) :]
        self._torn = False

    def flush(self) -> None:
        """Wait until every span is on the disk."""
        if self._closed:
            return
        os.fsync(self._descriptor)
        if not self._named:
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
            self._named = True

    def close(self) -> None:
        """Flush, and let go of the file. Idempotent."""
        if self._closed:
            return
        self.flush()
        self._closed = True
        os.close(self._descriptor)
