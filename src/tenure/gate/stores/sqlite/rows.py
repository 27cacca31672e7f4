"""The gate's rows in SQLite: columns to find them by, and the record itself as JSON."""

import os
from typing import Any, TypeVar, cast

import apsw
import msgspec

from tenure.gate.proof import Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import ContentKey, Memo, RunRecord, SetupRecord, TrunkMemo, Watched
from tenure.gate.wire import encoded
from tenure.kernel.errors import RecordUnreadable
from tenure.kernel.store import Transaction
from tenure.kernel.stores.sqlite.connection import Value
from tenure.kernel.stores.sqlite.connection import run as execute
from tenure.kernel.stores.sqlite.guarded import guarded
from tenure.kernel.stores.sqlite.lines import KERNEL_LINE, Line
from tenure.kernel.stores.sqlite.statements import Statements, beside
from tenure.kernel.stores.sqlite.store import SqliteTransaction

Record = TypeVar("Record", Proof, Receipt, RunRecord, SetupRecord)

GATE_LINE = Line("gate", beside(__file__, "migrations"), 3)
LINES = (KERNEL_LINE, GATE_LINE)

_GATE = Statements(beside(__file__, "queries"))
_MEMOS_KEPT = 8  #: for one (tree, base): as many environments and toolchains as take turns on it

_STAT = ("device", "inode", "size", "mtime_ns", "ctime_ns")


