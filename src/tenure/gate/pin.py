"""Pinning: a limit is tightened where it stands, and everything else of the policy file stays.

Nothing is ever loosened. A number is pinned one margin short of itself (`Standard.pinned`), so
that whatever scatters by up to its margin is not turned red by the luckiest run.
"""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from tenure.gate.courts import POLICY_FILES
from tenure.gate.errors import CannotTell
from tenure.gate.measurement import Measurement
from tenure.gate.policy import Policy
from tenure.gate.policy_text import parse


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """One limit that was tightened."""

    standard: str
    before: str
    after: str


def pins(policy: Policy, measured: Mapping[str, Measurement]) -> list[Pin]:
    """The limits of a policy that what was measured allows to tighten, in file order."""
    found = []
    for name, standard in policy.standards.items():
        value = measured[name].value if name in measured else None
        after = standard.limit if value is None else standard.pinned(value)
        if after != standard.limit:
            found.append(Pin(standard=name, before=standard.limit, after=after))
    return found


def write_pins(top: str, judged: Policy, wanted: list[Pin]) -> str:
    """Write the pins into the policy file of the checkout at `top`; its path.

    Raises:
        CannotTell: the file is not the one that was measured any more, or cannot be written.
    """
    path = os.path.join(top, judged.file)
    try:
        with open(path, "rb") as file:
            before = file.read()
        found = parse(judged.file, before)
        for pin in wanted:
            if found.standards.get(pin.standard) != judged.standards[pin.standard]:
                raise CannotTell(
                    what=f"{judged.file} was edited while {pin.standard} was measured",
                    next="ask again",
                )
        after = pinned(judged.file, before, wanted)
        _replace(path, after)
    except OSError as error:
        what = f"{path} cannot be written: {error.strerror}"
        raise CannotTell(what=what, next="make it writable, then ask again") from error
    return path


def pinned(file: str, content: bytes, wanted: list[Pin]) -> bytes:
    """The policy file with these limits; comments, order and layout are as they were."""
    import tomlkit

    document = tomlkit.parse(content.decode("utf-8"))
    root: Any = document
    if file.endswith(POLICY_FILES[1]):
        root = root["tool"]["tenure"]
    for pin in wanted:
        # Parsed, not converted: the text stays the number, which no float could be trusted with.
        root["standards"][pin.standard]["limit"] = tomlkit.parse(f"limit = {pin.after}")["limit"]
    after = tomlkit.dumps(document).encode()
    limits = {pin.standard: pin.after for pin in wanted}
    assert parse(file, after) == _with_limits(parse(file, content), limits), "nothing else changed"
    return after


def _with_limits(policy: Policy, limits: Mapping[str, str]) -> Policy:
    standards = {
        name: msgspec.structs.replace(each, limit=limits.get(name, each.limit))
        for name, each in policy.standards.items()
    }
    return msgspec.structs.replace(policy, standards=standards)


def _replace(path: str, content: bytes) -> None:
    """Put `content` in place of a file, all of it or nothing, with the mode it had."""
    if os.path.islink(path):
        raise OSError(0, "it is a symbolic link", path)
    mode = os.stat(path).st_mode & 0o7777
    partial = f"{path}.{os.getpid()}.partial"
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
            os.fchmod(descriptor, mode)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise
