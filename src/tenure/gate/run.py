"""The protocol of one run. `conduct` reads top to bottom like the numbered list it follows.

Whichever step finds that the attempt was retired, the run ends as cancelled by that other
run and reports nothing else. Only a recorded transition ends the hold; no clock does.
"""

import os
from collections.abc import Callable

from tenure.gate import recovery
from tenure.gate.bench import Bench
from tenure.gate.captured import CaptureLost
from tenure.gate.checkout import CheckoutLock
from tenure.gate.errors import CannotTell
from tenure.gate.fingerprint import moved
from tenure.gate.measuring import measure
from tenure.gate.narration import Bound, Noted, Planned, Recovered, Waiting
from tenure.gate.preparation import changes, draw_baseline, plan, unfixed
from tenure.gate.proof import Proof
from tenure.gate.report import Report
from tenure.gate.requirement import Requirement
from tenure.gate.run_state import Over, Run, jitter
from tenure.gate.settlement import record_end, retired, settle, settle_after, unproven
from tenure.gate.situation import Situation
from tenure.gate.verdict import closing_failures, fixed_failures
from tenure.gate.workshop import Workshop
from tenure.gate.worktree import read_again
from tenure.kernel import attempt as attempts
from tenure.kernel.attempt import AttemptRecord, BindRequest
from tenure.kernel.errors import Doubt, HoldLost, StoreUnavailable, TenureError
from tenure.kernel.identity import mint_token, new_id, this_process
from tenure.kernel.liveness import take_run_lock
from tenure.kernel.points import point


def conduct(run: Run) -> Report:
    """One run, from a free checkout to its recorded end. Raises only what is our own fault."""
    try:
        take_checkout(run)
        prepare_checkout(run)
        recover(run)
        plan(run)
        bind(run)
    except Over as over:
        return record_end(run, over.report)
    except HoldLost as loss:
        return retired(run, loss)
    except (CannotTell, Doubt) as doubt:
        return record_end(run, unproven(str(doubt)))
    try:
        draft = work(run)
    except Over as over:
        draft = over.report
    except HoldLost as loss:
        return retired(run, loss)
    except CannotTell as doubt:
        draft = unproven(str(doubt))
    except Exception as error:
        return settle_after(run, error)
    return settle(run, draft)


def work(run: Run) -> Report:
    """What the run is for: to judge what is there, or to have its fix jobs mend it."""
    if not run.order.question.kind.repairs:
        return judge(run)
    from tenure.gate.repair import repair

    return repair(run)


def judge(run: Run) -> Report:
    """Run what has to run, between two looks at the checkout."""
    bench, workshop = Bench(run), run.workshop()
    run_fix_jobs(run, bench, workshop)
    draw_baseline(run, bench)
    run_jobs(run, bench, workshop)
    measure(run)
    return close(run, bench)


def take_checkout(run: Run) -> None:
    """Take the checkout's lock. If that took waiting, look at everything anew."""
    point("run.checkout")
    lock = CheckoutLock(
        run.checkout,
        run.order.place.holder(run.record.checkout),
        run.store,
        run.order.clock,
        run.record,
        patience=run.situation.policy.lease.ttl,
    )
    if lock.try_take():
        return
    _retire_others(run)  # or one that is stopped inside the store keeps our record out
    run.store.add_run(run.record)
    other = lock.wait(
        lambda reason, whom: run.say(Waiting(reason=reason, other=whom)),
        lambda: _retire_others(run),
        lambda: _still(run),
        run.stopping,
        run.signals.descriptor,
        run.heard,
    )
    run.raise_if_stopping()
    if other is not None:
        raise Over(Report(outcome="joined", exit_code=75, other=other.id))
    _look_again(run)


def _still(run: Run) -> None:
    _look_again(run)


def _look_again(run: Run) -> Situation:
    """The same question as it is now, or everything from the start."""
    point("run.again")
    again = Report(outcome="again", exit_code=75, reason="the checkout changed meanwhile")
    try:
        now = run.order.read_again(run.store)
    except TenureError as error:
        raise Over(again) from error
    if now.candidate_id != run.situation.candidate_id:
        raise Over(again)
    if _takes_a_proof(run) and run.store.find_proof(now.candidate_id) is not None:
        raise Over(again)
    return now


def prepare_checkout(run: Run) -> None:
    """Set the checkout up, unless it is. What its jobs find may be something else by now."""
    point("run.setup")
    if not run.situation.required.setups:
        return
    from tenure.gate.setup import set_up

    if not set_up(run):
        return
    now = _look_again(run)
    now.subject = run.situation.subject  # a question of its own keeps its own
    run.situation = now


def _takes_a_proof(run: Run) -> bool:
    """Whether a Proof that somebody else settled meanwhile answers the question."""
    question = run.order.question
    return question.kind.proves and not question.rerun


def recover(run: Run) -> None:
    """Retire every attempt in the repository whose lease lapsed or whose owner is gone."""
    point("run.recover")
    _retire_others(run)
    run.raise_if_stopping()


def _retire_others(run: Run) -> None:
    for done in recovery.recover(run.store, run.record.id, run.order.clock.now().boot):
        run.order.place.remove_lock(done.attempt.id)
        evidence = f"{done.licence.ground}: {done.licence.evidence}"
        seen = done.attempt
        run.say(Recovered(attempt=seen.id, run=seen.run, evidence=evidence, killed=done.killed))


