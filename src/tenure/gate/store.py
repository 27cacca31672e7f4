"""The gate's store: each method is one transaction, values in, values out.

`GateStore` composes the gate's rows and the kernel's, so that a hold and what it publishes
commit together.
"""

from collections.abc import Callable, Collection, Iterable

import msgspec

from tenure.gate.errors import EvidenceGone
from tenure.gate.kind import DONE
from tenure.gate.proof import Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import (
    Cancel,
    ContentMemo,
    Memo,
    RunRecord,
    SetupRecord,
    TrunkMemo,
)
from tenure.gate.report import Report
from tenure.gate.rows import GateRows
from tenure.kernel import ledger
from tenure.kernel.attempt import AttemptRecord, BindRequest, Outcome
from tenure.kernel.clock import Clock
from tenure.kernel.errors import RecordMissing
from tenure.kernel.fence import Fence
from tenure.kernel.identity import new_id
from tenure.kernel.ledger import Liveness
from tenure.kernel.store import Database, Transaction
from tenure.kernel.takeover import Licence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tenure.gate.clearing import Clearing, Found, Named


class GateStore:
    """Attempts, receipts, Proofs and runs of one repository.

    Every method may be called again after its answer was lost: ids are minted by the
    caller, and a repetition is answered like the first call. What a method raises is what
    the kernel's ledger raises.
    """

    def __init__(
        self,
        database: Database,
        rows: Callable[[Transaction], GateRows],
        *,
        repository: str,
        clock: Clock,
        liveness: Liveness,
    ) -> None:
        self._database = database
        self._rows = rows
        self.repository = repository
        self._clock = clock
        self._liveness = liveness

    def close(self) -> None:
        """Let go of the store. Idempotent."""
        self._database.close()

    # settings

    def setting(self, name: str) -> str | None:
        """A pinned value."""
        with self._database.read() as tx:
            return self._rows(tx).setting(name)

    def pinned(self, name: str, value: str) -> str:
        """The value pinned under `name`; the given one if there was none."""
        known = self.setting(name)
        if known is not None:
            return known
        with self._database.write() as tx:
            rows = self._rows(tx)
            known = rows.setting(name)
            if known is None:
                rows.pin(name, value)
            return known or value

    def secret(self) -> str:
        """The store's own key for digests of environment values."""
        return self.pinned("secret", new_id())

    # attempts

    def attempt(self, attempt: str) -> AttemptRecord | None:
        """One attempt."""
        with self._database.read() as tx:
            return tx.attempts.read(attempt)

    def unfinished(self) -> list[AttemptRecord]:
        """Every bound attempt of the repository."""
        with self._database.read() as tx:
            return tx.attempts.unfinished(self.repository)

    def rival(self, subject: str) -> tuple[AttemptRecord, Licence | None] | None:
        """The attempt that holds a subject, and what would license its retirement now."""
        for record in self.unfinished():
            if record.subject == subject:
                return record, self.licence(record)
        return None

    def licence(self, record: AttemptRecord) -> Licence | None:
        """What licenses a takeover of this attempt now, if anything does."""
        return ledger.licence(record, self._liveness, self._clock.now())

    def bind(
        self, request: BindRequest, run: RunRecord, *, unless_proven: bool
    ) -> AttemptRecord | Proof:
        """Bind the attempt and record its run, or join the rival that stays.

        With `unless_proven`, a Proof of the run's candidate that somebody else settled
        meanwhile is the answer instead, and nothing is bound.
        """
        with self._database.write() as tx:
            rows = self._rows(tx)
            if unless_proven and tx.attempts.read(request.attempt) is None:
                proof = rows.newest_proof(self.repository, run.candidate)
                if proof is not None and _stands(rows, proof):
                    return proof
            record = ledger.bind(tx, request, self._liveness, self._clock.now())
            known = rows.run(run.id)
            kept = run if known is None else known
            if kept.attempt != record.id:
                rows.put_run(msgspec.structs.replace(kept, attempt=record.id))
            return record

    def held(self, fence: Fence) -> AttemptRecord:
        """The attempt, if the fence holds it. Reads only."""
        with self._database.read() as tx:
            return ledger.hold(tx, fence)

    def renew(self, fence: Fence) -> AttemptRecord:
        """Renew the lease of the attempt."""
        with self._database.write() as tx:
            return ledger.renew(tx, fence, self._clock.now())

    def publish(self, fence: Fence, receipt: Receipt) -> Receipt:
        """Publish a receipt under the fence; the stored one, with its sequence."""
        with self._database.write() as tx:
            ledger.hold(tx, fence)
            return _publish(self._rows(tx), receipt)

    def settle(
        self,
        fence: Fence,
        outcome: Outcome,
        *,
        run: str,
        report: Report,
        proof: Proof | None = None,
        memo: Memo | None = None,
        receipts: Iterable[Receipt] = (),
    ) -> AttemptRecord:
        """Finish the attempt with everything it publishes: receipts in doubt, Proof, report.

        With the Proof comes its memo, which spares whoever asks next the long way.

        Raises:
            EvidenceGone: a receipt that the Proof rests on is not there any more; nothing happened.
        """
        with self._database.write() as tx:
            now = self._clock.now()
            record = ledger.settle(tx, fence, outcome, now)
            rows = self._rows(tx)
            proves = outcome == "passed" and record.kind == DONE.name
            assert proves == (proof is not None), "a pass of `done` and its Proof are one"
            for receipt in receipts:
                _publish(rows, receipt)
            if proof is not None and rows.proof(proof.id) is None:
                _require_evidence(rows, proof)
                rows.add_proof(proof)
                if memo is not None:
                    rows.add_memo(memo)
            _end_run(rows, run, report, now.wall_ns)
            return record

    def retire(self, seen: AttemptRecord, by: str, licence: Licence) -> AttemptRecord:
        """Retire somebody else's attempt, on the revision that was read."""
        with self._database.write() as tx:
            return ledger.retire(tx, seen, by, licence, self._clock.now())

    # runs

    def add_run(self, run: RunRecord) -> None:
        """Record a run before it binds anything, so that it can be found and cancelled."""
        with self._database.write() as tx:
            rows = self._rows(tx)
            if rows.run(run.id) is None:
                rows.put_run(run)

    def run(self, run: str) -> RunRecord | None:
        """One run."""
        with self._database.read() as tx:
            return self._rows(tx).run(run)

    def open_runs(self) -> list[RunRecord]:
        """Runs without a recorded end, newest first."""
        with self._database.read() as tx:
            return self._rows(tx).open_runs(self.repository)

    def recent_runs(self, limit: int) -> list[RunRecord]:
        """The newest runs, newest first."""
        with self._database.read() as tx:
            return self._rows(tx).recent_runs(self.repository, limit)

    def end_run(self, run: str, report: Report) -> None:
        """Record how a run ended, unless its end is recorded already."""
        with self._database.write() as tx:
            _end_run(self._rows(tx), run, report, self._clock.now().wall_ns)

    def cancel(self, run: str, by: str, reason: str) -> Cancel | None:
        """Ask for a run's end; the request that counts (the first), or None if it has ended.

        Raises:
            RecordMissing: there is no such run.
        """
        with self._database.write() as tx:
            rows = self._rows(tx)
            known = rows.run(run)
            if known is None:
                raise RecordMissing(record=f"run {run}")
            if known.report is not None:
                return None
            if known.cancel is None:
                wanted = Cancel(by=by, reason=reason, wall_ns=self._clock.now().wall_ns)
                known = msgspec.structs.replace(known, cancel=wanted)
                rows.put_run(known)
            return known.cancel

    # setups: written by whoever has the checkout's lock

    def setup(self, checkout: str) -> SetupRecord | None:
        """What a checkout is set up for, None unless that is over and went well."""
        with self._database.read() as tx:
            return self._rows(tx).setup(self.repository, checkout)

    def begin_setup(self, run: RunRecord) -> None:
        """Record the run that sets its checkout up, and that it is set up for nothing now."""
        with self._database.write() as tx:
            rows = self._rows(tx)
            rows.remove_setup(self.repository, run.checkout)
            if rows.run(run.id) is None:
                rows.put_run(run)

    def end_setup(self, setup: SetupRecord) -> None:
        """Record what a checkout is set up for."""
        with self._database.write() as tx:
            self._rows(tx).put_setup(setup)

    # receipts and Proofs

    def deciding(self, identities: Iterable[str]) -> dict[str, Receipt]:
        """The newest receipt of each identity that has one."""
        with self._database.read() as tx:
            rows = self._rows(tx)
            found = {item: rows.newest_receipt(self.repository, item) for item in identities}
            return {item: receipt for item, receipt in found.items() if receipt is not None}

    def nearest(self, requirements: Iterable[str]) -> dict[str, Receipt]:
        """The newest receipt of each requirement, to explain misses and to estimate."""
        with self._database.read() as tx:
            rows = self._rows(tx)
            found = {item: rows.nearest_receipt(self.repository, item) for item in requirements}
            return {item: receipt for item, receipt in found.items() if receipt is not None}

    def evidence(self, proof: Proof) -> dict[str, Receipt] | None:
        """The receipts that a Proof rests on, by id; None if it does not stand."""
        with self._database.read() as tx:
            rows = self._rows(tx)
            if not _stands(rows, proof):
                return None
            found = [rows.receipt(item.receipt) for item in proof.evidence]
            return {receipt.id: receipt for receipt in found if receipt is not None}

    def receipt_like(self, start: str) -> list[Receipt]:
        """The receipts whose id begins so, at most two."""
        with self._database.read() as tx:
            return self._rows(tx).receipts_like(self.repository, start)

    def drop(self, receipt: str, reason: str) -> tuple[Receipt, list[Proof]]:
        """Drop a receipt: it is never reused again, and every Proof that rests on it is void.

        Answers with the receipt and those Proofs, newest first. Its older siblings do not come
        back in its place: what it was about has to run again.

        Raises:
            RecordMissing: there is no such receipt.
        """
        with self._database.write() as tx:
            rows = self._rows(tx)
            if rows.receipt(receipt) is None:
                raise RecordMissing(record=f"receipt {receipt}")
            rows.drop_receipt(receipt, reason)
            known = rows.receipt(receipt)
            assert known is not None, "it was there a moment ago"
            return known, rows.proofs_on(known)

    def find_proof(self, candidate: str) -> Proof | None:
        """The newest Proof of a candidate that no newer failure voids."""
        with self._database.read() as tx:
            rows = self._rows(tx)
            proof = rows.newest_proof(self.repository, candidate)
            if proof is None or not _stands(rows, proof):
                return None
            return proof

    def proof_like(self, start: str) -> list[tuple[Proof, bool]]:
        """The Proofs whose id begins so, at most two, and whether each stands."""
        with self._database.read() as tx:
            rows = self._rows(tx)
            found = rows.proofs_like(self.repository, start)
            return [(proof, _stands(rows, proof)) for proof in found]

    def proof(self, proof: str) -> Proof | None:
        """One Proof by id, voided or not."""
        with self._database.read() as tx:
            return self._rows(tx).proof(proof)

    def proofs_of_tree(self, tree: str) -> list[tuple[Proof, bool]]:
        """Every Proof of a tree, newest first, and whether it stands."""
        with self._database.read() as tx:
            rows = self._rows(tx)
            found = rows.proofs_of_tree(self.repository, tree)
            return [(proof, _stands(rows, proof)) for proof in found]

    def accepting(self, tree: str, names: frozenset[str]) -> Proof | None:
        """The newest Proof of a tree that stands and accepted changes of all these names."""
        for proof, stands in self.proofs_of_tree(tree):
            if stands and names <= set(proof.accepted):
                return proof
        return None

    # housekeeping

    def would_clear(self, clearing: "Clearing") -> "Found":
        """What `clear` would remove now. Reads only."""
        with self._database.read() as tx:
            return self._found(tx, clearing)

    def clear(self, clearing: "Clearing", most: int) -> "Found":
        """Remove at most `most` records that nothing needs; which they were.

        Their files are left; nothing names them any more. Call again until it finds nothing.
        """
        with self._database.write() as tx:
            found = self._found(tx, clearing).first(most)
            rows = self._rows(tx)
            for proof in found.proofs:
                rows.remove_proof(proof)
            for receipt in found.receipts:
                rows.remove_receipt(receipt)
            for run in found.runs:
                rows.remove_run(run)
                tx.attempts.remove_finished(self.repository, run)
            return found

    def _found(self, tx: Transaction, clearing: "Clearing") -> "Found":
        from tenure.gate.clearing import cleared

        rows = self._rows(tx)
        return cleared(
            clearing,
            rows.proofs(self.repository),
            [each for each in rows.receipts() if each.repository == self.repository],
            [each for each in rows.runs() if each.repository == self.repository],
            {record.run for record in tx.attempts.unfinished(self.repository)},
        )

    def named(self, without: Collection[str] = ()) -> "Named":
        """Everything on disk that a record of any repository names.

        Outputs that only the receipts `without` name are not among it.
        """
        from tenure.gate.clearing import Named

        with self._database.read() as tx:
            rows = self._rows(tx)
            receipts, runs = rows.receipts(), rows.runs()
            return Named(
                outputs=frozenset(
                    output.digest
                    for receipt in receipts
                    if receipt.id not in without
                    for output in receipt.outputs
                ),
                runs=frozenset(run.id for run in runs),
                locks=frozenset(each.id for each in tx.attempts.unfinished(self.repository)),
                since_ns=min(
                    (run.started_wall_ns for run in runs if run.report is None), default=None
                ),
            )

    # what spares work and decides nothing

    def contents(self) -> ContentMemo:
        """The remembered digests of files."""
        with self._database.read() as tx:
            return ContentMemo(self._rows(tx).contents())

    def trunk(self) -> TrunkMemo | None:
        """The remembered resolution of the trunk."""
        with self._database.read() as tx:
            return self._rows(tx).trunk()

    def remember(
        self,
        *,
        memo: Memo | None = None,
        contents: ContentMemo | None = None,
        trunk: TrunkMemo | None = None,
    ) -> None:
        """Store what was found out, for the next reading."""
        if memo is None and trunk is None and not (contents and contents.added):
            return
        with self._database.write() as tx:
            rows = self._rows(tx)
            if memo is not None:
                rows.add_memo(memo)
            if trunk is not None:
                rows.put_trunk(trunk)
            for key, digest in (contents.added if contents else {}).items():
                rows.put_content(key, digest)


