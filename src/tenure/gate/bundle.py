"""Bundles: a Proof in one file that can be carried anywhere. Pure: bytes in, values out.

A bundle is an in-toto bundle, one JSON object a line: a header with the version of this format,
the summary, a result for each requirement, and a seal with the digest of every line and of all
of them. A line has exactly one encoding (keys sorted, no white space, UTF-8), so the same Proof
is always the same bytes, and no bit of them can change unseen. Readers of in-toto that know
neither header nor seal pass over both, as they have to.

The seal keeps accidents and half-changed files out. It is no signature: whoever can write a
bundle can write its seal.
"""

import hashlib
from collections.abc import Sequence
from typing import Final, TypeVar

import msgspec

from tenure.gate.errors import BundleChanged, CannotTell
from tenure.gate.requirement import candidate_identity
from tenure.gate.statement import Part, Result, Sha256, Summary

FORMAT: Final = "tenure proof bundle"
VERSION: Final = 1

#: More than thousands of requirements take. A longer file is not read.
MOST_BYTES: Final = 4 << 20

_encoder = msgspec.json.Encoder(order="sorted")

Said = TypeVar("Said")


class Header(Part, frozen=True):
    """The first line."""

    format: str
    version: int


class Seal(Part, frozen=True):
    """The last line: the digest of each line before it, and of all of them with their ends."""

    lines: tuple[Sha256, ...]
    sha256: Sha256


class Bundle(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle that is intact and does not contradict itself. `digest` is that of its seal."""

    summary: Summary
    results: tuple[Result, ...]
    digest: str


def canonical(value: msgspec.Struct) -> bytes:
    """The one encoding of a statement, without its line's end."""
    return _encoder.encode(value)


def sha256(data: bytes) -> str:
    """The hexadecimal digest by which a line is listed."""
    return hashlib.sha256(data).hexdigest()


def sealed(summary: Summary, results: Sequence[Result]) -> bytes:
    """The bytes of a bundle.

    Raises:
        CannotTell: they would be more than anybody reads.
    """
    header = Header(format=FORMAT, version=VERSION)
    lines = [canonical(part) for part in (header, summary, *results)]
    body = b"".join(line + b"\n" for line in lines)
    seal = Seal(lines=tuple(map(sha256, lines)), sha256=sha256(body))
    data = body + canonical(seal) + b"\n"
    if len(data) > MOST_BYTES:
        raise CannotTell(
            what=f"the bundle would have {len(data)} bytes, and {MOST_BYTES} are the most",
            next="split the policy: this many requirements are more than one Proof can carry",
        )
    return data


def opened(data: bytes) -> Bundle:
    """The bundle that `data` is, if it is what was written.

    Raises:
        BundleChanged: it is not; `part` names what was changed.
        CannotTell: it is written in a newer format, and nothing contradicts that.
    """
    if len(data) > MOST_BYTES:
        raise _changed("the file", f"it is longer than {MOST_BYTES} bytes")
    _require_kin(data)
    lines, seal = _taken_apart(data)
    _check_lines(data, lines, seal)
    if len(lines) < 2:
        raise _changed("the header", "there is no summary after it")
    header = _read(lines[0], Header, "the header")
    if header.format != FORMAT:
        raise _changed("the header", "it is not that of a bundle")
    if header.version > VERSION:
        raise CannotTell(
            what=f"this bundle is written in format {header.version}, and {VERSION} is the newest "
            "that this version of tenure reads",
            next="verify it with a newer one",
        )
    if header.version < VERSION:
        raise _changed("the header", "there is no such format")
    summary = _read(lines[1], Summary, "the summary")
    results = tuple(_read(line, Result, _called(at)) for at, line in enumerate(lines[2:], start=2))
    _check_summary(summary, results, lines[2:])
    return Bundle(summary=summary, results=results, digest=seal.sha256)


def _require_kin(data: bytes) -> None:
    """Pass if either end of the file could be that of a bundle: else nobody changed one."""
    head, rest = data.partition(b"\n")[::2]
    last = rest.rstrip(b"\n").rpartition(b"\n")[2]
    if FORMAT.encode() not in head and b'"sha256"' not in last:
        what = "this is no bundle that `tenure proof export` wrote"
        raise BundleChanged(part="the file", what=what, foreign=True)


def _taken_apart(data: bytes) -> tuple[list[bytes], Seal]:
    """The lines before the seal, and the seal, which has to be exactly what it says."""
    *pieces, rest = data.split(b"\n")
    if rest or not pieces:
        raise _changed("the seal", "it does not end the file")
    *lines, last = pieces
    return lines, _read(last, Seal, "the seal")


def _check_lines(data: bytes, lines: list[bytes], seal: Seal) -> None:
    """Pass if every line is the one that was sealed.

    What differs is named by the seal; if nothing does and yet the whole does, or only the seal's
    own word for a line does, it is the seal that was changed.
    """
    body = data[: sum(len(line) + 1 for line in lines)]
    whole = sha256(body) == seal.sha256
    found = [sha256(line) for line in lines]
    if found == list(seal.lines) and whole:
        return
    if whole or found == list(seal.lines):
        raise _changed("the seal", "it contradicts itself")
    for at, digest in enumerate(seal.lines):
        if at >= len(found) or found[at] != digest:
            raise _changed(_called(at), "its digest is not the one sealed")
    raise _changed(_called(len(seal.lines)), "it was not sealed")


def _changed(part: str, detail: str) -> BundleChanged:
    return BundleChanged(part=part, what=f"{part}: {detail}")


def _called(at: int) -> str:
    """What the line with this index is called."""
    return ("the header", "the summary")[at] if at < 2 else f"result {at - 1} (line {at + 1})"


def _read(line: bytes, kind: type[Said], part: str) -> Said:
    try:
        value = msgspec.json.decode(line, type=kind)
        if _encoder.encode(value) == line:
            return value
    except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError):
        raise _changed(part, "it is not what such a line can be") from None
    raise _changed(part, "it is not in the one form that such a line has")


def _check_summary(summary: Summary, results: Sequence[Result], lines: Sequence[bytes]) -> None:
    """Pass if the summary lists these results and no others, and they are about its tree."""
    about = summary.about
    listed = {item.name: item.digest.sha256 for item in about.results}
    names = [result.requirement for result in results]
    if len(listed) != len(about.results) or names != [item.name for item in about.results]:
        raise _changed("the summary", "it lists other results than there are")
    for at, (result, line) in enumerate(zip(results, lines, strict=True), start=2):
        part = f"{_called(at)} of {result.requirement}"
        if sha256(line) != listed[result.requirement]:
            raise _changed(part, "it is not the one that the summary lists")
        if result.tree != summary.tree:
            raise _changed(part, "it is about another tree")
    if candidate_identity(summary.tree, summary.policy, about.requirements) != about.candidate:
        raise _changed("the summary", "it is about another candidate")
