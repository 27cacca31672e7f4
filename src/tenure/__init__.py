"""Tenure: the record says who owns; the clock only says who may ask to take over.

The front door of the runtime. A name is imported when it is first used: the command line,
which answers in milliseconds, comes through here as well.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenure.faces.host import Runtime
    from tenure.kernel.errors import TenureError
    from tenure.kernel.lease import LeaseTimings
    from tenure.runtime.agent import Agent, Model
    from tenure.runtime.model.event import (
        Event,
        ModelRetried,
        StepFinished,
        TextDelta,
        TextRetracted,
        ToolFinished,
        ToolStarted,
        TurnFinished,
        TurnWaiting,
    )
    from tenure.runtime.model.message import Attachment
    from tenure.runtime.model.program import TurnBudget
    from tenure.runtime.model.session import ParkedSession
    from tenure.runtime.model.turn import CommitBudget, TurnResult
    from tenure.runtime.model.wait import OpenWait, Resolution
    from tenure.runtime.performing import RetryPolicy
    from tenure.runtime.ports.plugin import Plugin, PluginFactory
    from tenure.runtime.ports.provider import Provider
    from tenure.runtime.session import Session
    from tenure.runtime.tools.context import ToolContext
    from tenure.runtime.tools.tool import Tool, tool
    from tenure.runtime.tracing.jsonl import JsonlTraceSink

__all__ = ["Agent", "Attachment", "CommitBudget", "Event", "JsonlTraceSink", "LeaseTimings"]
__all__ += ["Model", "ModelRetried", "OpenWait", "ParkedSession", "Plugin", "PluginFactory"]
__all__ += ["Provider", "Resolution", "RetryPolicy", "Runtime", "Session", "StepFinished"]
__all__ += ["TenureError", "TextDelta", "TextRetracted", "Tool", "ToolContext", "ToolFinished"]
__all__ += ["ToolStarted", "TurnBudget", "TurnFinished", "TurnResult", "TurnWaiting", "tool"]

#: Where each name is at home.
_ROOMS = {
    "faces.host": "Runtime",
    "kernel.errors": "TenureError",
    "kernel.lease": "LeaseTimings",
    "runtime.agent": "Agent Model",
    "runtime.model.event": "Event ModelRetried StepFinished TextDelta TextRetracted ToolFinished "
    "ToolStarted TurnFinished TurnWaiting",
    "runtime.model.message": "Attachment",
    "runtime.model.program": "TurnBudget",
    "runtime.model.session": "ParkedSession",
    "runtime.model.turn": "CommitBudget TurnResult",
    "runtime.model.wait": "OpenWait Resolution",
    "runtime.performing": "RetryPolicy",
    "runtime.ports.plugin": "Plugin PluginFactory",
    "runtime.ports.provider": "Provider",
    "runtime.session": "Session",
    "runtime.tools.context": "ToolContext",
    "runtime.tools.tool": "Tool tool",
    "runtime.tracing.jsonl": "JsonlTraceSink",
}


if not TYPE_CHECKING:  # a name that is not there is a mistake, and one it can see

    def __getattr__(name: str) -> object:
        for room, names in _ROOMS.items():
            if name in names.split():
                from importlib import import_module

                found = getattr(import_module(f"tenure.{room}"), name)
                globals()[name] = found
                return found
        raise AttributeError(f"module 'tenure' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
