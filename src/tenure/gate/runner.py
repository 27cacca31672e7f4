"""The runner's process: it opens what the run needs, conducts it, and tells how it ended."""

import os
import signal

from tenure.gate.narration import Began, Ended, RunLog
from tenure.gate.processes import mark
from tenure.gate.record import ProcessMark, RunRecord
from tenure.gate.run import conduct
from tenure.gate.run_state import Order, Run
from tenure.gate.signals import Signals
from tenure.kernel.clock import Instant
from tenure.kernel.points import point

#: Asks the run to end. The terminal's own signals do not reach a session without one.
_CANCEL = (signal.SIGTERM, signal.SIGINT)


def run_order(order: Order, checkout: int, wake: int, supervisor: ProcessMark) -> int:
    """Conduct the ordered run in this process; the exit code of its report.

    The end is recorded and the hold let go before it is told; the checkout is free when the
    process, which ends next, is gone.
    """
    point("run.start")
    log = RunLog(order.place.run(order.run), wake)
    signals = Signals(_CANCEL)
    now = order.clock.now()
    found = order.situation
    began = Began(
        run=order.run,
        worktree=found.top,
        commit=found.candidate.commit,
        branch=found.candidate.branch,
        kind=order.question.kind.name,
    )
    log.write(began, now.wall_ns)
    store = order.open_store()
    try:
        record = _record(order, store.repository, now, supervisor)
        run = Run(order, store, record, log, signals, checkout)
        report = conduct(run)
        # Told before the store is closed, which may move its log into its file.
        log.write(Ended(report=report, proof=run.proof), order.clock.now().wall_ns)
    finally:
        store.close()
    return report.exit_code


def _record(order: Order, repository: str, now: Instant, supervisor: ProcessMark) -> RunRecord:
    found = order.situation
    return RunRecord(
        id=order.run,
        repository=repository,
        checkout=found.checkout,
        worktree=found.top,
        git_dir=found.snapshot.repo.git_dir,
        branch=found.candidate.branch,
        commit=found.candidate.commit,
        tree=found.candidate.tree,
        candidate=found.candidate_id,
        subject=found.subject,
        started_wall_ns=now.wall_ns,
        supervisor=supervisor,
        runner=mark(os.getpid(), now.boot),
        kind=order.question.kind.name,
    )
