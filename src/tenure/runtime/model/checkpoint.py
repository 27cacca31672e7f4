"""Checkpoints of a graph as they are stored: bytes of the framework's own, and what names them."""

import msgspec

#: A value as a framework's serializer leaves it: the kind of the bytes, and the bytes.
Packed = tuple[str, bytes]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One checkpoint. `number` orders a store's checkpoints by when they were written, 0 before."""

    session: str
    ns: str
    id: str
    parent: str | None
    versions: dict[str, str | int | float]  #: of each channel that it names
    body: Packed
    metadata: Packed
    run: str | None = None
    number: int = 0


class ChannelValue(msgspec.Struct, frozen=True, kw_only=True):
    """What a channel was in one of its versions."""

    channel: str
    version: str
    value: Packed


class PendingWrite(msgspec.Struct, frozen=True, kw_only=True):
    """What a task wrote on a checkpoint, as its `index`-th."""

    task: str
    path: str
    index: int
    channel: str
    value: Packed


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint with the values that it names, and its writes in the order they apply."""

    snapshot: Snapshot
    values: tuple[ChannelValue, ...]
    writes: tuple[PendingWrite, ...]
