"""The directory in which all repositories of one user meet on one machine.

Everybody has to find the same one, from a terminal, a hook, an agent or a cron job, so it
does not depend on variables that differ between those. Another user can neither read it nor
make us use one of theirs.
"""

import os
import stat
from collections.abc import Mapping

from tenure.gate.errors import CannotTell, UsageError

#: Names another directory, for a sandbox that can write none of the usual ones.
VARIABLE = "TENURE_SLOTS"


def slots_directory(environ: Mapping[str, str]) -> str:
    """Where the machine's slots are, made and found to be our own.

    The first that can be used of `/tmp/tenure-UID` and `.local/state/tenure` of the user's home.

    Raises:
        UsageError: `TENURE_SLOTS` names no absolute path.
        CannotTell: none of them can be used; it says why not.
    """
    chosen = environ.get(VARIABLE)
    if chosen is not None and not os.path.isabs(chosen):
        raise UsageError(
            what=f"{VARIABLE} is {chosen!r}, which is no absolute path",
            next="name the same directory for everybody whose jobs should count together",
        )
    refused = []
    for path in [chosen] if chosen is not None else _usual():
        reason = _unfit(path, ours=chosen is None)
        if not reason:
            return path
        refused.append(f"{path}: {reason}")
    raise CannotTell(
        what=f"there is no place for the machine's slots ({'; '.join(refused)})",
        next=f"make one of these usable, or name another directory in {VARIABLE}",
    )


def _usual() -> list[str]:
    import pwd

    user = os.geteuid()
    found = [f"/tmp/tenure-{user}"]
    try:
        found.append(os.path.join(pwd.getpwuid(user).pw_dir, ".local", "state", "tenure"))
    except KeyError:
        pass  # a container's user, who has no home
    return found


def _unfit(path: str, *, ours: bool) -> str:
    """Make the directory and say why it cannot be used; empty if it can.

    One of `ours` is closed to others; one that somebody chose is left as it is.
    """
    from tenure.gate.errors import PlatformError
    from tenure.gate.filesystem import require_local

    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        # Through no link: whoever made one here would choose the place for us.
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            found = os.fstat(directory)
            if found.st_uid != os.geteuid():
                return "it is another user's"
            if ours:
                os.fchmod(directory, 0o700)
            elif stat.S_IMODE(found.st_mode) & 0o022:
                return "other users may write it"
        finally:
            os.close(directory)
        if not os.access(path, os.W_OK | os.X_OK):
            return "it cannot be written"
        require_local(path)
    except OSError as error:
        return error.strerror or str(error)
    except PlatformError as error:
        return str(error)
    return ""
