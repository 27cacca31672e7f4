"""An inquiry: somebody asks whether their checkout is done, and waits for the answer.

Asking starts a run or follows one; it never holds anything. Whatever happens to whoever
asked, the run goes on, and asking again finds it or what it left.
"""

import os
import signal
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from tenure.gate.errors import CannotTell, UsageError
from tenure.gate.follower import Follower, LogWaker, Pause, PipeWaker
from tenure.gate.jobs.environment import marker_ids
from tenure.gate.memo import memo_of
from tenure.gate.narration import AnyEvent, Ended, JobEnded, Noted, Planned, Waiting
from tenure.gate.output import Output
from tenure.gate.place import Place
from tenure.gate.processes import send
from tenure.gate.proof import Proof
from tenure.gate.reading import has_policy, read_now
from tenure.gate.record import RunRecord
from tenure.gate.report import Report, adoptable, retirement
from tenure.gate.run_state import Order
from tenure.gate.runner import run_order
from tenure.gate.signals import Signals
from tenure.gate.situation import Question, Situation
from tenure.gate.store import GateStore
from tenure.gate.supervisor import Launch, launch
from tenure.gate.worktree import Reading
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.clock import Clock
from tenure.kernel.errors import Doubt, StoreUnavailable
from tenure.kernel.identity import new_id
from tenure.kernel.points import point

#: Signals that a waiting command answers itself, instead of dying in the middle of a line.
HEARD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: How a run may seem to have ended to somebody who does not know its record.
_TOLD_BY_OTHERS = ("unproven", "broken")

_VANISHED = Report(
    outcome="unproven",
    exit_code=3,
    reason="the run ended without a word, it was killed or there is no room on its disk; "
    "ask again, what jobs returned is kept",
)


#: How a run that says nothing may yet have ended, as far as its log knows.
SILENT = Report(outcome="unproven", exit_code=3, reason="the run has not noticed it yet")


