"""Choosing the verb, carrying it out, and what happens when something is raised."""

import errno
import gc
import os
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from tenure.faces.cli import plain_done
from tenure.faces.cli.exits import Exit
from tenure.faces.cli.process import Signalled
from tenure.faces.cli.session import Session
from tenure.gate.errors import CannotTell, GateError, Interrupted
from tenure.gate.worktree import Reading
from tenure.kernel.errors import ConfigurationError, TenureError

#: Carries out a verb; gets what was typed and returns the exit code.
CarryOut = Callable[[Session, Any], int]


class PlainDone:
    """What is typed most often, told without the grammar: `done`, with switches alone."""

    verb = "done"
    cwd: str | None = None
    rerun = False
    events = False
    accept_policy_change: tuple[str, ...] = ()
    wait: str | None = None
    ci = False
    summary: str | None = None

    def __init__(self, switches: Sequence[str]) -> None:
        self.json = "--json" in switches
        self.foreground = "--foreground" in switches


def run(arguments: Sequence[str], begun: object = None) -> int:
    """Carry out one command line; its exit code.

    `begun` is what a shortcut read, a checkout or the event of a hook, and had no answer to.
    """
    session = _session(arguments, begun)
    try:
        chosen = PlainDone(arguments) if plain_done(arguments) else _parsed(arguments)
        verb = import_module(f"tenure.faces.cli.verb_{chosen.verb.replace(' ', '_')}")
        carry_out: CarryOut = verb.carry_out
        session.verb = chosen.verb
        gc.freeze()  # what was imported stays, and is shared with what is forked
        gc.enable()
        return session.close(carry_out(session, chosen))
    except SystemExit as asked:  # --help and --version print for themselves
        return int(asked.code or 0)
    except TenureError as error:
        heard = session.signals.drain() if session.signals is not None else []
        if heard:  # it reached what we had started as well, which is no failure of that
            return _interrupted(session, heard[0])
        return session.close(session.fail(error, _code_of(error)))
    except Signalled as signalled:
        return _interrupted(session, signalled.number)
    except OSError as error:
        if error.filename is None or error.errno not in _SHORTAGES:
            return session.close(session.crash(error))
        return session.close(session.fail(_short(error), Exit.COULD_NOT_TELL))
    except Exception as error:
        return session.close(session.crash(error))


def _is_verb(word: str) -> bool:
    """Whether there is a verb of that name, for whoever has to be told of an early end."""
    name = word.replace(" ", "_")
    plain = name.replace("_", "").isalpha() and "_" not in word
    return plain and os.path.exists(f"{os.path.dirname(__file__)}/verb_{name}.py")


def ended_by_signal(arguments: Sequence[str], number: int) -> int:
    """Say that a signal came before the command line was so much as read."""
    return _interrupted(_session(arguments), number)


def _session(arguments: Sequence[str], begun: object = None) -> Session:
    verb = _verb_of(arguments)
    if verb == "hook":
        from tenure.faces.cli.hook_session import hook_session

        return hook_session(arguments, begun)
    reading = begun if isinstance(begun, Reading) else None
    session = Session(json="--json" in arguments, begun=reading)
    session.verb = verb
    return session


def _verb_of(arguments: Sequence[str]) -> str | None:
    """The verb as far as it can be told, which may be two words: `proof drop`."""
    for at, word in enumerate(arguments):
        if _is_verb(word):
            both = " ".join(arguments[at : at + 2])
            return both if _is_verb(both) else word
    return None


def _interrupted(session: Session, number: int) -> int:
    import signal

    name = signal.Signals(number).name
    error = Interrupted(what=f"{name} ended the command", next="ask again")
    return session.close(session.fail(error, 128 + number))


#: What says something about the machine, not about us.
_SHORTAGES = frozenset(
    {
        errno.EACCES,
        errno.EPERM,
        errno.EROFS,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
    }
)


def _short(error: OSError) -> CannotTell:
    return CannotTell(
        what=f"{os.fsdecode(error.filename)}: {error.strerror}",
        next="see to it that this process may use it, and has room",
    )


def _code_of(error: TenureError) -> int:
    if isinstance(error, GateError):
        return error.exit_code
    if isinstance(error, ConfigurationError):
        return Exit.USAGE
    return Exit.COULD_NOT_TELL


def _parsed(arguments: Sequence[str]) -> Any:
    from tenure.faces.cli.grammar import parse

    return parse(arguments)
