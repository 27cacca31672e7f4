"""Events: what somebody who observes a turn is shown of it.

Most are *happenings*: they are recorded, and shown to anybody at any time in one order. The others
are *pieces* of a step under way, which only the runtime that drives has, and not for ever.
"""

from typing import Literal

import msgspec

from tenure.runtime.model.message import ToolStatus
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.wait import OpenWait, Resolution


class TurnEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened in a turn."""

    turn: str


class TextDelta(TurnEvent, frozen=True, kw_only=True, tag="text"):
    """More of the model's answer. A piece."""

    step: int
    text: str


class TextRetracted(TurnEvent, frozen=True, kw_only=True, tag="retracted"):
    """The text of this step so far is void: its attempt failed and is made again. A piece."""

    step: int


class ModelRetried(TurnEvent, frozen=True, kw_only=True, tag="retried"):
    """The model gave no answer, and is asked again in `delay` seconds. A piece."""

    step: int
    tries: int  #: made so far
    delay: float
    reason: str


class ToolStarted(TurnEvent, frozen=True, kw_only=True, tag="tool_started"):
    """A tool runs. Once more if it waited, or if its driver is gone and it may be run again."""

    call: str
    name: str


class ToolFinished(TurnEvent, frozen=True, kw_only=True, tag="tool_finished"):
    """A tool returned."""

    call: str
    name: str
    status: ToolStatus


class StepFinished(TurnEvent, frozen=True, kw_only=True, tag="step_finished"):
    """The model answered in full. This is the step's text, whatever its pieces were."""

    step: int
    text: str


class InputAccepted(TurnEvent, frozen=True, kw_only=True, tag="input_accepted"):
    """Input that was meant for this turn while it ran is part of it now."""

    work: str


class TurnWaiting(TurnEvent, frozen=True, kw_only=True, tag="waiting"):
    """The turn waits for an answer from outside, and nobody drives it meanwhile. It is not over."""

    waits: tuple[OpenWait, ...]  #: any of which lets it go on, each with its key


class WaitEnded(TurnEvent, frozen=True, kw_only=True, tag="wait_ended"):
    """A wait of the turn has ended, and the turn goes on with its answer."""

    wait: str  #: the `OpenWait.id` of what ended
    resolution: Resolution


class TurnFinished(TurnEvent, frozen=True, kw_only=True, tag="finished"):
    """The turn is committed."""

    result: TurnResult


class Resync(TurnEvent, frozen=True, kw_only=True, tag="resync"):
    """Events before this one are lost to whoever observes; this is what is known instead.

    `text` is the text of the step so far, in place of whatever was shown of it; None if that is
    not known here, and the step's `StepFinished` will say it.
    """

    step: int  #: the one under way; 0 if none is
    text: str | None = None
    #: overrun: the observer fell too far behind; not_here: another process, or an earlier one,
    #: had them; not_kept: of this turn nothing more is stored.
    reason: Literal["overrun", "not_here", "not_kept"]


Event = (
    TextDelta
    | TextRetracted
    | ModelRetried
    | ToolStarted
    | ToolFinished
    | StepFinished
    | InputAccepted
    | TurnWaiting
    | WaitEnded
    | TurnFinished
    | Resync
)


class Observed(msgspec.Struct, frozen=True, kw_only=True):
    """One event, and the cursor after which an observation goes on behind it."""

    cursor: str  #: a few dozen characters: letters, digits and hyphens
    event: Event


class Moved(TurnEvent, frozen=True, kw_only=True, tag="moved"):
    """Something of the turn was recorded. For whoever waits for that, and shown to nobody."""

    may_go_on: bool = False  #: a wait of it was answered, and it is anybody's to drive
