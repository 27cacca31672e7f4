"""A sink that may fail without anybody's turn failing with it."""

from tenure.runtime import mishap
from tenure.runtime.ports.tracing import Span, TraceSink


class GuardedTraceSink(TraceSink):
    """Passes spans on to a host's sink. What that raises is told once, until it works again.

    Spans that it did not take are lost. `flush` is the host's to call and raises what it raises.
    """

    def __init__(self, sink: TraceSink) -> None:
        self._sink = sink
        self._failing = False

    def span(self, span: Span) -> None:
        """Pass a span on. Raises nothing that the sink does."""
        try:
            self._sink.span(span)
        except Exception as error:
            told, self._failing = self._failing, True
            if not told:
                mishap.tell("a trace sink failed and spans are lost; turns go on", error)
        else:
            self._failing = False

    def flush(self) -> None:
        """Flush the sink."""
        self._sink.flush()
