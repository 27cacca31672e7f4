"""One command of ours, run by exec beside the server: its object, and what it says on the way.

The command is a follower at most. Ending it ends no run, so it is ended whenever nobody waits
for it any more, with the signal that only stops it from watching.
"""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import anyio
import msgspec
from anyio.abc import ByteReceiveStream, Process

#: The same program in the same interpreter, which does not look for modules where it is started.
PROGRAM = (sys.executable, "-P", "-c", "from tenure.faces.cli import main; main()")

#: How long a command may take to stop watching before it is killed, which ends no run either.
_GRACE_SECONDS = 5.0

#: The commands that somebody waits for now.
_watching: set[Process] = set()


class NoAnswer(Exception):
    """The command ended without its object."""


async def run(words: Sequence[str], tell: Callable[[bytes], Awaitable[None]]) -> dict[str, Any]:
    """The object that `tenure words…` prints. `tell` gets each line it writes meanwhile.

    Cancelled, it leaves the command's run to go on.

    Raises:
        NoAnswer: it printed none; the sentence says how it ended.
    """
    nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    try:
        process = await anyio.open_process([*PROGRAM, *words], stdin=nothing)
    finally:
        os.close(nothing)
    assert process.stdout is not None
    assert process.stderr is not None
    _watching.add(process)
    printed, said = bytearray(), b""

    async def read(stream: ByteReceiveStream) -> None:
        async for piece in stream:
            printed.extend(piece)

    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read, process.stdout)
            async for line in _lines(process.stderr):
                said = line
                await tell(line)
        code = await process.wait()
    finally:
        _watching.discard(process)
        with anyio.CancelScope(shield=True):
            await _leave(process)
    try:
        return msgspec.json.decode(printed, type=dict[str, Any])
    except msgspec.DecodeError as error:
        last = said.decode("utf-8", "replace").strip()
        raise NoAnswer(
            f"`tenure {words[0]}` ended with {code} and no answer ({last or error}); ask again"
        ) from error


async def _lines(stream: ByteReceiveStream) -> AsyncIterator[bytes]:
    rest = b""
    async for piece in stream:
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line
    if rest:
        yield rest


def stop_watching() -> None:
    """Tell every command to stop; their runs go on."""
    for process in _watching:
        process.terminate()


async def _leave(process: Process) -> None:
    """Stop watching, if it still does, and let go of its pipes."""
    if process.returncode is None:
        process.terminate()
        with anyio.move_on_after(_GRACE_SECONDS):
            await process.wait()
    await process.aclose()  # which kills what is still there
