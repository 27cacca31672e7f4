"""Waiting for something to be true, without guessing how long it takes."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

#: Long enough for a machine that is doing something else; a wait that succeeds costs none of it.
PATIENCE_SECONDS = 60.0


def until(question: Callable[[], T], what: str, seconds: float = PATIENCE_SECONDS) -> T:
    """Ask until the answer is true, and return it.

    Raises:
        AssertionError: `seconds` went by first; the message names `what` was awaited.
    """
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {seconds:g} s, last answer {answer!r}")
        time.sleep(0.005)
