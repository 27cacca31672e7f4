"""A run conducted in the test's own process: real repository, store and jobs, and no fork.

Whoever stands at one of its points, by `tenure.testing.faults`, stands inside the run.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tenure.faces.embed import open_gate_store
from tenure.gate.narration import RunLog
from tenure.gate.place import Place
from tenure.gate.reading import read_now
from tenure.gate.receipt import Receipt
from tenure.gate.record import ProcessMark, RunRecord
from tenure.gate.report import Report
from tenure.gate.run import conduct
from tenure.gate.run_state import Order, Run
from tenure.gate.signals import Signals
from tenure.gate.situation import Question, Situation
from tenure.gate.store import GateStore
from tenure.gate.worktree import start_read
from tenure.kernel.attempt import AttemptRecord, BindRequest
from tenure.kernel.clock import SystemClock
from tenure.kernel.identity import mint_token, new_id, this_process
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.liveness import take_run_lock
from tenure.kernel.takeover import Licence

#: A lease that no test lives to see lapse.
LONG = LeaseTimings(ttl=3600.0, renew_interval=1200.0)

GONE = Licence(ground="gone", evidence="somebody says so")

#: Nobody: a mark that no process can have, so that nobody is killed for being recorded.
NOBODY = ProcessMark(pid=2**22 + 1, start_ticks=1, boot="another boot", pid_namespace=1)


class Rehearsal:
    """The checkout at `top`, and every run that is conducted in it."""

    def __init__(self, top: Path, environ: Mapping[str, str] | None = None) -> None:
        self.top = top
        self.clock = SystemClock()
        self.environ = dict(os.environ if environ is None else environ)
        self.run = ""  #: the id of the run that was begun last
        self._place: Place | None = None

    @property
    def place(self) -> Place:
        """Where the records are."""
        if self._place is None:
            self._place = Place(_common_dir(self.top))
            self._place.prepare()
        return self._place

    def open_store(self) -> GateStore:
        """A handle of one's own on the store."""
        return open_gate_store(self.place, self.clock)

    def read(self, question: Question | None = None) -> Situation:
        """The situation as it is now."""
        store = self.open_store()
        try:
            return self._read(store, question or Question())
        finally:
            store.close()

    def conduct(self, question: Question | None = None) -> Report:
        """One run from its start to its end."""
        asked = question or Question()
        situation = self.read(asked)
        self.run = new_id()[:12]
        order = Order(
            run=self.run,
            question=asked,
            situation=situation,
            place=self.place,
            clock=self.clock,
            environ=self.environ,
            open_store=self.open_store,
            read_again=lambda store: self._read(store, asked),
        )
        record = _record(self.run, situation, self.clock.now().wall_ns)
        log = RunLog(self.place.make_run(self.run), None)
        store, signals = self.open_store(), Signals(())
        git_dir = situation.snapshot.repo.git_dir
        checkout = os.open(git_dir, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            return conduct(Run(order, store, record, log, signals, checkout))
        finally:
            os.close(checkout)
            signals.close()
            store.close()

    def _read(self, store: GateStore, question: Question) -> Situation:
        return read_now(str(self.top), question, store, self.environ)

    # what somebody else does

    @contextmanager
    def rival(
        self, *, lease: LeaseTimings = LONG, runner: ProcessMark = NOBODY, **differs: Any
    ) -> Iterator[AttemptRecord]:
        """A run in this checkout that holds its subject, and whose owner is this process.

        It differs from one of the present situation in `differs`. Nobody works for it.
        """
        attempt, run = new_id(), new_id()[:12]
        lock, evidence = take_run_lock(self.place.lock(attempt), self.clock.now().boot)
        record = _record(run, self.read(), self.clock.now().wall_ns)
        record = msgspec.structs.replace(record, runner=runner, **differs)
        self.place.make_run(run)
        request = BindRequest(
            attempt=attempt,
            run=run,
            repository="local",
            subject=record.subject,
            kind="done",
            owner=this_process(),
            evidence=evidence,
            token=mint_token(),
            timings=lease,
        )
        store = self.open_store()
        try:
            bound = store.bind(request, record, unless_proven=False)
            assert isinstance(bound, AttemptRecord)
            yield bound
        finally:
            store.close()
            os.close(lock)

    def retire(self, by: str = "other") -> None:
        """Retire the attempt that is bound now."""
        store = self.open_store()
        try:
            (seen,) = store.unfinished()
            store.retire(seen, by, GONE)
        finally:
            store.close()

    def cancel(self, by: str = "somebody", reason: str = "enough") -> None:
        """Ask for the end of the run that was begun last."""
        store = self.open_store()
        try:
            store.cancel(self.run, by, reason)
        finally:
            store.close()

    # what is recorded

    def attempt(self) -> AttemptRecord:
        """The attempt of the run that was begun last."""
        store = self.open_store()
        try:
            run = store.run(self.run)
            assert run is not None
            assert run.attempt is not None
            found = store.attempt(run.attempt)
            assert found is not None
            return found
        finally:
            store.close()

    def receipts(self) -> dict[str, Receipt]:
        """The newest receipt of each requirement of the present situation, if it has one."""
        store = self.open_store()
        try:
            return store.nearest([r.name for r in self.read().required.requirements])
        finally:
            store.close()

    def proven(self) -> bool:
        """Whether a Proof answers the present situation."""
        store = self.open_store()
        try:
            return store.find_proof(self.read().candidate_id) is not None
        finally:
            store.close()


def _record(run: str, found: Situation, wall_ns: int) -> RunRecord:
    return RunRecord(
        id=run,
        repository="local",
        checkout=found.checkout,
        worktree=found.top,
        git_dir=found.snapshot.repo.git_dir,
        branch=found.candidate.branch,
        commit=found.candidate.commit,
        tree=found.candidate.tree,
        candidate=found.candidate_id,
        subject=found.subject,
        started_wall_ns=wall_ns,
        supervisor=NOBODY,
        runner=NOBODY,
    )


def _common_dir(top: Path) -> str:
    return start_read(str(top)).finish().repo.common_dir
