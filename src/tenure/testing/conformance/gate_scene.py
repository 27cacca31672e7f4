"""The people of the gate's law book: a run, its attempt, and what it publishes."""

from collections.abc import Callable

from tenure.gate.proof import Evidence, Proof
from tenure.gate.receipt import Receipt, ReceiptOutcome
from tenure.gate.record import ProcessMark, RunRecord, SetupRecord
from tenure.gate.report import Report
from tenure.gate.rows import GateRows
from tenure.gate.store import GateStore
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.store import Transaction
from tenure.testing.conformance.backend import PATIENT, Backend
from tenure.testing.conformance.requests import REPOSITORY, bind_request
from tenure.testing.wire import Wire

PASSED = Report(outcome="passed", exit_code=0)
FAILED = Report(outcome="failed", exit_code=1)
CANDIDATE = "candidate"
IDENTITY = "identity of test"

#: The gate's rows of an open transaction.
Rows = Callable[[Transaction], GateRows]

_MARK = ProcessMark(pid=1, start_ticks=1, boot="boot-1", pid_namespace=1)


class GateBackend:
    """One empty store of some kind. `rows` makes the gate's rows of its transactions."""

    def __init__(self, backend: Backend, rows: Rows) -> None:
        self.kernel = backend
        self._rows = rows
        self.store, self.wire = self.handle()

    def handle(self, busy_seconds: float = PATIENT) -> tuple[GateStore, Wire]:
        """Another handle on the same store, and the wire it goes over."""
        wire = Wire(self.kernel.open(busy_seconds))
        store = GateStore(
            wire,
            self._rows,
            repository=REPOSITORY,
            clock=self.kernel.clock,
            liveness=self.kernel.owners,
        )
        return store, wire

    def bind(self, name: str, *, subject: str = "subject") -> AttemptRecord:
        """Bind the attempt of a person who is bound or joined, not answered by a Proof."""
        request = bind_request(name, subject=subject)
        bound = self.store.bind(request, run_record(name), unless_proven=False)
        assert isinstance(bound, AttemptRecord)
        return bound


def setup_record(checkout: str, digest: str) -> SetupRecord:
    """That a checkout was set up."""
    return SetupRecord(
        repository=REPOSITORY, checkout=checkout, digest=digest, run="r", worktree="/w", wall_ns=1
    )


def run_record(name: str, *, checkout: str = "w1") -> RunRecord:
    """The run of a person."""
    return RunRecord(
        id=f"{name}-run",
        repository=REPOSITORY,
        checkout=checkout,
        worktree=f"/home/{name}",
        git_dir=f"/home/{name}/.git",
        branch="refs/heads/main",
        commit="c" * 40,
        tree="7" * 40,
        candidate=CANDIDATE,
        subject="subject",
        started_wall_ns=sum(name.encode()),
        supervisor=_MARK,
        runner=_MARK,
    )


def receipt(
    name: str,
    requirement: str = "test",
    outcome: ReceiptOutcome = "passed",
    *,
    identity: str = IDENTITY,
    nth: int = 1,
) -> Receipt:
    """The `nth` receipt that a person's attempt publishes for a requirement."""
    return Receipt(
        id=f"{name}-{requirement}-{nth}",
        repository=REPOSITORY,
        requirement=requirement,
        identity=identity,
        parts={"inputs": "tree 7"},
        outcome=outcome,
        attempt=f"{name}-attempt",
        run=f"{name}-run",
        worktree=f"/home/{name}",
        started_wall_ns=1,
        seconds=1.5,
        log=f"runs/{name}-run/{requirement}.out",
    )


def proof(name: str, *, identity: str = IDENTITY) -> Proof:
    """The Proof that a person's attempt settles with."""
    evidence = Evidence(
        requirement="test",
        identity=identity,
        receipt=f"{name}-test-1",
        source="executed",
        run=f"{name}-run",
        worktree=f"/home/{name}",
        executed_wall_ns=1,
        seconds=1.5,
    )
    return Proof(
        id=f"{name}-proof",
        repository=REPOSITORY,
        candidate=CANDIDATE,
        attempt=f"{name}-attempt",
        run=f"{name}-run",
        tree="7" * 40,
        commit="c" * 40,
        branch=None,
        base=None,
        judged_by="own",
        policy="policy",
        requirements="requirements",
        accepted=(),
        evidence=(evidence,),
        worktree=f"/home/{name}",
        settled_wall_ns=1,
        store="here",
    )
