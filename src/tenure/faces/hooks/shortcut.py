"""The shortcut: a Stop hook where a Proof exists, answered about as soon as `tenure done` is.

Whatever is not plain sailing is left to the long way, with what was read so far.
"""

import os

from tenure.faces.hooks.stop import EVENTS, PLANNING, SILENCE, Stop, read_stop
from tenure.faces.hooks.streak import Streak, state_directory
from tenure.gate.shortcut import known

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tenure.gate.errors import UsageError
    from tenure.gate.worktree import Reading


class Heard:
    """What a tool handed over, or why it is no event; and the reading of its directory, if begun."""

    def __init__(self, stop: "Stop | UsageError") -> None:
        self.stop = stop
        self.here = _here()  #: where the tool started the hook
        self.begun: Reading | None = None

    def take_begun(self) -> "Reading | None":
        """The reading, once: it is of one directory, and ages."""
        begun, self.begun = self.begun, None
        return begun


def hear(arguments: "Sequence[str]") -> int | Heard | None:
    """The exit code of a Stop hook that is answered; else what was heard, if it was listened to."""
    return answer(arguments[1]) if plain_stop(arguments) else None


def plain_stop(arguments: "Sequence[str]") -> bool:
    """Whether this is a Stop hook that needs no grammar to be understood."""
    if len(arguments) < 2 or len(arguments) % 2 or arguments[1] not in SILENCE:
        return False
    return all(
        (name == "--wait" and value[:-1].isdecimal() and value[-1] in "smh")
        or (name == "--blocks" and value.isdecimal() and int(value) > 0)
        for name, value in zip(arguments[2::2], arguments[3::2], strict=True)
    )


def answer(tool: str) -> int | Heard:
    """Let the agent stop if a Proof is known where it worked, and return 0; else what was heard."""
    heard = listen()
    stop = heard.stop
    if not isinstance(stop, Stop) or stop.hook_event_name not in EVENTS:
        return heard
    if stop.permission_mode == PLANNING:
        return heard
    try:
        os.chdir(stop.cwd)
    except OSError:
        return heard
    found = known(os.getcwd)
    if not isinstance(found, tuple):
        heard.begun = found
        return heard
    Streak(state_directory(os.environ), f"{tool} {stop.who}").end()
    os.write(1, SILENCE[tool].encode())
    return 0


def listen() -> Heard:
    """Read standard input to its end, and what it says."""
    from tenure.gate.errors import UsageError

    try:
        return Heard(read_stop(read_standard_input()))
    except UsageError as error:
        return Heard(error)


def _here() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:
        return ""


def read_standard_input() -> bytes:
    """Everything the tool hands over; nothing from a terminal, where nobody would end it."""
    pieces = []
    while not os.isatty(0) and (piece := os.read(0, 1 << 16)):
        pieces.append(piece)
    return b"".join(pieces)
