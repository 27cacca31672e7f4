"""Which file a command names, and why it cannot be run, in words."""

import errno
import os
import stat
from collections.abc import Mapping

_FIRST_LINE_BYTES = 256


class NotRunnable(Exception):
    """The command cannot be run; the message is a sentence for its author."""


def resolve(name: str, environment: Mapping[str, str]) -> str:
    """The file to execute for `name`, relative to the present directory.

    A name with a slash is that file; any other is the first program of that name on the
    PATH of `environment`, the one the job itself would find.

    Raises:
        NotRunnable: there is none, and why.
    """
    if not name:
        raise NotRunnable("there is no command to run; name one")
    if "/" in name:
        fault = _fault(name)
        if fault:
            raise NotRunnable(fault)
        return name
    faults = []
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(folder or ".", name)
        fault = _fault(path)
        if not fault:
            return path
        if os.path.lexists(path):
            faults.append(fault)
    if faults:
        raise NotRunnable(faults[0])
    raise NotRunnable(f"{name!r} is not on PATH; install it, or name its path")


def explain(path: str, error: OSError) -> str:
    """Why the kernel refused to execute `path`, which looked as if it could be run."""
    if error.errno == errno.ENOENT and os.path.exists(path):
        interpreter = _interpreter(path)
        if interpreter:
            return f"{path!r} asks for the interpreter {interpreter!r}, which does not exist"
        return f"{path!r} asks for a loader that does not exist; was it built for this machine?"
    if error.errno == errno.ENOEXEC:
        return f"{path!r} is no program for this machine and has no line #! that names one"
    if error.errno == errno.E2BIG:
        return f"the arguments and environment of {path!r} are longer than the system allows"
    if error.errno == errno.EACCES and _interpreter(path):
        return f"{path!r}, or its interpreter {_interpreter(path)!r}, may not be executed"
    return _fault(path) or f"{path!r} cannot be run: {error.strerror}"


def enter(folder: str) -> None:
    """Make `folder` the present directory.

    Raises:
        NotRunnable: it is not there, no directory, or closed to us.
    """
    try:
        os.chdir(folder)
    except FileNotFoundError:
        raise NotRunnable(f"the working directory {folder!r} does not exist") from None
    except NotADirectoryError:
        raise NotRunnable(f"the working directory {folder!r} is not a directory") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise NotRunnable(f"the working directory {folder!r} cannot be entered: {reason}") from None


def _fault(path: str) -> str:
    """What keeps `path` from being executed, as far as its entry tells; empty if nothing."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(path):
            return f"{path!r} is a link to {os.readlink(path)!r}, which does not exist"
        return f"{path!r} does not exist"
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return f"{path!r} cannot be looked at: {reason}"
    if stat.S_ISDIR(mode):
        return f"{path!r} is a directory, not a program"
    if not stat.S_ISREG(mode):
        return f"{path!r} is not a file, so not a program"
    if not os.access(path, os.X_OK):
        return f"{path!r} may not be executed; is its mode right (chmod +x)?"
    return ""


def _interpreter(path: str) -> str:
    """The interpreter that a script names in its first line, empty if it names none."""
    try:
        with open(path, "rb") as file:
            first = file.read(_FIRST_LINE_BYTES).split(b"\n", 1)[0]
    except OSError:
        return ""
    if not first.startswith(b"#!"):
        return ""
    words = first[2:].split()
    return os.fsdecode(words[0]) if words else ""
