"""A server of the older protocol in a few lines of plain Python, which can misbehave in many ways.

Everything that happens is a line in the file it is given. Run as a process of its own.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

BOOK = Path(sys.argv[1])
STUBBORN = "--stubborn" in sys.argv

TOOLS: list[dict[str, Any]] = [
    {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}}
    for name in (
        "echo",
        "big",
        "garbage",
        "picture",
        "both",
        "refuse",
        "speak",
        "hang",
        "die",
        "change",
    )
]
TOOLS += [
    {
        "name": "odd.name/of a tool",
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "die_idempotent",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": False, "idempotentHint": True},
    },
]


def note(line: str) -> None:
    """Write down what happened."""
    with BOOK.open("a", encoding="utf-8") as book:
        book.write(line + "\n")


def send(**message: Any) -> None:
    """One message, on a line."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def said(text: str, **more: Any) -> dict[str, Any]:
    """A result that is text."""
    return {"content": [{"type": "text", "text": text}], **more}


def call(name: str, arguments: dict[str, Any], key: str) -> dict[str, Any] | None:
    """What a call returns; None for no answer at all."""
    note(f"{name} {key}")
    if name == "echo":
        return said(str(arguments["text"]))
    if name == "big":
        return said("x" * int(arguments["bytes"]))
    if name == "garbage":
        print("this is no message", flush=True)
        return said("after garbage")
    if name == "picture":
        image = {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="}
        link = {"type": "resource_link", "name": "report", "uri": "file:///r.txt"}
        return {"content": [image, link], "structuredContent": {"size": 5}}
    if name == "both":
        return said('{"size":  5}', structuredContent={"size": 5})
    if name == "refuse":
        return said("no such order", isError=True)
    if name == "speak":
        sys.stderr.write("first line\n" + "y" * 20_000 + "\nlast, without an end")
        sys.stderr.flush()
        return said("spoken")
    if name in ("die", "die_idempotent"):
        if not arguments.get("once") or BOOK.read_text().count(f"\n{name} ") < 2:
            sys.stderr.write("I am dying\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return said("alive")
    if name == "change":
        TOOLS[:] = [tool for tool in TOOLS if tool["name"] != "echo"]
        TOOLS.append({"name": "newcomer", "inputSchema": {"type": "object"}})
        send(method="notifications/tools/list_changed")
        return said("changed")
    return said("odd") if name.startswith("odd") else None


def main() -> None:
    """Serve until the input ends; a stubborn one goes on after that, and after SIGTERM."""
    if STUBBORN:
        signal.signal(signal.SIGTERM, lambda *_: note("told to end"))
    note(f"start {os.getpid()}")
    for line in sys.stdin:
        message = json.loads(line)
        method, request, given = message["method"], message.get("id"), message.get("params") or {}
        if method == "initialize":
            note("initialize")
            capabilities = {"tools": {"listChanged": True}}
            info = {"name": "plain", "version": "1"}
            version = "2025-06-18"
            result = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
            send(id=request, result=result)
        elif method == "tools/list":
            send(id=request, result={"tools": TOOLS})
        elif method == "tools/call":
            key = str((given.get("_meta") or {}).get("tenure/effect_key"))
            arguments = given.get("arguments") or {}
            answer = call(given["name"], arguments, key)
            if answer is not None and arguments.get("backwards"):
                print(json.dumps({"result": answer, "jsonrpc": "2.0", "id": request}), flush=True)
            elif answer is not None:
                send(id=request, result=answer)
        elif method == "notifications/cancelled":
            note(f"cancelled: {given.get('reason')}")
        elif request is not None:
            send(id=request, error={"code": -32601, "message": f"no method {method}"})
    note("input ended")
    while STUBBORN:
        signal.pause()


if __name__ == "__main__":
    main()
