"""Spans through OpenTelemetry. Needs the extra `opentelemetry`.

Whether a span survives is the duty of the host's own `TracerProvider` and its processors:
this sink hands spans over and `flush` asks the provider to flush, which is all it can do.
"""

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode

from tenure.runtime.ports.tracing import Span, TraceSink


class DerivedIds(IdGenerator):
    """Gives the next span the ids it is told, so that a replayed effect has the ids it had."""

    def __init__(self) -> None:
        self.trace = 0
        self.span = 0

    def generate_span_id(self) -> int:
        """The id that was set."""
        return self.span

    def generate_trace_id(self) -> int:
        """The id that was set."""
        return self.trace


class OpenTelemetryTraceSink(TraceSink):
    """Exports spans with derived ids through `provider`, whose ids must come from `ids`.

    ids = DerivedIds()
    sink = OpenTelemetryTraceSink(TracerProvider(id_generator=ids), ids)
    """

    def __init__(self, provider: TracerProvider, ids: DerivedIds) -> None:
        self._provider = provider
        self._ids = ids
        self._tracer = provider.get_tracer("tenure")

    def span(self, span: Span) -> None:
        """Hand one finished span over."""
        self._ids.trace, self._ids.span = int(span.trace, 16), int(span.id, 16)
        made = self._tracer.start_span(
            span.name,
            context=_parent(span),
            kind=SpanKind.CLIENT if span.kind == "model" else SpanKind.INTERNAL,
            attributes={**span.attributes, "tenure.replayed": span.replayed},
            start_time=span.started_wall_ns,
        )
        if span.status != "ok":
            made.set_status(Status(StatusCode.ERROR, span.status))
        made.end(span.ended_wall_ns)

    def flush(self) -> None:
        """Ask the provider to flush what it holds."""
        self._provider.force_flush()


def _parent(span: Span) -> Context | None:
    if span.parent is None:
        return None
    context = SpanContext(
        trace_id=int(span.trace, 16),
        span_id=int(span.parent, 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    return trace.set_span_in_context(NonRecordingSpan(context))
