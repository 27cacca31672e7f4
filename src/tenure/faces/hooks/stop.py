"""The Stop hook of a coding agent: JSON on standard input, JSON on standard output.

Claude Code and Codex publish the same shape, Codex with a schema that refuses unknown fields:
`{"decision": "block", "reason": …}` with exit code 0 makes the agent go on with `reason`,
`systemMessage` is shown to the person, and any exit code but 0 and 2 is an error that blocks
nothing. Silence lets the agent stop; Codex also documents JSON alone, so it gets `{}`.
"""

import msgspec

from tenure.gate.errors import UsageError
from tenure.gate.wire import encoded

#: What an agent that allows itself to stop is told, by tool.
SILENCE = {"claude-code": "", "codex": "{}\n"}

#: The one notification that Codex sends.
TURN_COMPLETE = "agent-turn-complete"

#: The events whose answer this is.
EVENTS = ("Stop", "SubagentStop")

#: In this mode an agent may change nothing, so nothing can be asked of it.
PLANNING = "plan"

#: Longer reasons are cut: an agent has to read them, and Codex puts long ones aside.
_LONGEST = 8000


class Stop(msgspec.Struct, frozen=True, kw_only=True):
    """An agent is about to stop. Fields that nobody here reads are passed over."""

    session_id: str
    cwd: str
    hook_event_name: str
    stop_hook_active: bool = False  #: it goes on only because a hook blocked it before
    permission_mode: str = ""
    agent_id: str | None = None  #: of a subagent

    @property
    def who(self) -> str:
        """Whose blocks in a row are counted together."""
        return f"{self.session_id}/{self.agent_id}" if self.agent_id else self.session_id


class Notice(msgspec.Struct, frozen=True, kw_only=True):
    """What Codex hands to its `notify` program, as the last argument. It waits for no answer."""

    type: str
    cwd: str = ""


class Ending(msgspec.Struct, frozen=True):
    """How a hook ends: exit code, standard output, standard error."""

    code: int
    out: str
    err: str = ""


def read_stop(data: bytes) -> Stop:
    """What the tool handed over.

    Raises:
        UsageError: it is no event of a hook.
    """
    try:
        return msgspec.json.decode(data, type=Stop)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        given = f"{len(data)} bytes" if data.strip() else "nothing"
        raise UsageError(
            what=f"a hook gets an event as JSON on standard input, and this got {given} ({error})",
            next="let the tool call it, or ask with `tenure done`",
        ) from error


def read_notice(data: bytes) -> Notice:
    """What Codex notifies of.

    Raises:
        UsageError: it is no notification.
    """
    try:
        return msgspec.json.decode(data, type=Notice)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            what=f"this is no notification of Codex ({error})", next="let Codex call it"
        ) from error


def blocked(reason: str) -> Ending:
    """Make the agent go on, with `reason` as what it is told."""
    return Ending(0, _line(decision="block", reason=reason))


def let_go(tool: str, warning: str = "") -> Ending:
    """Let the agent stop; a warning is shown to the person."""
    return Ending(0, _line(systemMessage=warning) if warning else SILENCE[tool])


def misplaced(tool: str, event: str) -> Ending:
    """The answer to an event that has another contract: an error that blocks nothing."""
    return Ending(
        1, "", f"tenure: hook {tool} answers {' and '.join(EVENTS)}; take it out of {event}\n"
    )


def cut(text: str) -> str:
    """As much of a reason as an agent should read."""
    if len(text) <= _LONGEST:
        return text
    return text[:_LONGEST].rpartition("\n")[0] + "\n(cut here; `tenure done` says all of it)"


def _line(**fields: str) -> str:
    return encoded(fields).decode() + "\n"
