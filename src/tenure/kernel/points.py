"""Named moments in a protocol, for tests to act at.

A point costs one function call and does nothing. `tenure.testing.faults` replaces the
hook, so that a test can stop, kill, or let a rival act at exactly that moment.
"""

from collections.abc import Callable


def _nothing(name: str) -> None:
    """The hook outside tests."""


_hook: Callable[[str], None] = _nothing


def point(name: str) -> None:
    """Announce that the protocol is at `name`."""
    _hook(name)


def install(hook: Callable[[str], None] | None) -> None:
    """Replace the hook for this process; `None` restores the one that does nothing."""
    global _hook
    _hook = hook or _nothing
