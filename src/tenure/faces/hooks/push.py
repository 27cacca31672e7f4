"""Git's pre-push: a line for each ref on standard input, an exit code as the answer.

`<local ref> <local object> <remote ref> <remote object>`; an object of zeros is none: the local
one of a deletion, the remote one of a ref that is new there (githooks(5)).
"""

import msgspec

from tenure.gate.errors import UsageError


class Pushed(msgspec.Struct, frozen=True):
    """One ref that a push would change."""

    local_ref: str  #: as it was typed; `(delete)` for a deletion
    local: str
    remote_ref: str
    remote: str

    @property
    def deletes(self) -> bool:
        """Whether it only takes a ref away."""
        return not self.local.strip("0")


def read_push(data: bytes) -> list[Pushed]:
    """What a push would change.

    Raises:
        UsageError: it is not what git hands to its hook.
    """
    return [_pushed(line) for line in data.splitlines() if line.strip()]


def _pushed(line: bytes) -> Pushed:
    fields = line.decode("utf-8", "surrogateescape").rsplit(" ", 3)
    if len(fields) != 4 or not all(_is_object(name) for name in (fields[1], fields[3])):
        raise UsageError(
            what="pre-push gets lines of two refs and two objects on standard input, and this is "
            f"none: {line[:200].decode('utf-8', 'backslashreplace')}",
            next="let git call it, or ask with `tenure done`",
        )
    return Pushed(*fields)


def _is_object(name: str) -> bool:
    return len(name) in (40, 64) and not name.strip("0123456789abcdef")
