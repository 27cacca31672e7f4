"""What a planted fault is."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """One fault: in `file`, below src/tenure, the one place that says `old` says `new`.

    `tests` is what must go red: arguments for pytest, as few tests as will do.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
