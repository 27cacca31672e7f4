"""What a job wrote: its last lines for people, and a file of a size one can keep.

The file holds the bytes as they came. Nothing here reads more of it than it was asked for.
"""

import os

_CHUNK = 1024 * 1024
_EDGE = 4096  #: how far from a cut a line end is looked for


def tail(path: str, *, lines: int = 40, max_bytes: int = 64 * 1024) -> str:
    """The last `lines` lines as text that can be shown anywhere, "" if there is no file.

    Reads at most `max_bytes`. Bytes that are not UTF-8 become �, escape sequences and
    control characters are left out, and of a line that was overwritten by carriage returns
    (a progress bar) what stood last is kept. A line cut by `max_bytes` is left out unless
    it is the only one.
    """
    content, cut = _end_of(path, max_bytes)
    if cut:
        _, found, rest = content.partition(b"\n")
        content = rest if found and rest else _from_a_character(content)
    shown = [_as_shown(line) for line in _without_escapes(content).split("\n")]
    while shown and not shown[-1]:
        shown.pop()
    return "\n".join(shown[-lines:]) if lines > 0 else ""


def compact(path: str, *, keep_head: int = 1024 * 1024, keep_tail: int = 1024 * 1024) -> int:
    """Cut a file to its first and last bytes with a line between that counts the rest.

    Returns how many bytes were left out, 0 if the file is small enough to stay as it is.
    Cuts fall on line ends where there are any nearby, else between characters. It is done
    in place, so that it works on a full disk; killed in the middle it leaves the head, and
    a tail that may not be the last.

    Raises:
        OSError: the file cannot be read or written.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        size = os.fstat(descriptor).st_size
        if size <= keep_head + keep_tail + _EDGE:
            return 0
        head = _end_of_head(descriptor, keep_head)
        tail_at = _start_of_tail(descriptor, size - keep_tail)
        missing = tail_at - head
        line = f"[{missing} bytes are left out here]\n".encode()
        if head and os.pread(descriptor, 1, head - 1) != b"\n":
            line = b"\n" + line
        if missing <= len(line):
            return 0
        # What is written always ends before what is still to be read begins.
        end = head + _write(descriptor, line, head)
        while part := os.pread(descriptor, _CHUNK, tail_at):
            tail_at += len(part)
            end += _write(descriptor, part, end)
        os.ftruncate(descriptor, end)
        return missing
    finally:
        os.close(descriptor)


def _end_of(path: str, max_bytes: int) -> tuple[bytes, bool]:
    """The last bytes of a file, and whether they begin inside a line."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return b"", False
    try:
        begin = max(0, os.fstat(descriptor).st_size - max_bytes)
        content = b""
        while len(content) < max_bytes:
            part = os.pread(descriptor, max_bytes - len(content), begin + len(content))
            if not part:
                break
            content += part
        return content, begin > 0 and os.pread(descriptor, 1, begin - 1) != b"\n"
    finally:
        os.close(descriptor)


def _is_continuation(byte: int) -> bool:
    """Whether a byte is the second or a later one of a character in UTF-8."""
    return 0x80 <= byte < 0xC0


def _from_a_character(content: bytes) -> bytes:
    """`content` without the rest of a character that began before it."""
    begin = 0
    while begin < min(3, len(content)) and _is_continuation(content[begin]):
        begin += 1
    return content[begin:]


def _end_of_head(descriptor: int, wanted: int) -> int:
    """An offset up to `wanted` after which a line or at least a character begins."""
    begin = max(0, wanted - _EDGE)
    content = os.pread(descriptor, wanted - begin, begin)
    line = content.rfind(b"\n")
    if line >= 0:
        return begin + line + 1
    following = os.pread(descriptor, 1, wanted)
    for back in range(min(4, wanted)):
        if not following or not _is_continuation(following[0]):
            return wanted - back
        following = os.pread(descriptor, 1, wanted - back - 1)
    return wanted


def _start_of_tail(descriptor: int, wanted: int) -> int:
    """An offset from `wanted` on at which a line or at least a character begins."""
    before, content = os.pread(descriptor, 1, wanted - 1), os.pread(descriptor, _EDGE, wanted)
    if before == b"\n":
        return wanted
    line = content.find(b"\n")
    if 0 <= line < len(content) - 1:
        return wanted + line + 1
    return wanted + len(content) - len(_from_a_character(content))


def _write(descriptor: int, content: bytes, offset: int) -> int:
    """Write all of `content` at `offset` and return its length."""
    done = 0
    while done < len(content):
        done += os.pwrite(descriptor, content[done:], offset + done)
    return done


def _without_escapes(content: bytes) -> str:
    """Text without terminal escape sequences: colours, cursor movements, titles, links."""
    import re

    text = content.decode("utf-8", "replace")
    return re.sub(
        r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences
        r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\)"  # titles, links and other strings up to their end
        r"|\x1b[ -/]*[0-~]",  # the two-character ones
        "",
        text,
    )


def _as_shown(line: str) -> str:
    """What a terminal would show of one line in the end, without control characters."""
    written = [part for part in line.split("\r") if part.strip()]
    last = written[-1] if written else ""
    return "".join(one for one in last if one == "\t" or not _is_control(one)).rstrip()


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character < "\xa0"
