"""One command line being carried out: where it writes, and how it ends."""

import os
from typing import TYPE_CHECKING, Any

from tenure.faces.cli import words
from tenure.faces.cli.exits import meaning
from tenure.faces.cli.lines import Lines, fits
from tenure.faces.embed import open_gate_store
from tenure.gate.errors import RepositoryError
from tenure.gate.location import root_of
from tenure.gate.narration import AnyEvent
from tenure.gate.place import Place
from tenure.gate.signals import Signals
from tenure.gate.store import GateStore
from tenure.gate.text import readable
from tenure.gate.wire import encoded
from tenure.gate.worktree import Reading, Repository, start_read
from tenure.kernel.clock import SystemClock
from tenure.kernel.errors import StoreUnavailable, TenureError

if TYPE_CHECKING:
    from tenure.faces.cli.board import Board
    from tenure.faces.cli.display import Display


class Session:
    """Collects what a verb has to say: lines for people, or one object for machines."""

    def __init__(self, *, json: bool, begun: Reading | None = None) -> None:
        self.json = json
        self.begun = begun  #: a reading of the present directory that is under way
        self.verb: str | None = None
        self.clock = SystemClock()
        window = fits(os.environ)
        self.output = Lines(1, window=window)
        self.errors = Lines(2, window=window)
        self.events = False  #: whether what happens is told as JSON, a line each, on errors
        self.display: Display | None = None
        self.board: Board | None = None  #: what was seen of the run, for who wants all of it
        self.signals: Signals | None = None
        self._object: dict[str, Any] | None = None
        self._repository: Repository | None = None

    def directory(self, chosen: str | None) -> str:
        """Where the command acts."""
        try:
            return os.path.abspath(chosen) if chosen is not None else os.getcwd()
        except FileNotFoundError as error:
            raise RepositoryError(
                what="the directory this was started in does not exist any more",
                next="call from inside a checkout, or name it with -C",
            ) from error

    def repository(self, cwd: str) -> Repository:
        """The repository that `cwd` is in.

        Raises: RepositoryError where there is none that could be judged.
        """
        if self._repository is None and self.begun is not None:
            self._repository = self.begun.repo
        if self._repository is None:
            self._repository = start_read(cwd).finish().repo
        return self._repository

    def place(self, cwd: str) -> Place:
        """Where the repository's records are.

        Raises: UsageError if the environment or the policy names no place that could be meant.
        """
        repo = self.repository(cwd)
        return Place(repo.common_dir, root_of(repo.common_dir, repo.top, os.environ))

    def existing_store(self, place: Place, *, writable: bool = False) -> GateStore | None:
        """The repository's store, None if nothing was ever recorded."""
        if not os.path.exists(place.database):
            return None
        try:
            return open_gate_store(place, self.clock, create=False)
        except StoreUnavailable:
            if writable:
                raise
            return open_gate_store(place, self.clock, create=False, writable=False)

    def say(self, line: str = "") -> None:
        """A line for people; nothing with `--json`."""
        if not self.json:
            self.output.tell(line)

    def advise(self, line: str) -> None:
        """A line about what a person alone may decide: no agent is handed it."""
        self.say(f"  {line}")

    def verdict(self, line: str, *, good: bool) -> None:
        """The line that says how it ended."""
        if self.display is not None:
            self.display.tell_pieces([(line, "good" if good else "bad")])
            return
        self.say(line)

    def complain(self, line: str) -> None:
        """A line for people that is not what was asked for; nothing with `--json`."""
        if not self.json:
            self.errors.tell(line)

    def write(self, text: str) -> None:
        """Text as it is, which is what was asked for; nothing with `--json`."""
        if not self.json:
            self.output.write(text)

    def show(self, event: AnyEvent) -> None:
        """An event of a run, for people, and for a machine that wants to hear of it."""
        if self.board is not None:
            self.board.take(event)
        if self.events:
            self.errors.write(encoded(event).decode() + "\n")
        if self.display is not None:
            self.display.show(event)
            return
        for line in words.event_lines(event):
            self.say(line)

    def watch(self, place: Place) -> None:
        """Show the progress of runs from now on, if there is a terminal to show it on."""
        if self.json or not os.isatty(1):
            return
        if fits(os.environ):
            from tenure.faces.cli.display import Display

            colours = not os.environ.get("NO_COLOR")
            self.display = Display(1, place.job_log, self.clock, colours=colours)
            self.output = self.display

    def result(self, **fields: Any) -> None:
        """What a machine gets: the fields of the one object."""
        self._object = {**(self._object or {}), **fields}

    def warn(self, sentence: str) -> None:
        """Something that whoever called should see to, and that changes no answer."""
        self.output.end()
        self.errors.tell(f"tenure: {sentence}")

    def fail(self, error: TenureError, code: int) -> int:
        """End with an error that was expected: one line, no traceback."""
        self.output.end()
        problems = error.fields.get("problems", ())
        lines = [str(problem) for problem in problems] or [str(error)]
        details = [str(path) for path in error.fields.get("paths", ())]
        if not self.json:
            for line in lines:
                self.errors.tell(f"tenure: {line}")
        if advice := error.fields.get("advice"):
            self.complain(f"  {advice}")
        self.result(error={"kind": type(error).__name__, "sentence": str(error), "paths": details})
        if len(lines) > 1:
            self.result(problems=lines)
        return code

    def crash(self, error: Exception) -> int:
        """End with a fault of our own: where its traceback is, nothing else."""
        self.output.end()
        sentence = f"a fault in tenure itself ({type(error).__name__}: {_first_line(error)}); "
        try:
            sentence += f"its traceback is in {_written_down(error)}"
        except OSError as trouble:
            sentence += f"its traceback could not be written down ({trouble.strerror})"
        if not self.json:
            self.errors.tell(f"tenure: {sentence}")
        self.result(error={"kind": type(error).__name__, "sentence": sentence, "paths": []})
        return 70

    def close(self, code: int) -> int:
        """Write what is left to write, and hand back the exit code."""
        self.output.end()
        if self.json:
            envelope = {
                "ok": code == 0,
                "verb": self.verb,
                "exit_code": code,
                "meaning": meaning(code, self.verb),
                **(self._object or {}),
            }
            self.output.write(encoded(envelope).decode() + "\n")
        signals = self.signals or Signals(())
        streams = [self.errors, self.output]
        if self.display is not None:  # it takes its frame away, and nothing that comes later
            streams.reverse()
        for stream in streams:
            stream.drain(signals.descriptor)
        return code


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _written_down(error: Exception) -> str:
    """The file that the traceback of `error` was written to."""
    import tempfile
    import traceback

    text = readable("".join(traceback.format_exception(error)))
    with tempfile.NamedTemporaryFile(
        "w", prefix="tenure-", suffix=".log", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    return file.name
