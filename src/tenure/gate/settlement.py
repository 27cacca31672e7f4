"""How a run ends in the record: settled by itself, retired by another, or never bound."""

import msgspec

from tenure.gate.errors import EvidenceGone
from tenure.gate.memo import memo_of
from tenure.gate.narration import Noted
from tenure.gate.proof import Proof
from tenure.gate.record import Memo
from tenure.gate.report import Report, retirement
from tenure.gate.run_state import Run
from tenure.gate.verdict import assemble
from tenure.kernel.attempt import Outcome
from tenure.kernel.errors import Doubt, HoldLost, SettlementUnknown
from tenure.kernel.identity import new_id
from tenure.kernel.points import point


def unproven(reason: str) -> Report:
    """The report of a run that could not tell."""
    return Report(outcome="unproven", exit_code=3, reason=reason)


def settle(run: Run, draft: Report) -> Report:
    """Finish the attempt, with the Proof if it passed, in one transaction.

    The answer is what counts: the draft if it was settled, the retirement if there was one.
    """
    point("run.settle")
    outcome: Outcome = "failed"
    proof = memo = None
    if draft.outcome == "cancelled":
        outcome = "cancelled"
    elif draft.outcome == "passed":
        outcome = "passed"
    if outcome == "passed" and run.order.question.kind.proves:
        proof = assemble(
            run.situation,
            run.receipts,
            run.measurements,
            proof=new_id(),
            attempt=run.attempt.id,
            run=run.record.id,
            repository=run.store.repository,
            store=run.order.place.root,
            wall_ns=run.order.clock.now().wall_ns,
        )
        memo = _memo(run, proof)
        draft = msgspec.structs.replace(draft, proof=proof.id)
    try:
        run.keeper.settle(
            lambda: run.store.settle(
                run.attempt.fence,
                outcome,
                run=run.record.id,
                report=draft,
                proof=proof,
                memo=memo,
                receipts=run.in_doubt,
            ),
            record=f"attempt {run.attempt.id}",
            monotonic=run.order.clock.monotonic,
            sleep=run.signals.sleep,
        )
    except HoldLost as loss:
        return retired(run, loss)
    except EvidenceGone as gone:
        return settle(run, unproven(str(gone)))
    except SettlementUnknown as unknown:
        return unproven(f"settlement unknown: {unknown}")
    point("run.settled")
    run.proof = proof
    run.let_go()
    return draft


def _memo(run: Run, proof: Proof) -> Memo | None:
    """The memo of the Proof, if the store says its secret now."""
    try:
        return memo_of(run.situation, proof, run.store.secret(), run.order.environ)
    except Doubt:
        return None


def settle_after(run: Run, error: Exception) -> Report:
    """End a run that broke. If it was retired meanwhile, that is its outcome; else it is our fault.

    Raises:
        ExceptionGroup: settling failed too; the run's own error comes first.
    """
    kind = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    place = run.order.place.crash(run.record.id)
    reason = f"a fault in tenure itself ({kind}); its traceback is in {place}"
    draft = Report(outcome="broken", exit_code=70, reason=reason)
    try:
        ended = settle(run, draft)
    except Exception as second:
        raise ExceptionGroup("the run and its settlement both failed", [error, second]) from None
    if ended.outcome == "broken":
        raise error
    return ended


def retired(run: Run, loss: HoldLost) -> Report:
    """The end of a run whose attempt was retired, whatever else there would be to say."""
    note = f"cut short: {', '.join(run.cut_short)}" if run.cut_short else ""
    run.let_go()
    return record_end(run, retirement(loss.by, loss.evidence, note))


def record_end(run: Run, report: Report) -> Report:
    """Record the end of a run that has nothing to settle, as far as the store lets us."""
    try:
        run.store.end_run(run.record.id, report)
    except Doubt as doubt:
        run.say(Noted(text=f"the end of this run is not recorded: {doubt}"))
    return report
