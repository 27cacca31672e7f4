"""Spans through OpenTelemetry. Needs the extra `opentelemetry`.

Whether a span survives is the duty of the host's own `TracerProvider` and its processors:
this sink hands spans over and `flush` asks the provider to flush, which is all it can do.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode

from tenure.runtime.errors import WiringError
from tenure.runtime.ports.tracing import Span, TraceSink


class DerivedIds(RandomIdGenerator):
    """Gives a span of a turn the ids it derives from, so that a replayed effect has the ids it had.

    All other spans of the same `TracerProvider` get random ones, as they would without it.
    """

    def __init__(self) -> None:
        self._told = threading.local()

    @contextmanager
    def being(self, trace_id: int, span_id: int) -> Iterator[None]:
        """What this thread starts in the block has these ids."""
        self._told.ids = (trace_id, span_id)
        try:
            yield
        finally:
            self._told.ids = None

    def generate_trace_id(self) -> int:
        """The id that was told, or a random one."""
        ids: tuple[int, int] | None = getattr(self._told, "ids", None)
        return super().generate_trace_id() if ids is None else ids[0]

    def generate_span_id(self) -> int:
        """The id that was told, or a random one."""
        ids: tuple[int, int] | None = getattr(self._told, "ids", None)
        return super().generate_span_id() if ids is None else ids[1]


class OpenTelemetryTraceSink(TraceSink):
    """Exports spans with derived ids through `provider`, whose ids must come from `ids`.

    ids = DerivedIds()
    sink = OpenTelemetryTraceSink(TracerProvider(id_generator=ids), ids)

    A turn is a trace of its own, whatever span is current where it is driven: the same turn may
    be driven again elsewhere.

    Raises: WiringError: the provider makes its ids by itself.
    """

    def __init__(self, provider: TracerProvider, ids: DerivedIds) -> None:
        if provider.id_generator is not ids:
            raise WiringError(
                what="the TracerProvider makes ids of its own, and a resumed turn would have others",
                next="make it with TracerProvider(id_generator=ids)",
            )
        self._provider = provider
        self._ids = ids
        self._tracer = provider.get_tracer("tenure")

    def span(self, span: Span) -> None:
        """Hand one finished span over."""
        with self._ids.being(int(span.trace, 16), int(span.id, 16)):
            made = self._tracer.start_span(
                span.name,
                context=_around(span),
                kind=SpanKind.CLIENT if span.kind == "model" else SpanKind.INTERNAL,
                attributes={**span.attributes, "tenure.replayed": span.replayed},
                start_time=span.started_wall_ns,
            )
        if span.status != "ok":
            made.set_attribute("error.type", span.status)
            made.set_status(Status(StatusCode.ERROR, span.status))
        made.end(span.ended_wall_ns)

    def flush(self) -> None:
        """Ask the provider to flush what it holds."""
        self._provider.force_flush()


def _around(span: Span) -> Context:
    """The parent, which is exported later than its children. Without one, nothing is around it."""
    if span.parent is None:
        return Context()
    context = SpanContext(
        trace_id=int(span.trace, 16),
        span_id=int(span.parent, 16),
        is_remote=True,
        trace_flags=trace.TraceFlags(trace.TraceFlags.SAMPLED),
    )
    return trace.set_span_in_context(NonRecordingSpan(context), Context())
