"""The machine of an adopted agent: one run of its framework's loop, and the boundary after it.

    run ─► boundary before_completion ─► input? ─► run again, with that
                                        └ none ─► done

What the run does outside are parts of it, which the journal has by themselves. A run that is
started again goes through the same parts, and finds what they returned.
"""

import msgspec

from tenure.runtime.machine.machine import Machine
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import AssistantMessage, Message, UserMessage
from tenure.runtime.model.turn import TurnStatus
from tenure.runtime.model.usage import Usage


class AdoptedAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one run of an adopted agent came to. `failed` says in words why it came to no answer."""

    text: str = ""
    output: Json = None
    usage: Usage = Usage()
    kept: Json = None  #: the messages of the run, as its framework has them
    failed: str = ""


class AdoptedMachine(Machine):
    """One turn of an adopted agent."""

    _asks = "run"
    _steps = "runs"
    left: Json = None  #: what a run that is not going on leaves, see `AdoptedAnswer.kept`

    def take(self, key: str, outcome: Outcome) -> None:
        """Take the outcome of a wanted effect. Anything else, late or unknown, is ignored."""
        effect = self.wants.get(key)
        if effect is None or effect.kind != "run" or self.draft is not None:
            super().take(key, outcome)
            return
        del self.wants[key]
        if outcome.status == "ok":
            self._take_run(msgspec.convert(outcome.value, AdoptedAnswer))
        else:
            self.end("stopped", f"the run failed: {outcome.value}")

    def asked(self) -> tuple[list[Message], list[UserMessage]]:
        """What of this turn is said and done, and what the next run is asked on top of it."""
        new: list[UserMessage] = []
        for message in reversed(self.messages):
            if not isinstance(message, UserMessage):
                break
            new.insert(0, message)
        return self.messages[: len(self.messages) - len(new)], new

    def leave(self, kept: Json, usage: Usage) -> None:
        """Know what a run did that is not going on, before the turn ends."""
        self.left = kept
        self._usage += usage

    def cut(self, status: TurnStatus, reason: str) -> None:
        """End the turn with what people said to it alone: what it did is too much to keep."""
        self.left = None
        super().cut(status, reason)

    def _note(self, status: TurnStatus, reason: str) -> None:
        self._output = None
        self.messages.append(AssistantMessage(stopped=f"{status}: {reason}", kept=self.left))
        self._finish(status, reason=reason)

    def _take_run(self, answer: AdoptedAnswer) -> None:
        self._usage += answer.usage
        if answer.failed:
            self.end("stopped", answer.failed)
            return
        self.messages.append(AssistantMessage(text=answer.text, kept=answer.kept))
        self._output = (answer.output,)
        self._reach("before_completion")
