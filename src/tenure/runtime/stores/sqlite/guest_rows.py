"""The rows of guest sessions in SQLite."""

import json
from collections.abc import Sequence
from typing import Any

import apsw

from tenure.kernel.errors import RecordUnreadable
from tenure.kernel.stores.sqlite.connection import Value
from tenure.kernel.stores.sqlite.connection import run as execute
from tenure.kernel.stores.sqlite.statements import Statements, beside
from tenure.runtime.model.checkpoint import ChannelValue, PendingWrite, Snapshot

#: The runtime's own statements.
RUNTIME = Statements(beside(__file__, "queries"))
#: SQLite's word for no limit.
ALL = -1
_LAST = 2**63 - 1  #: above every number


class SqliteGuestRows:
    """`tenure.runtime.store.ItemRows` and `CheckpointRows`, beside the runtime's other rows of a transaction."""

    _connection: apsw.Connection

    def _key_of(self, session: str) -> int | None:
        raise NotImplementedError

    def _name_of(self, table: str, key: int) -> str | None:
        raise NotImplementedError

    def _rows(self, statement: str, where: Sequence[Value]) -> list[tuple[Any, ...]]:
        return execute(self._connection, RUNTIME[statement], where)

    # items

    def items(self, session: str, limit: int | None) -> list[tuple[int, str]]:
        where = (self._key_of(session), ALL if limit is None else limit)
        found = self._rows("list_last_items", where)
        return [(number, body) for number, body in reversed(found)]

    def call_of_item(self, session: str, number: int) -> str | None:
        rows = self._rows("read_call_of_item", (self._key_of(session), number))
        return rows[0][0] if rows else None

    def add_items(self, session: str, first: int, call: str, bodies: Sequence[str]) -> None:
        key = self._key_of(session)
        said = [
            (key, number, call if number == first else None, body)
            for number, body in enumerate(bodies, first)
        ]
        self._connection.executemany(RUNTIME["add_item"], said)

    def remove_items(self, session: str, first: int) -> None:
        self._rows("remove_items", (self._key_of(session), first))

    # checkpoints

    def last_checkpoint(self, session: str, ns: str) -> Snapshot | None:
        rows = self._rows("read_last_checkpoint", (self._key_of(session), ns))
        return self._snapshot(rows[0]) if rows else None

    def checkpoint(self, session: str, ns: str, checkpoint: str) -> Snapshot | None:
        rows = self._rows("read_checkpoint", (self._key_of(session), ns, checkpoint))
        return self._snapshot(rows[0]) if rows else None

    def checkpoints(
        self, session: str | None, ns: str | None, below: int | None, limit: int | None
    ) -> list[Snapshot]:
        page = (_LAST if below is None else below, ALL if limit is None else limit)
        if session is None:
            rows = self._rows("list_checkpoints", page)
            return [one for one in map(self._snapshot, rows) if ns in (None, one.ns)]
        key = self._key_of(session)
        if ns is None:
            rows = self._rows("list_checkpoints_of_session", (key, *page))
        else:
            rows = self._rows("list_checkpoints_of_line", (key, ns, *page))
        return [self._snapshot(row) for row in rows]

    def put_checkpoint(self, snapshot: Snapshot) -> None:
        there = self.checkpoint(snapshot.session, snapshot.ns, snapshot.id)
        versions = json.dumps(snapshot.versions, separators=(",", ":"))
        said = (snapshot.parent, snapshot.run, versions, *snapshot.body, *snapshot.metadata)
        if there is None:
            key = self._key_of(snapshot.session)
            self._rows("add_checkpoint", (key, snapshot.ns, snapshot.id, *said))
        else:
            self._rows("put_checkpoint", (*said, there.number))

    def values(self, snapshot: Snapshot) -> list[ChannelValue]:
        key, found = self._key_of(snapshot.session), []
        for channel, said in snapshot.versions.items():
            version = str(said)
            rows = self._rows("read_channel_value", (key, snapshot.ns, channel, version))
            found += [ChannelValue(channel=channel, version=version, value=row) for row in rows]
        return found

    def add_value(self, session: str, ns: str, value: ChannelValue) -> None:
        where = (self._key_of(session), ns, value.channel, value.version)
        self._rows("add_channel_value", (*where, *value.value))

    def writes(self, snapshot: Snapshot) -> list[PendingWrite]:
        where = (self._key_of(snapshot.session), snapshot.ns, snapshot.id)
        return [
            PendingWrite(task=task, path=path, index=index, channel=channel, value=(kind, body))
            for task, path, index, channel, kind, body in self._rows(
                "list_checkpoint_writes", where
            )
        ]

    def put_write(
        self, session: str, ns: str, checkpoint: str, write: PendingWrite, *, replace: bool
    ) -> None:
        where = (self._key_of(session), ns, checkpoint, write.task, write.index)
        said = (write.path, write.channel, *write.value)
        self._rows("put_checkpoint_write" if replace else "add_checkpoint_write", (*where, *said))

    def copy_checkpoints(self, source: str, target: str) -> None:
        keys = (self._key_of(source), self._key_of(target))
        for statement in ("copy_checkpoints", "copy_channel_values", "copy_checkpoint_writes"):
            self._rows(statement, keys)

    def sessions_of_runs(self, runs: Sequence[str]) -> list[str]:
        return sorted(
            {row[0] for run in runs for row in self._rows("list_sessions_of_run", (run,))}
        )

    def remove_checkpoint(self, snapshot: Snapshot) -> None:
        where = (self._key_of(snapshot.session), snapshot.ns, snapshot.id)
        self._rows("remove_checkpoint", (snapshot.number,))
        self._rows("remove_checkpoint_writes", where)
        self._rows("orphan_checkpoints", where)

    def remove_value(self, session: str, ns: str, channel: str, version: str) -> None:
        self._rows("remove_channel_value", (self._key_of(session), ns, channel, version))

    def remove_checkpoints_of(self, session: str) -> None:
        self._remove_checkpoints(self._key_of(session))

    def _remove_checkpoints(self, key: int | None) -> None:
        for statement in (
            "remove_checkpoints_of_session",
            "remove_channel_values_of_session",
            "remove_checkpoint_writes_of_session",
        ):
            self._rows(statement, (key,))

    def _snapshot(self, row: tuple[Any, ...]) -> Snapshot:
        number, session, ns, name, parent, run, versions, kind, body, metadata_kind, metadata = row
        try:
            read = json.loads(versions)
        except ValueError as error:
            raise RecordUnreadable(record=f"checkpoint {name}", reason=str(error)) from error
        return Snapshot(
            session=self._name_of("session", session) or "",
            ns=ns,
            id=name,
            parent=parent,
            versions=read,
            body=(kind, body),
            metadata=(metadata_kind, metadata),
            run=run,
            number=number,
        )

    def _remove_guest(self, key: int | None) -> None:
        """Drop whatever a session has here."""
        self._rows("remove_items", (key, 0))
        self._remove_checkpoints(key)
