"""The command line. `main` first tries the answer that needs nothing but the store."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> int:
    """The console script: answer, and exit with what the answer means."""
    _own_standard_streams()
    arguments = sys.argv[1:]
    begun = None
    if plain_done(arguments):
        from tenure.gate.shortcut import answer

        found = answer(os.getcwd, json="--json" in arguments)
        if isinstance(found, int):
            return found
        begun = found
    from tenure.faces.cli.application import run

    return run(arguments, begun)


def plain_done(arguments: "Sequence[str]") -> bool:
    """Whether this is `done` with switches alone, which needs no grammar to be understood."""
    return arguments[:1] == ["done"] and set(arguments[1:]) <= {"--json", "--foreground"}


def _own_standard_streams() -> None:
    """Open nothing where the caller left a standard stream closed.

    Otherwise the next file we open, the store perhaps, would become our standard output.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
