"""Spans as lines of JSON in a file."""

import os

import msgspec

from tenure.runtime.ports.tracing import Span, TraceSink


class JsonlTraceSink(TraceSink):
    """Appends one line a span. `flush` returns when they are on the disk."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644
        )
        self._encoder = msgspec.json.Encoder()

    def span(self, span: Span) -> None:
        """Append a span."""
        os.write(self._descriptor, self._encoder.encode(span) + b"\n")

    def flush(self) -> None:
        """Wait until every span is on the disk."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Flush, and let go of the file."""
        self.flush()
        os.close(self._descriptor)