class Progress:
    """How far the followed run is, for whoever stops waiting."""

    def __init__(self) -> None:
        self.left: dict[str, float | None] = {}  #: job to the seconds it took last time

    def take(self, event: AnyEvent) -> None:
        """Take note of an event."""
        if isinstance(event, Planned):
            self.left = {name: event.estimate.get(name) for name in event.execute}
        elif isinstance(event, JobEnded):
            self.left.pop(event.requirement, None)


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an inquiry. Exactly one of `proof`, `report` and `objections` says why,
    unless it was left before there was an answer (`left` then says which jobs were to come)."""

    exit_code: int
    outcome: str  #: met, not met (passed, failed), unproven, cancelled, broken, running, left
    situation: Situation
    proof: Proof | None = None
    report: Report | None = None
    run: str | None = None
    worktree: str | None = None  #: where the run worked that is answered from
    left: dict[str, float | None] = {}
    accepting: Proof | None = None  #: of this tree, in which everything objected to was accepted


class Desk:
    """What an inquiry works with, composed by whoever asks."""

    def __init__(
        self,
        *,
        cwd: str,
        place: Place,
        open_store: Callable[[], GateStore],
        clock: Clock,
        environ: Mapping[str, str],
        signals: Signals,
        output: Output | None,
        show: Callable[[AnyEvent], None],
        begun: Reading | None = None,
    ) -> None:
        self.cwd = cwd
        self.place = place
        self.open_store = open_store
        self.clock = clock
        self.environ = environ
        self.signals = signals
        self.output = output
        self.show = show
        self._begun = begun

    def take_begun(self) -> Reading | None:
        """The reading that was under way when somebody asked; once, for it ages."""
        begun, self._begun = self._begun, None
        return begun


class Inquiry:
    """One question, asked until there is an answer."""

    def __init__(
        self, desk: Desk, question: Question, *, tied: bool, wait_seconds: float | None
    ) -> None:
        self._desk = desk
        self._question = question
        self._tied = tied
        now = desk.clock.monotonic()
        self._until = None if wait_seconds is None else now + wait_seconds
        self._progress = Progress()
        self._noted = False  #: whether it was said that a neighbour is not followed
        self._settled: Proof | None = None  #: the Proof with which the followed run ended

    def ask(self) -> Answer:
        """Read the repository; answer from a Proof, from a run of somebody else, or from our own."""
        desk = self._desk
        if not os.path.exists(desk.place.database):
            has_policy(desk.cwd, self._question.kind)
        desk.place.prepare()
        rival_allowed = True
        while True:
            store = self._open()
            try:
                found = read_now(
                    desk.cwd, self._question, store, desk.environ, begun=desk.take_begun()
                )
                answer = self._known(store, found)
                if answer is not None:
                    return answer
                self._refuse_inside(store)
                rival = self._rival(store, found) if rival_allowed else None
                if rival is not None:
                    answer = self._follow_other(store, rival, found)
                    if answer is not None:
                        return answer
                    rival_allowed = False  # it answered nothing: a run of our own settles it
                    continue
                self._note_neighbour(store, found)
            finally:
                store.close()
            point("inquiry.read")
            heard = desk.signals.drain()
            if heard:  # while it was read; nothing was started
                return self._leave(found, None, heard[0])
            ended = self._run(found)
            if isinstance(ended, Answer):
                return ended
            rival_allowed = True

    def _open(self) -> GateStore:
        try:
            return self._desk.open_store()
        except StoreUnavailable:
            self._desk.place.require_usable()  # which has the plainer sentence
            raise

    def _known(self, store: GateStore, found: Situation) -> Answer | None:
        """The answer that needs no run: an objection, or a Proof."""
        kind = self._question.kind
        if found.required.objections and (kind.proves or kind.measures):
            return Answer(
                exit_code=1,
                outcome="not met",
                situation=found,
                accepting=store.accepting(found.candidate.tree, _named(found)),
            )
        if self._question.rerun or not kind.proves:
            return None
        proof = store.find_proof(found.candidate_id)
        if proof is None:
            return None
        memo = memo_of(found, proof, store.secret(), self._desk.environ)
        if memo is not None:
            try:
                store.remember(memo=memo)
            except Doubt:
                pass  # only spares work
        return Answer(
            exit_code=0, outcome="met", situation=found, proof=proof, worktree=proof.worktree
        )

    def _refuse_inside(self, store: GateStore) -> None:
        """A job that asks about its own repository would wait for itself."""
        for outer in marker_ids(self._desk.environ):
            run = store.run(outer) if outer.isascii() else None  # ours are
            attempt = store.attempt(run.attempt) if run is not None and run.attempt else None
            if attempt is not None and attempt.bound:
                raise UsageError(
                    what=f"this is inside a job of run {outer}, which judges this repository",
                    next="ask outside of jobs",
                )

    def _rival(self, store: GateStore, found: Situation) -> AttemptRecord | None:
        """The attempt to follow: same subject, and nothing licenses a takeover."""
        rival = store.rival(found.subject)
        if rival is None or rival[1] is not None:
            return None
        return rival[0]

    def _note_neighbour(self, store: GateStore, found: Situation) -> None:
        """Say once why a run of the same commit is not followed, if there is one."""
        if not self._question.kind.proves or self._question.rerun or self._noted:
            return
        from tenure.gate.neighbour import told_of_neighbour

        told = told_of_neighbour(store, found, self._desk.clock.now().boot)
        if told is not None:
            self._noted = True
            self._show(Noted(text=told))

    # following

    def _follow_other(
        self, store: GateStore, rival: AttemptRecord, found: Situation
    ) -> Answer | None:
        """Follow somebody else's run; None if it answers nothing about us."""
        point("inquiry.follow")
        run = store.run(rival.run)
        if run is None:
            return None
        desk, directory = self._desk, self._desk.place.run(run.id)
        reason = f"run {run.id} in {run.worktree} judges the same files with the same tools; following it"
        self._show(Waiting(reason=reason, other=run.id))
        waker = LogWaker(directory, run, desk.clock.now().boot)
        follower = Follower(directory, waker, desk.signals.descriptor, desk.output)
        interval = rival.lease.timings.renew_interval
        try:
            while True:
                ended = self._follow(follower, interval)
                if isinstance(ended, Report):
                    return self._adopted(found, run, ended)
                heard = desk.signals.drain() if ended == "signal" else []
                if heard:
                    return self._leave(found, run, heard[0])
                if self._time_is_up():
                    return self._not_yet(found, run)
                now = store.attempt(rival.id)
                if now is None or not now.bound or store.licence(now) is not None:
                    return self._adopted(found, run, self._recorded(store, run))
                if ended == "vanished":  # and yet not proven gone: only its lapse is left
                    desk.signals.sleep(interval)
        finally:
            follower.close()

    def _follow(self, follower: Follower, at_most: float | None) -> Report | Pause:
        """Show what happens until there is an end, a signal, or something to look at."""
        monotonic = self._desk.clock.monotonic
        limits = [] if at_most is None else [monotonic() + at_most]
        if self._until is not None:
            limits.append(self._until)
        return follower.follow(self._show, min(limits, default=None), monotonic)

    def _show(self, event: AnyEvent) -> None:
        self._progress.take(event)
        if isinstance(event, Ended):
            self._settled = event.proof
        self._desk.show(event)

    def _recorded(self, store: GateStore, run: RunRecord) -> Report | None:
        known = store.run(run.id)
        return None if known is None else known.report

    def _adopted(self, found: Situation, run: RunRecord, ended: Report | None) -> Answer | None:
        """A failure that is about the candidate is ours too; a pass is looked up as a Proof."""
        if ended is None or not adoptable(ended):
            return None
        return Answer(
            exit_code=1,
            outcome="not met",
            situation=found,
            report=ended,
            run=run.id,
            worktree=run.worktree,
        )

    # a run of our own

    def _run(self, found: Situation) -> Answer | None:
        """Start a run and follow it to its end; None if the question has to be asked again."""
        desk, run = self._desk, new_id()[:12]
        self._settled = None
        directory = desk.place.make_run(run)
        order = Order(
            run=run,
            question=self._question,
            situation=found,
            place=desk.place,
            clock=desk.clock,
            environ=desk.environ,
            open_store=desk.open_store,
            read_again=lambda store: read_now(desk.cwd, self._question, store, desk.environ),
        )
        point("inquiry.launch")
        try:
            started = launch(
                run,
                directory,
                found.snapshot.repo.git_dir,
                desk.clock,
                partial(run_order, order),
                tied=self._tied,
            )
        except OSError as error:
            raise CannotTell(
                what=f"no run can be started here: {error.strerror}",
                next="free processes, memory or descriptors, then ask again",
            ) from error
        follower = Follower(
            directory, PipeWaker(started.wake), desk.signals.descriptor, desk.output
        )
        try:
            return self._await_own(follower, started, run, found)
        finally:
            follower.close()
            started.close()

    def _await_own(
        self, follower: Follower, started: Launch, run: str, found: Situation
    ) -> Answer | None:
        interrupted: signal.Signals | None = None
        while True:
            ended = self._follow(follower, None)
            if isinstance(ended, Report) or ended == "vanished":
                told = _VANISHED if ended == "vanished" else ended
                return self._ended(self._true_end(run, told), run, found, interrupted)
            if ended == "timeout":
                return self._not_yet(found, None, run)
            heard = self._desk.signals.drain()
            if not heard:
                continue
            if interrupted is not None or not (self._tied or heard[0] == signal.SIGINT):
                return self._leave(found, None, heard[0], run)
            interrupted = heard[0]
            self._cancel(started, run)

    def _cancel(self, started: Launch, run: str) -> None:
        """Ask our own run to end. Its recorded end is awaited."""
        boot = self._desk.clock.now().boot
        try:
            store = self._desk.open_store()
            try:
                known = store.run(run)
                if known is not None:
                    cancel_run(store, known, "its starter", "interrupted", boot)
            finally:
                store.close()
        except Doubt:
            pass  # the signal alone is the request then
        try:
            os.kill(started.pid, signal.SIGTERM)  # who passes it on to a runner without a record
        except ProcessLookupError:
            pass

    def _true_end(self, run: str, told: Report) -> Report:
        """The end of our own run, as far as it is recorded, with its Proof."""
        if told.outcome not in _TOLD_BY_OTHERS:
            return told
        try:
            store = self._desk.open_store()
            try:
                end = recorded_end(store, run, told)
                if end.proof is not None:
                    self._settled = store.proof(end.proof)
                return end
            finally:
                store.close()
        except Doubt:
            return told

    def _ended(
        self, ended: Report, run: str, found: Situation, interrupted: signal.Signals | None
    ) -> Answer | None:
        if ended.outcome in ("again", "joined"):
            return None
        kind = self._question.kind
        names = {"passed": "met", "failed": "not met"} if kind.proves or kind.measures else {}
        code = ended.exit_code
        if interrupted is not None and ended.outcome == "cancelled":
            code = 128 + interrupted
        return Answer(
            exit_code=code,
            outcome=names.get(ended.outcome, ended.outcome),
            situation=found,
            proof=self._settled,
            report=ended,
            run=run,
            worktree=found.top,
        )

    # stopping early

    def _time_is_up(self) -> bool:
        return self._until is not None and self._desk.clock.monotonic() >= self._until

    def _not_yet(self, found: Situation, run: RunRecord | None, own: str | None = None) -> Answer:
        return Answer(
            exit_code=75,
            outcome="running",
            situation=found,
            run=own or (run.id if run else None),
            worktree=run.worktree if run else found.top,
            left=dict(self._progress.left),
        )

    def _leave(
        self,
        found: Situation,
        run: RunRecord | None,
        heard: signal.Signals,
        own: str | None = None,
    ) -> Answer:
        """Stop following because of a signal of our own; the run goes on."""
        answer = self._not_yet(found, run, own)
        return msgspec.structs.replace(answer, exit_code=128 + heard, outcome="left")


def _named(found: Situation) -> frozenset[str]:
    return frozenset(objection.name for objection in found.required.objections)


def recorded_end(store: GateStore, run: str, told: Report) -> Report:
    """The recorded end of a run in place of the one that was told.

    Whoever sees a runner die tells that nothing is proven; it may have settled before, or
    been killed because it was retired.
    """
    known = store.run(run) if told.outcome in _TOLD_BY_OTHERS else None
    if known is None:
        return told
    if known.report is not None:
        return known.report
    attempt = store.attempt(known.attempt) if known.attempt else None
    if attempt is None or attempt.retired is None or attempt.retired.licence.ground == "gone":
        return told
    return retirement(attempt.retired.by, attempt.retired.evidence, told.reason)


def cancel_run(store: GateStore, run: RunRecord, by: str, reason: str, boot: str) -> bool:
    """Record a request to end a run and tell its runner; whether the run was still open."""
    if store.cancel(run.id, by, reason) is None:
        return False
    send(run.runner, boot, signal.SIGTERM)
    return True
