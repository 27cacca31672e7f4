"""Sessions that are states of a graph: checkpoints, the values they name, and writes that wait.

A checkpoint names a version of each of its channels. A value is stored once for its version, so
a checkpoint costs what changed, however long its thread is.
"""

from collections.abc import Sequence

import msgspec

from tenure.runtime.errors import HeadConflict
from tenure.runtime.guests.footing import Footing, known, mine, stand, welcome
from tenure.runtime.guests.store import GuestStore
from tenure.runtime.model.checkpoint import ChannelValue, Found, PendingWrite, Snapshot
from tenure.runtime.model.session import HostKind, SessionRecord
from tenure.runtime.store import RuntimeRows

ROOT = ""  #: the namespace of a graph that is nobody's part


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """A checkpoint, if there is one, and the head at which it was read."""

    head: int
    found: Found | None


class CheckpointStore(GuestStore):
    """Threads of graphs in one store."""

    def look(self, session: str, host: HostKind, ns: str, checkpoint: str | None) -> Looked:
        """A checkpoint, or a namespace's last one. Raises: SessionDeleted, HostMismatch."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            record = known(rows, session, host)
            if record is None:
                return Looked(head=0, found=None)
            if checkpoint is None:
                snapshot = rows.last_checkpoint(session, ns)
            else:
                snapshot = rows.checkpoint(session, ns, checkpoint)
            found = None if snapshot is None else _found(rows, snapshot)
            return Looked(head=record.head, found=found)

    def page(
        self, session: str | None, ns: str | None, below: int | None, limit: int
    ) -> list[Snapshot]:
        """At most `limit` checkpoints, the last written first, those with a number below `below`."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            if session is not None:
                record = rows.session(session)
                if record is None or record.deleted:
                    return []
            return rows.checkpoints(session, ns, below, limit)

    def whole(self, snapshot: Snapshot) -> Found:
        """A checkpoint with its values and writes."""
        with self.database.read() as tx:
            return _found(self._rows(tx), snapshot)

    def put(
        self, footing: Footing, snapshot: Snapshot, values: Sequence[ChannelValue], *, branch: bool
    ) -> int:
        """Store a checkpoint with those values that are new; the session's head after it.

        With `branch`, its parent need not be the last one: somebody asked to go on from there.

        Raises: what `footing.stand` raises; HeadConflict also if the thread went on from its
            parent; SessionDeleted, HostMismatch.
        """
        with self._writing("put_checkpoint") as tx:
            rows, now = self._rows(tx), self._clock.now()
            record = welcome(rows, footing.session, footing.host, now)
            stand(tx, record, footing, now, together=True)
            there = rows.checkpoint(snapshot.session, snapshot.ns, snapshot.id)
            if there is None and snapshot.ns == ROOT and not branch:
                _require_last(rows, snapshot)
            rows.put_checkpoint(snapshot)
            for value in values:
                rows.add_value(snapshot.session, snapshot.ns, value)
            return _moved(rows, record)

    def put_writes(
        self,
        footing: Footing,
        ns: str,
        checkpoint: str,
        writes: Sequence[PendingWrite],
        *,
        replace: bool,
        branch: bool,
    ) -> int:
        """Store what tasks wrote on a checkpoint, which may be stored later; the head after it.

        Without `replace`, what a task wrote before stays. Raises what `put` raises.
        """
        with self._writing("put_writes") as tx:
            rows, now = self._rows(tx), self._clock.now()
            record = welcome(rows, footing.session, footing.host, now)
            ours = mine(tx, footing)
            stand(tx, record, footing, now, together=True)
            if ns == ROOT and not ours and not branch:
                last = rows.last_checkpoint(footing.session, ROOT)
                there = rows.checkpoint(footing.session, ROOT, checkpoint)
                if last is not None and there is not None and last.id != checkpoint:
                    raise HeadConflict(session=record.id, now=last.id, expected=checkpoint)
            for write in writes:
                rows.put_write(footing.session, ns, checkpoint, write, replace=replace)
            return _moved(rows, record)

    def copy(self, source: str, footing: Footing) -> int:
        """Copy everything of a thread to one that has nothing; the head of that.

        Raises what `put` raises, HostMismatch for the source too.
        """
        with self._writing("copy_thread") as tx:
            rows, now = self._rows(tx), self._clock.now()
            if known(rows, source, footing.host) is None:
                return footing.seen or 0
            record = welcome(rows, footing.session, footing.host, now)
            stand(tx, record, footing, now, together=True)
            rows.copy_checkpoints(source, footing.session)
            return _moved(rows, record)

    def remove_runs(self, footing: Footing, runs: Sequence[str]) -> int:
        """Drop the checkpoints of some runs from a thread, and what only they named.

        Raises what `put` raises but for conflicts: it is decided and done at once.
        """
        with self._writing("remove_runs") as tx:
            rows, now = self._rows(tx), self._clock.now()
            record = welcome(rows, footing.session, footing.host, now)
            here = msgspec.structs.replace(footing, seen=record.head)
            stand(tx, record, here, now, together=True)
            wanted = set(runs)
            every = rows.checkpoints(footing.session, None, None, None)
            _remove(rows, footing.session, [one for one in every if one.run in wanted], every)
            return _moved(rows, record)

    def sessions_of_runs(self, runs: Sequence[str]) -> list[str]:
        """The threads in which some runs left checkpoints."""
        with self.database.read() as tx:
            return self._rows(tx).sessions_of_runs(runs)

    def empty(self, footing: Footing) -> int:
        """Drop everything of a thread, which stays. Raises what `remove_runs` raises."""
        with self._writing("empty_thread") as tx:
            rows, now = self._rows(tx), self._clock.now()
            record = welcome(rows, footing.session, footing.host, now)
            here = msgspec.structs.replace(footing, seen=record.head)
            stand(tx, record, here, now, together=True)
            rows.remove_checkpoints_of(footing.session)
            return _moved(rows, record)

    def prune(self, session: str, host: HostKind) -> None:
        """Drop all but the last checkpoint of each namespace, and what only they named.

        Whoever goes on from a last one is not disturbed: it moves no head and takes no lane.
        """
        with self._writing("prune_thread") as tx:
            rows = self._rows(tx)
            if known(rows, session, host) is None:
                return
            every = rows.checkpoints(session, None, None, None)
            kept: dict[str, Snapshot] = {}
            for one in every:  # the last written comes first
                kept.setdefault(one.ns, one)
            _remove(rows, session, [one for one in every if kept[one.ns] is not one], every)


