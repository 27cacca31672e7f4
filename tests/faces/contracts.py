"""Hooks called as their tools call them, and their answers read as the tools read them.

The events and where they are published: tests/faces/events/README.md.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.faces.calls import Ending, ended, start

EVENTS = Path(__file__).parent / "events"

AGENTS = ("claude-code", "codex")

#: The fields of an answer that both tools know; Codex refuses an object with any other.
FIELDS = {"continue", "decision", "reason", "stopReason", "suppressOutput", "systemMessage"}


def event(tool: str, name: str, cwd: Path, **changes: Any) -> bytes:
    """An event as the tool writes it, with some fields changed; None takes one away."""
    text = (EVENTS / f"{tool}.{name}.json").read_text(encoding="utf-8")
    fields = json.loads(text.replace('"@CWD@"', json.dumps(str(cwd)))) | changes
    return json.dumps({key: item for key, item in fields.items() if item is not None}).encode()


def start_hook(cwd: Path, *args: str, given: bytes, **how: Any) -> "subprocess.Popen[bytes]":
    """Start `tenure hook args…`, with `given` on its standard input."""
    call = start(cwd, "hook", *args, stdin=subprocess.PIPE, **how)
    assert call.stdin is not None
    try:
        call.stdin.write(given)
        call.stdin.close()
    except BrokenPipeError:
        pass  # it answered without it
    call.stdin = None
    return call


def hook(cwd: Path, *args: str, given: bytes, **how: Any) -> Ending:
    """Call `tenure hook args…` to its end."""
    return ended(start_hook(cwd, *args, given=given, **how), "hook", *args)


def stop(
    tool: str,
    cwd: Path,
    *options: str,
    name: str = "Stop",
    at: Path | None = None,
    changes: Mapping[str, Any] | None = None,
    **how: Any,
) -> "Answer":
    """An agent that works in `cwd` is about to stop; the tool starts the hook in `at`."""
    given = event(tool, name, cwd, **(changes or {}))
    return Answer(tool, hook(at or cwd, tool, *options, given=given, **how))


class Answer:
    """What the tool makes of an ending."""

    def __init__(self, tool: str, ending: Ending) -> None:
        self.ending = ending
        self.reason = ""  #: what the agent goes on with
        self.warning = ""  #: what the person is shown
        self.error = ""  #: an error that blocks nothing
        if ending.code == 2:  # blocks as well, in words on standard error
            assert ending.err.strip()
            self.reason = ending.err
        elif ending.code != 0:
            assert ending.out == ""
            self.error = ending.err
        else:
            assert ending.err == "", ending
            self._read(ending.out)
        if tool == "codex" and ending.code == 0:
            assert ending.out, "Codex documents JSON alone"

    def _read(self, out: str) -> None:
        if not out:
            return
        found = json.loads(out)
        assert type(found) is dict
        assert set(found) <= FIELDS
        assert found.get("decision", "block") == "block", "the only decision there is"
        if "decision" in found:
            assert found["reason"].strip(), "a block without a reason is a failed hook"
            self.reason = found["reason"]
        self.warning = found.get("systemMessage", "")

    @property
    def silent(self) -> bool:
        """Whether the agent stops and nobody is told anything."""
        return not (self.reason or self.warning or self.error)

    @property
    def blocks(self) -> bool:
        """Whether the agent has to go on."""
        return bool(self.reason)

    def __repr__(self) -> str:
        return repr(self.ending)
