"""The run that the code here belongs to, as Pydantic AI's hooks find it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

from tenure.runtime.adopted import AdoptedRun

#: *inside*: of one part, which is recorded as a whole, so that runs in it are plain ones.
_current: ContextVar[AdoptedRun | Literal["inside"] | None] = ContextVar("tenure_run", default=None)


def current() -> AdoptedRun | None:
    """The run whose own code this is, and not a part's."""
    found = _current.get()
    return found if isinstance(found, AdoptedRun) else None


def inside() -> bool:
    """Whether this is the code of a part."""
    return _current.get() == "inside"


@contextmanager
def running(run: AdoptedRun | Literal["inside"]) -> Iterator[None]:
    """Have code belong to a run."""
    token = _current.set(run)
    try:
        yield
    finally:
        _current.reset(token)