def _found(rows: RuntimeRows, snapshot: Snapshot) -> Found:
    return Found(
        snapshot=snapshot,
        values=tuple(rows.values(snapshot)),
        writes=tuple(rows.writes(snapshot)),
    )


def _moved(rows: RuntimeRows, record: SessionRecord) -> int:
    rows.put_session(msgspec.structs.replace(record, head=record.head + 1))
    return record.head + 1


def _require_last(rows: RuntimeRows, snapshot: Snapshot) -> None:
    """Pass if the thread did not go on from the checkpoint's parent."""
    last = rows.last_checkpoint(snapshot.session, ROOT)
    if last is not None and snapshot.parent is not None and last.id != snapshot.parent:
        raise HeadConflict(session=snapshot.session, now=last.id, expected=snapshot.parent)


def _remove(
    rows: RuntimeRows, session: str, gone: Sequence[Snapshot], every: Sequence[Snapshot]
) -> None:
    """Drop checkpoints, their writes, and values that no other names."""
    numbers = {one.number for one in gone}
    named = {
        (one.ns, channel, str(version))
        for one in every
        if one.number not in numbers
        for channel, version in one.versions.items()
    }
    for one in gone:
        rows.remove_checkpoint(one)
        for channel, version in one.versions.items():
            if (one.ns, channel, str(version)) not in named:
                rows.remove_value(session, one.ns, channel, str(version))
