"""Holding attempts on a real store, as a run does, with records of the size a run writes."""

import os
from pathlib import Path

from tenure.faces.embed import open_gate_store
from tenure.gate.place import Place
from tenure.gate.processes import mark
from tenure.gate.proof import Evidence, Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import RunRecord
from tenure.gate.report import Report
from tenure.gate.store import GateStore
from tenure.kernel.attempt import AttemptRecord, BindRequest
from tenure.kernel.clock import SystemClock
from tenure.kernel.identity import mint_token, new_id, this_process
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.liveness import take_run_lock

TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
LEASE = LeaseTimings(ttl=60.0, renew_interval=20.0)
JOBS = ("lint", "types", "unit", "docs")


class Holder:
    """One process that binds, publishes and settles, again and again."""

    def __init__(self, root: Path) -> None:
        self._clock = SystemClock()
        self._place = Place(str(root))
        self._place.prepare()
        self.store: GateStore = open_gate_store(self._place, self._clock, busy_seconds=60.0)
        self._boot = self._clock.now().boot
        self._lock, self._evidence = take_run_lock(self._place.lock(new_id()), self._boot)

    def close(self) -> None:
        """Let go of the store and of the run lock."""
        self.store.close()
        os.close(self._lock)

    def bind(self) -> AttemptRecord:
        """Bind an attempt of a subject of its own and record its run, in one transaction."""
        run, subject = new_id()[:12], new_id()
        request = BindRequest(
            attempt=new_id(),
            run=run,
            repository=self.store.repository,
            subject=subject,
            kind="done",
            owner=this_process(),
            evidence=self._evidence,
            token=mint_token(),
            timings=LEASE,
        )
        bound = self.store.bind(request, self._record(run, subject), unless_proven=False)
        assert isinstance(bound, AttemptRecord), bound
        return bound

    def publish(self, bound: AttemptRecord) -> None:
        """Publish one receipt under the attempt's fence."""
        self.store.publish(bound.fence, self._receipt(bound, JOBS[0]))

    def settle(self, bound: AttemptRecord) -> None:
        """Settle the attempt as passed, with a Proof of four requirements, in one transaction."""
        proof = self._proof(bound)
        report = Report(outcome="passed", exit_code=0, proof=proof.id, executed=JOBS, seconds=0.1)
        self.store.settle(bound.fence, "passed", run=bound.run, report=report, proof=proof)

    def _record(self, run: str, subject: str) -> RunRecord:
        here = mark(os.getpid(), self._boot)
        return RunRecord(
            id=run,
            repository=self.store.repository,
            checkout="w0123abcd",
            worktree="/home/somebody/project",
            git_dir="/home/somebody/project/.git",
            branch="refs/heads/work",
            commit=TREE,
            tree=TREE,
            candidate=subject,
            subject=subject,
            started_wall_ns=self._clock.now().wall_ns,
            supervisor=here,
            runner=here,
        )

    def _receipt(self, bound: AttemptRecord, job: str) -> Receipt:
        return Receipt(
            id=new_id(),
            repository=self.store.repository,
            requirement=job,
            identity=new_id() * 2,
            parts={"definition": new_id() * 2, "inputs": f"tree {TREE}"},
            outcome="passed",
            code=0,
            attempt=bound.id,
            run=bound.run,
            worktree="/home/somebody/project",
            started_wall_ns=self._clock.now().wall_ns,
            seconds=0.1,
            log=f"runs/{bound.run}/{job}.out",
        )

    def _proof(self, bound: AttemptRecord) -> Proof:
        evidence = tuple(
            Evidence(
                requirement=job,
                identity=new_id() * 2,
                receipt=new_id(),
                source="executed",
                run=bound.run,
                worktree="/home/somebody/project",
                executed_wall_ns=0,
                seconds=0.1,
            )
            for job in JOBS
        )
        return Proof(
            id=new_id(),
            repository=self.store.repository,
            candidate=bound.subject,
            attempt=bound.id,
            run=bound.run,
            tree=TREE,
            commit=TREE,
            branch="refs/heads/work",
            base=TREE,
            judged_by="base",
            policy=new_id() * 2,
            requirements=new_id() * 2,
            accepted=(),
            evidence=evidence,
            worktree="/home/somebody/project",
            settled_wall_ns=self._clock.now().wall_ns,
            store="/home/somebody/project/.git/tenure",
        )