def _publish(rows: GateRows, receipt: Receipt) -> Receipt:
    known = rows.receipt(receipt.id)
    return rows.add_receipt(receipt) if known is None else known


def _require_evidence(rows: GateRows, proof: Proof) -> None:
    for item in proof.evidence:
        if not _relied_on(rows, item.receipt):
            raise EvidenceGone(
                what=f"receipt {item.receipt} of {item.requirement} was dropped or cleared away "
                "while the run relied on it",
                next="ask again",
            )


def _end_run(rows: GateRows, run: str, report: Report, wall_ns: int) -> None:
    known = rows.run(run)
    if known is not None and known.report is None:
        rows.put_run(msgspec.structs.replace(known, report=report, ended_wall_ns=wall_ns))


def _stands(rows: GateRows, proof: Proof) -> bool:
    """Whether its own receipts are all there, and the newest of each of their identities passed."""
    for item in proof.evidence:
        newest = rows.newest_receipt(proof.repository, item.identity)
        if newest is None or not newest.passed:
            return False
        if newest.id != item.receipt and not _relied_on(rows, item.receipt):
            return False
    return True


def _relied_on(rows: GateRows, receipt: str) -> bool:
    """Whether a receipt is there, passed, and was not dropped."""
    known = rows.receipt(receipt)
    return known is not None and known.passed
