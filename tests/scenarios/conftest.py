"""What every story needs of the process that plays it."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _signals_as_at_a_terminal() -> Iterator[None]:
    """Commands that are started hear what one at a terminal hears.

    Suites that run in the background are started with some signals ignored, which every
    process they start inherits, and a command rightly goes on ignoring them.
    """
    before = {}
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            before[number] = signal.signal(number, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
