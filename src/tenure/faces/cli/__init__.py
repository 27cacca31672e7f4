"""The command line. `main` first tries the answer that needs nothing but the store."""

import os
import sys


def main() -> int:
    """The console script: answer, and exit with what the answer means."""
    if sys.platform != "linux":
        sys.stderr.write(f"tenure: {sys.platform} is not supported by this version; use Linux\n")
        return 2
    _own_standard_streams()
    arguments = sys.argv[1:]
    if arguments[:1] == ["done"] and set(arguments[1:]) <= {"--json", "--foreground"}:
        from tenure.gate.shortcut import answer

        code = answer(os.getcwd, json="--json" in arguments)
        if code is not None:
            return code
    from tenure.faces.cli.application import run

    return run(arguments)


def _own_standard_streams() -> None:
    """Open nothing where the caller left a standard stream closed.

    Otherwise the next file we open, the store perhaps, would become our standard output.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