def bind(run: Run) -> None:
    """Bind the attempt, or end as following the one that holds the subject."""
    point("run.bind")
    clock, place = run.order.clock, run.order.place
    attempt = new_id()
    try:
        lock, evidence = take_run_lock(place.lock(attempt), clock.now().boot)
    except OSError as error:
        raise CannotTell(
            what=f"the run lock {place.lock(attempt)} cannot be taken: {error.strerror or error}",
            next="make its directory writable, with room on the disk",
        ) from error
    request = BindRequest(
        attempt=attempt,
        run=run.record.id,
        repository=run.store.repository,
        subject=run.situation.subject,
        kind=run.order.question.kind.attempt,
        owner=this_process(),
        evidence=evidence,
        token=mint_token(),
        timings=run.situation.policy.lease,
    )
    unless = _takes_a_proof(run)
    bound = _insist(run, lambda: run.store.bind(request, run.record, unless_proven=unless))
    if isinstance(bound, Proof) or bound.joined is not None:
        os.close(lock)
        place.remove_lock(attempt)
        raise Over(_elsewhere(run, bound))
    run.hold(bound, lock)
    attempts.held(bound, bound.fence)  # a bind that was repeated may find itself retired
    point("run.bound")
    run.say(Bound(attempt=bound.id, sequence=bound.sequence))
    reused = {name: receipt.run for name, receipt in run.plan.reused.items()}
    stages: dict[str, str] = {each.name: each.job.stage for each in _wanted(run)}
    run.say(
        Planned(reused=reused, execute=run.plan.execute, estimate=run.plan.estimate, stages=stages)
    )
    for note in run.situation.notes:
        run.say(Noted(text=note))
    if to_fix := unfixed(run):
        run.say(Noted(text=f"`tenure fix` has not passed these files: {', '.join(to_fix)}"))


def _elsewhere(run: Run, found: AttemptRecord | Proof) -> Report:
    """The end of a run that bound nothing, because the answer is or will be somebody else's."""
    if isinstance(found, Proof):
        return Report(outcome="again", exit_code=75, reason="it was proven meanwhile")
    assert found.joined is not None, "it was joined"
    rival = run.store.attempt(found.joined)
    assert rival is not None, "the attempt that was joined exists"
    return Report(outcome="joined", exit_code=75, other=rival.run)


def _insist(run: Run, write: Callable[[], AttemptRecord | Proof]) -> AttemptRecord | Proof:
    """Ask again while the store is merely busy, for one ttl. What is broken is not asked again."""
    timings = run.situation.policy.lease
    until = run.order.clock.monotonic() + timings.ttl
    while True:
        try:
            return write()
        except StoreUnavailable:
            raise
        except Doubt:
            if run.order.clock.monotonic() >= until:
                raise
            run.signals.sleep(timings.retry_pace * (1.0 - jitter() / 4))
            run.raise_if_stopping()


def run_fix_jobs(run: Run, bench: Bench, workshop: Workshop) -> None:
    """Run the fix jobs one after the other. A tracked file that they changed ends the run."""
    point("run.fix")
    workshop.count_as_passed(run.plan.reused)
    fixes = [requirement for requirement in _wanted(run) if requirement.job.stage == "fix"]
    if not fixes:
        return
    workshop.perform(fixes, bench.begin, bench.finish, bench.unrun, serial=True)
    run.raise_if_stopping()
    snapshot = run.situation.snapshot
    found = fixed_failures(changes(snapshot, read_again(snapshot).finish()))
    if found:
        run.failures[:0] = found
        raise Over(run.verdict())
    bench.judge_rewritten()


def run_jobs(run: Run, bench: Bench, workshop: Workshop) -> None:
    """Restore what is reused, then run everything else by stage and in parallel."""
    point("run.jobs")
    for name, receipt in run.plan.reused.items():
        try:
            run.captured.clear(run.situation.required[name].job.outputs)
            run.captured.restore(receipt.outputs)
        except (CaptureLost, OSError) as error:
            raise CannotTell(what=f"{name} cannot be reused: {error}", next="ask again") from error
    rest = [requirement for requirement in _wanted(run) if requirement.job.stage != "fix"]
    workshop.perform(rest, bench.begin, bench.finish, bench.unrun)
    run.raise_if_stopping()


def _wanted(run: Run) -> list[Requirement]:
    required = run.situation.required.requirements
    return [requirement for requirement in required if requirement.name in run.plan.execute]


def close(run: Run, bench: Bench) -> Report:
    """The closing verification: the checkout is what it was, and nothing was left behind."""
    point("run.closing")
    assert run.fingerprint is not None, "there is a baseline"
    bench.leave_own_outputs()
    snapshot = run.situation.snapshot
    reading = read_again(snapshot)
    try:
        edited = moved(run.fingerprint)  # while git looks for what is new
    except BaseException:
        reading.discard()
        raise
    now = reading.finish()
    elsewhere = now.head if snapshot.working is None and now.tree != snapshot.tree else None
    found = closing_failures(edited, changes(snapshot, now), elsewhere)
    run.failures += found
    left = next((failure for failure in found if failure.kind == "left_files"), None)
    if left is not None:  # whoever left them, others may have passed because of them
        bench.void_all(left.detail)
    return run.verdict()
