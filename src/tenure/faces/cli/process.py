"""The process of one command: its standard streams, and the signals that end it."""

import os


class Signalled(BaseException):
    """A signal that ends the command, whatever it is doing."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(number)


def hear() -> None:
    """Let INT, TERM and HUP end the command in an orderly way, unless the caller ignores them."""
    # The module below `signal`, which makes enumerations of it: a Proof does not wait for those.
    _signal = __import__("_signal")

    def end(number: int, _: object) -> None:
        raise Signalled(number)

    for number in (_signal.SIGHUP, _signal.SIGINT, _signal.SIGTERM):
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, end)


def own_standard_streams() -> None:
    """Open nothing where the caller left a standard stream closed.

    Otherwise the next file we open, the store perhaps, would become our standard output.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def for_this_terminal(line: str) -> str:
    """A line as it is; on a terminal that it is too long for, in rows. Only those cost an import."""
    try:
        columns = os.get_terminal_size(1).columns
    except OSError:
        return line
    if len(line) <= columns:
        return line
    from tenure.faces.cli.lines import fits, laid_out

    return "\n".join(laid_out(line, columns)) if fits(os.environ) else line
