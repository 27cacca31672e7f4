"""Events: what a stream shows of a turn while it is driven. A hint; the commit is the truth."""

import msgspec

from tenure.runtime.model.message import ToolStatus
from tenure.runtime.model.turn import TurnResult
from tenure.runtime.model.wait import OpenWait, Resolution


class TurnEvent(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Something that happened in a turn."""

    turn: str


class TextDelta(TurnEvent, frozen=True, kw_only=True, tag="text"):
    """More of the model's answer."""

    step: int
    text: str


class TextRetracted(TurnEvent, frozen=True, kw_only=True, tag="retracted"):
    """The text of this step so far is void: its attempt failed and is made again."""

    step: int


class ModelRetried(TurnEvent, frozen=True, kw_only=True, tag="retried"):
    """The model gave no answer, and is asked again in `delay` seconds."""

    step: int
    tries: int  #: made so far
    delay: float
    reason: str


class ToolStarted(TurnEvent, frozen=True, kw_only=True, tag="tool_started"):
    """A tool runs."""

    call: str
    name: str


class ToolFinished(TurnEvent, frozen=True, kw_only=True, tag="tool_finished"):
    """A tool returned."""

    call: str
    name: str
    status: ToolStatus
    replayed: bool = False  #: the journal answered, nothing was run


class StepFinished(TurnEvent, frozen=True, kw_only=True, tag="step_finished"):
    """The model answered in full."""

    step: int
    text: str
    replayed: bool = False


class InputAccepted(TurnEvent, frozen=True, kw_only=True, tag="input_accepted"):
    """Input that was meant for this turn while it ran is part of it now."""

    work: str


class TurnWaiting(TurnEvent, frozen=True, kw_only=True, tag="waiting"):
    """The turn waits for an answer from outside, and nobody drives it meanwhile. It is not over."""

    waits: tuple[OpenWait, ...]  #: any of which lets it go on, each with its key


class WaitEnded(TurnEvent, frozen=True, kw_only=True, tag="wait_ended"):
    """A wait of the turn was answered, through this runtime."""

    resolution: Resolution


class TurnFinished(TurnEvent, frozen=True, kw_only=True, tag="finished"):
    """The turn is committed."""

    result: TurnResult


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
)
