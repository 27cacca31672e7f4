"""What a planted fault is."""

from typing import NamedTuple


class Mutation(NamedTuple):
    """One fault: in `file`, below src/tenure or an example, the one place that says `old` says `new`.

    `tests` is what must go red: arguments for pytest, as few tests as will do.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def path(self) -> str:
        """The file, below the root of the project."""
        return self.file if self.file.startswith("examples/") else f"src/tenure/{self.file}"
