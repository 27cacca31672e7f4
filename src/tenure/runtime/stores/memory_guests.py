"""The rows of guest sessions in memory."""

from collections.abc import Sequence
from typing import Any

import msgspec

from tenure.runtime.model.checkpoint import ChannelValue, PendingWrite, Snapshot


class MemoryGuestRows:
    """`tenure.runtime.store.ItemRows` and `CheckpointRows`, beside the runtime's other rows of a transaction."""

    _items: Any
    _checkpoints: Any
    _values: Any
    _writes: Any

    # items

    def items(self, session: str, limit: int | None) -> list[tuple[int, str]]:
        """The last items with their numbers, in order."""
        found = sorted((row[1], row[3]) for row in self._items.values() if row[0] == session)
        return found if limit is None else found[len(found) - min(limit, len(found)) :]

    def call_of_item(self, session: str, number: int) -> str | None:
        """The call that appended from this number on, if one began there."""
        row = self._items.get(f"{session} {number}")
        return None if row is None else row[2]

    def add_items(self, session: str, first: int, call: str, bodies: Sequence[str]) -> None:
        """Append items, numbered from `first` on."""
        for number, body in enumerate(bodies, first):
            began = call if number == first else None
            self._items[f"{session} {number}"] = (session, number, began, body)

    def remove_items(self, session: str, first: int) -> None:
        """Drop the items from number `first` on."""
        rows = [(key, row) for key, row in self._items.items() if row[0] == session]
        for key, row in rows:
            if row[1] >= first:
                del self._items[key]

    # checkpoints

    def last_checkpoint(self, session: str, ns: str) -> Snapshot | None:
        """The checkpoint of a namespace that was written last."""
        return next(iter(self.checkpoints(session, ns, None, 1)), None)

    def checkpoint(self, session: str, ns: str, checkpoint: str) -> Snapshot | None:
        """One checkpoint."""
        found: Snapshot | None = self._checkpoints.get(_key(session, ns, checkpoint))
        return found

    def checkpoints(
        self, session: str | None, ns: str | None, below: int | None, limit: int | None
    ) -> list[Snapshot]:
        """Checkpoints with a number below `below`, the last written first."""
        found = [
            one
            for one in self._checkpoints.values()
            if session in (None, one.session)
            and ns in (None, one.ns)
            and (below is None or one.number < below)
        ]
        return sorted(found, key=lambda one: -one.number)[:limit]

    def put_checkpoint(self, snapshot: Snapshot) -> None:
        """Insert a checkpoint as the last written, or replace it where it is."""
        key = _key(snapshot.session, snapshot.ns, snapshot.id)
        there = self._checkpoints.get(key)
        last = max((one.number for one in self._checkpoints.values()), default=0)
        number = last + 1 if there is None else there.number
        self._checkpoints[key] = msgspec.structs.replace(snapshot, number=number)

    def values(self, snapshot: Snapshot) -> list[ChannelValue]:
        """The values of those versions that a checkpoint names, as far as there are any."""
        keys = [
            _key(snapshot.session, snapshot.ns, channel, str(version))
            for channel, version in snapshot.versions.items()
        ]
        return [self._values[key][2] for key in keys if key in self._values]

    def add_value(self, session: str, ns: str, value: ChannelValue) -> None:
        """Store a value, unless its channel has one of that version."""
        key = _key(session, ns, value.channel, value.version)
        if key not in self._values:
            self._values[key] = (session, ns, value)

    def writes(self, snapshot: Snapshot) -> list[PendingWrite]:
        """What tasks wrote on a checkpoint, by path, task and index."""
        where = (snapshot.session, snapshot.ns, snapshot.id)
        found = [row[3] for row in self._writes.values() if row[:3] == where]
        return sorted(found, key=lambda write: (write.path, write.task, write.index))

    def put_write(
        self, session: str, ns: str, checkpoint: str, write: PendingWrite, *, replace: bool
    ) -> None:
        """Store what a task wrote; what is there under its index stays without `replace`."""
        key = _key(session, ns, checkpoint, write.task, str(write.index))
        if replace or key not in self._writes:
            self._writes[key] = (session, ns, checkpoint, write)

    def copy_checkpoints(self, source: str, target: str) -> None:
        """Copy everything of one session to another, in the order in which it was written."""
        for one in reversed(self.checkpoints(source, None, None, None)):
            self.put_checkpoint(msgspec.structs.replace(one, session=target))
        for session, ns, value in list(self._values.values()):
            if session == source:
                self.add_value(target, ns, value)
        for session, ns, checkpoint, write in list(self._writes.values()):
            if session == source:
                self.put_write(target, ns, checkpoint, write, replace=False)

    def sessions_of_runs(self, runs: Sequence[str]) -> list[str]:
        """Sessions with checkpoints of some runs."""
        return sorted({one.session for one in self._checkpoints.values() if one.run in runs})

    def remove_checkpoint(self, snapshot: Snapshot) -> None:
        """Drop a checkpoint and its writes; whoever names it as a parent has none then."""
        session, ns, name = snapshot.session, snapshot.ns, snapshot.id
        del self._checkpoints[_key(session, ns, name)]
        for key, row in list(self._writes.items()):
            if row[:3] == (session, ns, name):
                del self._writes[key]
        for one in self.checkpoints(session, ns, None, None):
            if one.parent == name:
                orphan = msgspec.structs.replace(one, parent=None)
                self._checkpoints[_key(session, ns, one.id)] = orphan

    def remove_value(self, session: str, ns: str, channel: str, version: str) -> None:
        """Drop a value."""
        self._values.pop(_key(session, ns, channel, version), None)

    def remove_checkpoints_of(self, session: str) -> None:
        """Drop everything of a session here."""
        for one in self.checkpoints(session, None, None, None):
            del self._checkpoints[_key(session, one.ns, one.id)]
        for table in (self._values, self._writes):
            for key in [key for key, row in table.items() if row[0] == session]:
                del table[key]

    def _remove_guest(self, session: str) -> None:
        """Drop whatever a session has here."""
        self.remove_items(session, 0)
        self.remove_checkpoints_of(session)


def _key(*parts: str) -> str:
    """Parts as one key, whatever is in them."""
    return repr(parts)