class SqliteGateRows:
    """`tenure.gate.rows.GateRows` over the connection of an open transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def setting(self, name: str) -> str | None:
        rows = self._rows("read_setting", {"name": name})
        return str(rows[0][0]) if rows else None

    def pin(self, name: str, value: str) -> None:
        self._add("pin_setting", {"name": name, "value": value}, f"setting {name}")

    def run(self, run: str) -> RunRecord | None:
        found = self._records(RunRecord, "read_run", {"id": run})
        return found[0] if found else None

    def put_run(self, run: RunRecord) -> None:
        row: dict[str, Value] = {
            "id": run.id,
            "repository": run.repository,
            "started_wall_ns": run.started_wall_ns,
            "ended": int(run.report is not None),
            "body": _body(run),
        }
        self._add("put_run", row, f"run {run.id}")

    def open_runs(self, repository: str) -> list[RunRecord]:
        return self._records(RunRecord, "list_open_runs", {"repository": repository})

    def recent_runs(self, repository: str, limit: int) -> list[RunRecord]:
        where: dict[str, Value] = {"repository": repository, "limit": limit}
        return self._records(RunRecord, "list_recent_runs", where)

    def receipt(self, receipt: str) -> Receipt | None:
        return self._receipt("read_receipt", {"id": receipt})

    def add_receipt(self, receipt: Receipt) -> Receipt:
        row: dict[str, Value] = {
            "id": receipt.id,
            "repository": receipt.repository,
            "requirement": receipt.requirement,
            "identity": receipt.identity,
            "outcome": receipt.outcome,
            "body": _body(receipt),
        }
        self._add("add_receipt", row, f"receipt {receipt.id}")
        stored = self.receipt(receipt.id)
        assert stored is not None
        return stored

    def newest_receipt(self, repository: str, identity: str) -> Receipt | None:
        where: dict[str, Value] = {"repository": repository, "identity": identity}
        return self._receipt("read_newest_receipt", where)

    def nearest_receipt(self, repository: str, requirement: str) -> Receipt | None:
        where: dict[str, Value] = {"repository": repository, "requirement": requirement}
        return self._receipt("read_nearest_receipt", where)

    def receipts_like(self, repository: str, start: str) -> list[Receipt]:
        where: dict[str, Value] = {"repository": repository, "start": start, "length": len(start)}
        return self._receipts("list_receipts_by_start", where)

    def drop_receipt(self, receipt: str, reason: str) -> None:
        self._rows("drop_receipt", {"receipt": receipt, "reason": reason})

    def proofs_on(self, receipt: Receipt) -> list[Proof]:
        where: dict[str, Value] = {
            "repository": receipt.repository,
            "identity": receipt.identity,
            "receipt": receipt.id,
        }
        return self._records(Proof, "list_proofs_on_receipt", where)

    def add_proof(self, proof: Proof) -> None:
        row: dict[str, Value] = {
            "id": proof.id,
            "attempt": proof.attempt,
            "repository": proof.repository,
            "candidate": proof.candidate,
            "tree": proof.tree,
            "body": _body(proof),
        }
        self._add("add_proof", row, f"proof {proof.id}")
        for item in proof.evidence:
            self._rows("add_proof_identity", {"proof": proof.id, "identity": item.identity})

    def proof(self, proof: str) -> Proof | None:
        found = self._records(Proof, "read_proof", {"id": proof})
        return found[0] if found else None

    def newest_proof(self, repository: str, candidate: str) -> Proof | None:
        where: dict[str, Value] = {"repository": repository, "candidate": candidate}
        found = self._records(Proof, "read_newest_proof", where)
        return found[0] if found else None

    def proofs_of_tree(self, repository: str, tree: str) -> list[Proof]:
        return self._records(Proof, "list_proofs_of_tree", {"repository": repository, "tree": tree})

    def proofs_like(self, repository: str, start: str) -> list[Proof]:
        where: dict[str, Value] = {"repository": repository, "start": start, "length": len(start)}
        return self._records(Proof, "list_proofs_by_start", where)

    def receipts(self) -> list[Receipt]:
        return self._receipts("list_receipts", {})

    def runs(self) -> list[RunRecord]:
        return self._records(RunRecord, "list_runs", {})

    def proofs(self, repository: str) -> list[Proof]:
        return self._records(Proof, "list_proofs", {"repository": repository})

    def remove_receipt(self, receipt: str) -> None:
        self._rows("remove_receipt", {"id": receipt})
        self._rows("remove_dropped", {"id": receipt})

    def remove_proof(self, proof: str) -> None:
        self._remove_memos(self._rows("list_memos_of_proof", {"proof": proof}))
        self._rows("remove_proof_identities", {"id": proof})
        self._rows("remove_proof", {"id": proof})

    def remove_run(self, run: str) -> None:
        self._rows("remove_run", {"id": run})

    def add_memo(self, memo: Memo) -> None:
        old = self._rows("list_memos", {"tree": memo.tree, "base": memo.base})
        self._remove_memos(old[_MEMOS_KEPT - 1 :])
        about: dict[str, Value] = {
            "tree": memo.tree,
            "base": memo.base,
            "tip": memo.tip,
            "proof": memo.proof,
        }
        ((number,),) = self._rows("add_memo", about)
        for name, digest in memo.environment:
            self._rows("add_memo_variable", {"memo": number, "name": name, "digest": digest})
        for item in memo.watched:
            self._rows("add_memo_path", {"memo": number, **_watched(item)})

    def _remove_memos(self, memos: list[tuple[Any, ...]]) -> None:
        for (known,) in memos:
            for statement in ("remove_memo_variables", "remove_memo_paths", "remove_memo"):
                self._rows(statement, {"memo": known})

    def setup(self, repository: str, checkout: str) -> SetupRecord | None:
        where: dict[str, Value] = {"repository": repository, "checkout": checkout}
        found = self._records(SetupRecord, "read_setup", where)
        return found[0] if found else None

    def put_setup(self, setup: SetupRecord) -> None:
        where: dict[str, Value] = {"repository": setup.repository, "checkout": setup.checkout}
        self._rows("put_setup", {**where, "body": _body(setup)})

    def remove_setup(self, repository: str, checkout: str) -> None:
        self._rows("remove_setup", {"repository": repository, "checkout": checkout})

    def contents(self) -> dict[ContentKey, str]:
        found = self._rows("list_contents", {})
        return {(os.fsdecode(row[0]), *row[1:6]): row[6] for row in found}

    def put_content(self, key: ContentKey, digest: str) -> None:
        path, *stat = key
        row = dict(zip(_STAT, stat, strict=True))
        self._rows("put_content", {"path": os.fsencode(path), **row, "digest": digest})

    def trunk(self) -> TrunkMemo | None:
        refs = self._rows("read_trunk", {})
        if not refs:
            return None
        watched = self._rows("list_trunk_paths", {})
        return TrunkMemo(
            ref=refs[0][0],
            watched=tuple(
                Watched(path=os.fsdecode(row[0]), stat=None if row[1] is None else tuple(row[1:]))
                for row in watched
            ),
        )

    def put_trunk(self, trunk: TrunkMemo) -> None:
        self._rows("remove_trunk", {})
        self._rows("remove_trunk_paths", {})
        self._rows("put_trunk", {"ref": trunk.ref})
        for item in trunk.watched:
            self._rows("add_trunk_path", _watched(item))

    def _rows(self, statement: str, where: dict[str, Value]) -> list[tuple[Any, ...]]:
        return list(execute(self._connection, _GATE[statement], where))

    def _add(self, statement: str, row: dict[str, Value], record: str) -> None:
        guarded(self._connection, _GATE[statement], row, record=record, expected=0)

    def _records(self, kind: type[Record], statement: str, where: dict[str, Value]) -> list[Record]:
        return [_record(kind, row[0]) for row in self._rows(statement, where)]

    def _receipt(self, statement: str, where: dict[str, Value]) -> Receipt | None:
        found = self._receipts(statement, where)
        return found[0] if found else None

    def _receipts(self, statement: str, where: dict[str, Value]) -> list[Receipt]:
        return [
            msgspec.structs.replace(
                _record(Receipt, body), sequence=int(sequence), dropped=reason or ""
            )
            for sequence, reason, body in self._rows(statement, where)
        ]


def _watched(item: Watched) -> dict[str, Value]:
    stat = item.stat or (None,) * len(_STAT)
    return {"path": os.fsencode(item.path), **dict(zip(_STAT, stat, strict=True))}


def _body(record: msgspec.Struct) -> str:
    return encoded(record).decode()


def _record(kind: type[Record], body: Any) -> Record:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, TypeError, UnicodeError) as error:
        name = kind.__name__.removesuffix("Record").lower()
        raise RecordUnreadable(record=f"a {name}", reason=str(error)) from error


def sqlite_rows(tx: Transaction) -> SqliteGateRows:
    """The gate's rows of a transaction of the SQLite backend."""
    return SqliteGateRows(cast(SqliteTransaction, tx).connection)
