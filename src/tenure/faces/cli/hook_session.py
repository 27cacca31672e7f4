"""A command line that a hook calls: whatever happens, it ends as the hook's tool expects."""

import os
from collections.abc import Sequence
from typing import Any

from tenure.faces.cli.exits import Exit
from tenure.faces.cli.session import Session
from tenure.faces.hooks.shortcut import Heard
from tenure.faces.hooks.stop import SILENCE, Ending, Stop, blocked, cut, let_go
from tenure.faces.hooks.streak import Streak, state_directory
from tenure.gate.digest import digest
from tenure.gate.narration import AnyEvent
from tenure.gate.place import Place
from tenure.gate.signals import Signals
from tenure.kernel.errors import TenureError

#: What an agent is to do next, by the kind of error or the outcome.
NEXT = {
    "DirtyTree": "`tenure check` runs the jobs on the files as they are. Commit what belongs to "
    "your work (leave alone what is not yours, and say so); `tenure done` then proves the commit.",
    "not met": "Mend it and commit; `tenure done` then proves the commit. A change of policy is "
    "for the person you work for to accept, not for you.",
    "running": "Wait for it with the command above; a Proof lets you stop.",
    "cancelled": "That says nothing about your work: ask again.",
    "broken": "The fault is in tenure and not in your work: tell the person you work for, with "
    "the path of the log. Nothing is proven.",
    "": "Mend what it names; `tenure done` then proves the commit.",
}

_HEAD = "Not proven, so not done."


class AgentSession(Session):
    """Answers the Stop hook of an agent: silence, a reason to go on, or a warning.

    Standard output has the tool's JSON and nothing else. What is not met, running, unknown or
    our own fault blocks; after some blocks in a row in the same state the agent is let go, and
    the person is told that nothing is proven.
    """

    def __init__(self, tool: str, heard: Heard | None) -> None:
        super().__init__(json=True)  # errors are kept for the answer, and printed nowhere
        self.tool = tool
        self.heard = heard
        self.stop: Stop | None = None  #: what the tool handed over, once it is read
        self.notice = False  #: it is told of something, and takes no answer
        self.blocks = 3  #: in a row in one state, before the agent is let go
        self.ending: Ending | None = None  #: an answer that needs no verdict
        self._lines: list[str] = []
        self._advice: list[str] = []

    def say(self, line: str = "") -> None:
        """A line of the reason."""
        self._lines.append(line)

    def advise(self, line: str) -> None:
        """A line for the person, once the agent is let go."""
        self._advice.append(line)

    def fail(self, error: TenureError, code: int) -> int:
        """End with an error that was expected, and with what it advises the person to do."""
        self._advice += [str(advice) for advice in (error.fields.get("advice"),) if advice]
        return super().fail(error, code)

    def show(self, event: AnyEvent) -> None:
        """Nothing: nobody reads along."""

    def anew(self) -> None:
        """Forget what was said of another directory."""
        self._lines.clear()
        self._advice.clear()
        self._object = None
        self._repository = None

    def close(self, code: int) -> int:
        """Write the answer, and hand back the exit code that goes with it."""
        ending = self.ending or self._answer(code)
        signals = self.signals or Signals(())
        self.output.write(ending.out)
        self.errors.write(ending.err)
        self.errors.drain(signals.descriptor)
        self.output.drain(signals.descriptor)
        return ending.code

    def _answer(self, code: int) -> Ending:
        found = self._object or {}
        error = found.get("error", {})
        if self.notice:
            return Ending(1, "", f"tenure: {error['sentence']}\n") if error else Ending(0, "")
        streak = Streak(state_directory(os.environ), f"{self.tool} {self._who()}")
        if code == 0:
            streak.end()
            return let_go(self.tool)
        kind = error.get("kind") or found.get("outcome", "")
        if code == Exit.BUG:
            kind = "broken"
        elif kind == "left":
            kind = "running"
        told = found.get("problems") or ([error["sentence"]] if error else self._lines)
        if self._count(streak, self._state(kind, found)) > self.blocks:
            streak.end()
            return let_go(self.tool, self._warning(told))
        after = NEXT.get(kind) or NEXT[""]
        return blocked("\n".join([_HEAD, cut("\n".join(told)), after]))

    def _count(self, streak: Streak, state: str) -> int:
        """Blocks in a row. Where they cannot be counted, one is enough: there is no end otherwise."""
        try:
            return streak.block(state, self.clock.now().wall_ns)
        except OSError:
            again = self.stop is None or self.stop.stop_hook_active
            return self.blocks + 1 if again else 1

    def _who(self) -> str:
        return self.stop.who if self.stop is not None else f"nobody in {os.getcwd()}"

    def _state(self, kind: str, found: dict[str, Any]) -> str:
        """What has to change for the count to begin anew."""
        error = found.get("error", {})
        report = found.get("report") or {}
        failing = [failure["requirement"] for failure in report.get("failures", ())]
        about = (
            "" if kind == "broken" else error.get("sentence", "")
        )  # each crash has a log of its own
        return digest("blocked", (kind, about, found.get("commit"), failing))

    def _warning(self, told: Sequence[str]) -> str:
        first = "".join(_sentence(line) for line in [*told[:1], *self._advice])
        times = f"{self.blocks} time{'' if self.blocks == 1 else 's'}"
        return (
            f"tenure: NOT PROVEN. The agent was blocked {times} in the same state and "
            f"is let go now. {first}`tenure done` says all of it."
        )


def _sentence(line: str) -> str:
    """A line before others in one paragraph."""
    return f"{line}{'' if line.endswith(('.', '!', '?')) else '.'} "


class PushSession(Session):
    """Answers git's pre-push: an exit code, and everything there is to say on standard error."""

    def __init__(self) -> None:
        super().__init__(json=False)
        self.output = self.errors

    def watch(self, place: Place) -> None:
        """No drawing: that is for a terminal on standard output, which is git's."""

    @property
    def judged(self) -> object:
        """The commit that was answered about, once there was an answer."""
        return (self._object or {}).get("commit")


def hook_session(arguments: Sequence[str], heard: object) -> Session:
    """The session of a `hook` command line, which may turn out to be none that can be carried out."""
    tool = next((word for word in arguments if word in SILENCE), None)
    known = heard if isinstance(heard, Heard) else None
    session = AgentSession(tool, known) if tool is not None else PushSession()
    session.verb = "hook"
    return session
