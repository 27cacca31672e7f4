"""The command line. `main` first tries the answer that needs nothing but the store."""

import gc
import os
import sys

from tenure.faces.cli.process import Signalled, for_this_terminal, hear, own_standard_streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn


def main() -> "NoReturn":
    """The console script: answer, and exit with what the answer means."""
    gc.disable()  # imports make what stays; whoever goes on after them turns it on again
    hear()
    try:
        code = command()
    except Signalled as signalled:
        from tenure.faces.cli.application import ended_by_signal

        code = ended_by_signal(sys.argv[1:], signalled.number)
    _leave(code)


def command() -> int:
    """Carry out the command line of this process; the exit code it should end with."""
    own_standard_streams()
    arguments = sys.argv[1:]
    begun: object = None
    if plain_done(arguments):
        from tenure.gate.shortcut import answer

        begun = answer(os.getcwd, for_this_terminal, json="--json" in arguments)
    _spare_typing_extensions()
    if arguments[:1] == ["hook"]:
        from tenure.faces.hooks.shortcut import hear

        begun = hear(arguments)
    if isinstance(begun, int):
        return begun
    from tenure.faces.cli.application import run

    _admit_typing_extensions()
    return run(arguments, begun)


def plain_done(arguments: "Sequence[str]") -> bool:
    """Whether this is `done` with switches alone, which needs no grammar to be understood."""
    return arguments[:1] == ["done"] and set(arguments[1:]) <= {"--json", "--foreground"}


def _spare_typing_extensions() -> None:
    """Keep msgspec from importing what it needs on versions of Python older than ours.

    Many a project has it in the environment in which the gate is installed, and there it costs
    as much as msgspec itself.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault("typing_extensions", None)


def _admit_typing_extensions() -> None:
    if sys.modules.get("typing_extensions", os) is None:
        del sys.modules["typing_extensions"]


def _leave(code: int) -> "NoReturn":
    """End the process without taking the interpreter apart, which takes longer than a Proof.

    Nothing is left to be closed: streams are flushed here, stores close where they are used.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # closed, or nobody reads it
    os._exit(code)
